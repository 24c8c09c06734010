// All parties on one host, for trying, tests and benchmarks: an authority, keys, certificates and
// configuration files. One host that has all of them protects nobody.
#pragma once

#include <filesystem>

#include "privasp/config.h"

namespace sotto {

// Makes `folder`/authority and, for each party, `folder`/<role>/ with party.key, party.pem and
// config.json. The servers listen on the loopback, at `port` and the port after it, or where that
// is 0 at two that are free now. Throws Error where a party is there already.
void MakeLocalDeployment(const std::filesystem::path& folder, int port,
                         const ServiceLimits& limits = {});

// `folder`/<role>/config.json
std::filesystem::path LocalConfig(const std::filesystem::path& folder, Role role);

// One more client of such a deployment; its config.json.
std::filesystem::path AddLocalClient(const std::filesystem::path& folder, const std::string& name);

}  // namespace sotto
