#include "privasp/local_deployment.h"

#include <fmt/format.h>

#include <map>
#include <string>

#include "base/files.h"
#include "base/private_folder.h"

namespace sotto {
namespace {

constexpr int kDays = 365;
constexpr Role kParties[] = {Role::kFirstServer, Role::kSecondServer, Role::kDealer,
                             Role::kProvider, Role::kClient};

std::string LoopbackAddress(int port, int offset) {
  if (port != 0) return fmt::format("127.0.0.1:{}", port + offset);
  return ListeningPort("127.0.0.1:0").Address();
}

PartyIdentity MakeParty(const std::filesystem::path& folder, const std::filesystem::path& home,
                        Role role, const std::string& name) {
  MakePrivateFolder(home, "");
  MakeRequest(home, role, name);
  return SignRequest(folder / "authority", home / "party.csr", role, kDays, home / "party.pem");
}

PartyConfig Basics() {
  PartyConfig config;
  config.files = {"party.pem", "party.key", "../authority/authority.pem"};
  return config;
}

}  // namespace

std::filesystem::path LocalConfig(const std::filesystem::path& folder, Role role) {
  return folder / RoleName(role) / "config.json";
}

void MakeLocalDeployment(const std::filesystem::path& folder, int port,
                         const ServiceLimits& limits) {
  MakePrivateFolder(folder, "");
  // Longer than the certificates, which are signed when the clock has gone on.
  MakeAuthority(folder / "authority", "local", kDays + 1);
  std::map<Role, PeerConfig> all;
  for (const Role role : kParties) {
    all[role].pin = MakeParty(folder, folder / RoleName(role), role, RoleName(role)).pin;
  }
  all[Role::kFirstServer].address = LoopbackAddress(port, 0);
  do {
    all[Role::kSecondServer].address = LoopbackAddress(port, 1);
  } while (all[Role::kSecondServer].address == all[Role::kFirstServer].address);
  for (const Role role : kParties) {
    PartyConfig config = Basics();
    config.limits = limits;
    const bool server = role == Role::kFirstServer || role == Role::kSecondServer;
    for (const Role peer : {Role::kFirstServer, Role::kSecondServer}) {
      if (peer != role) config.peers[peer] = all[peer];
    }
    if (server) {
      config.listen = all[role].address;
      for (const Role peer : {Role::kDealer, Role::kProvider}) config.peers[peer] = all[peer];
    }
    if (server || role == Role::kDealer) config.state = "state";
    WriteFileAtomically(LocalConfig(folder, role), FormatConfig(config),
                        {.if_exists = IfExists::kRefuse});
  }
}

std::filesystem::path AddLocalClient(const std::filesystem::path& folder, const std::string& name) {
  const std::filesystem::path home = folder / ("client-" + name);
  MakeParty(folder, home, Role::kClient, name);
  WriteFileAtomically(home / "config.json", ReadTextFile(LocalConfig(folder, Role::kClient)),
                      {.if_exists = IfExists::kRefuse});
  return home / "config.json";
}

}  // namespace sotto
