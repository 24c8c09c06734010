#include "privasp/provider_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <thread>
#include <utility>

#include "base/digest.h"
#include "base/error.h"
#include "mpc/parties.h"
#include "privasp/conversation.h"
#include "privasp/service_status.h"

namespace sotto {
namespace {

constexpr auto kPoll = std::chrono::milliseconds(50);

class BothServers {
 public:
  explicit BothServers(const PartyConfig& config) : party_(config.files) {
    if (party_.Own().role != Role::kProvider) {
      throw Error(fmt::format("a provider's certificate is of role provider; this one is {}",
                              RoleName(party_.Own().role)));
    }
    CheckConfig(config, party_.Own());
    lines_[0] = std::make_unique<Conversation>(party_, config, Role::kFirstServer);
    lines_[1] = std::make_unique<Conversation>(party_, config, Role::kSecondServer);
  }
  Conversation& operator[](std::size_t p) { return *lines_[p]; }

 private:
  TlsParty party_;
  std::array<std::unique_ptr<Conversation>, 2> lines_;
};

void LoadAt(BothServers& servers, LoadModelMessage load, std::array<SecretBytes, 2> models) {
  for (std::size_t p = 0; p < 2; ++p) {
    load.model = std::move(models[p]);
    try {
      servers[p].Ask<AcceptedMessage>(load);
    } catch (const Error&) {
      try {
        if (p == 1) {
          servers[0].Ask<AcceptedMessage>(RetireMessage{load.offer.name, load.offer.card.id});
        }
      } catch (const Error&) {
        // The first reason is the one to tell. What waits there goes with the next of its name.
      }
      throw;
    }
  }
}

bool HasMaterial(Conversation& server, const std::string& id) {
  const ServiceStatus status = ParseStatus(server.Ask<StatusMessage>(AskStatusMessage{}).json);
  return std::any_of(status.models.begin(), status.models.end(), [&](const auto& model) {
    return model.id == id && model.state == "active" && model.stored + model.ready > 0;
  });
}

}  // namespace

LoadedModel LoadModelAtServers(const PartyConfig& config, const SpoofModel& model,
                               const std::string& name, Scenario scenario, double wait_s) {
  CheckModelName(name);
  const Provider provider(model.net, scenario);
  LoadModelMessage load;
  load.offer.name = name;
  load.offer.card = provider.Card();
  load.offer.front_end = model.front_end;
  load.offer.fingerprint = model.front_end.Fingerprint();
  // A client that has scores may as well know where the provider would decide; one that has not
  // learns nothing of the threshold.
  load.offer.threshold = model.net.decision_only ? 0 : model.net.threshold;

  BothServers servers(config);
  if (scenario == Scenario::kPublicModel) {
    const SecretBytes bytes = provider.PublicModel().Serialise();
    LoadAt(servers, load, {bytes, bytes});
  } else {
    const auto shares = provider.ShareModel();
    LoadAt(servers, load, {shares[0].Serialise(), shares[1].Serialise()});
  }
  LoadedModel loaded;
  loaded.id = HexText(provider.Card().id);
  const Deadline deadline = After(wait_s);
  while (!loaded.active && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(kPoll);
    loaded.active = HasMaterial(servers[0], loaded.id) && HasMaterial(servers[1], loaded.id);
  }
  return loaded;
}

void RetireModelAtServers(const PartyConfig& config, const std::string& name) {
  CheckModelName(name);
  BothServers servers(config);
  // One may have done it already: the servers follow each other.
  int absent = 0;
  for (std::size_t p = 0; p < 2; ++p) {
    try {
      servers[p].Ask<AcceptedMessage>(RetireMessage{name});
    } catch (const Refused& refused) {
      if (refused.Why() != Reason::kModel || ++absent == 2) throw;
    }
  }
}

}  // namespace sotto
