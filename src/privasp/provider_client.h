// What a provider does, from its own machine: it gives the servers a model, in shares or in clear,
// and takes it away again.
#pragma once

#include <string>

#include "mpc/messages.h"
#include "privasp/config.h"
#include "spoof/spoof_model.h"

namespace sotto {

struct LoadedModel {
  std::string id;  // 32 hexadecimal digits
  bool active = false;
};

// Sends `model` under `name` to both servers and waits until both can use it, at most `wait_s`
// (0: does not wait). A model of that name that is there is drained once the new one has material.
// Throws Error: ranges that do not fit the protocol, a server that refuses; what the other has
// taken by then is retired there.
LoadedModel LoadModelAtServers(const PartyConfig& config, const SpoofModel& model,
                               const std::string& name, Scenario scenario, double wait_s);

// The models of that name answer no new queries, and are erased when those under way are over.
void RetireModelAtServers(const PartyConfig& config, const std::string& name);

}  // namespace sotto
