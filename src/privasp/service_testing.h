// For tests and benchmarks: all parties in one process, over real connections on the loopback.
#pragma once

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "base/json.h"
#include "base/testing.h"
#include "privasp/dealer_service.h"
#include "privasp/local_deployment.h"
#include "privasp/provider_client.h"
#include "privasp/secure_client.h"
#include "privasp/server_service.h"

namespace sotto::testing {

// Until `true_now` says so; false when it does not for `seconds`.
inline bool Eventually(const std::function<bool()>& true_now, double seconds = 20.0) {
  const Deadline deadline = After(seconds);
  while (!true_now()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

inline ServiceLimits SmallLimits() {
  ServiceLimits limits;
  limits.stock = 64;
  limits.ready = 16;
  limits.quota_per_hour = 1U << 20;
  limits.query_s = 5.0;
  limits.orphan_s = 1.0;
  return limits;
}

class LocalParties {
 public:
  explicit LocalParties(const ServiceLimits& limits = SmallLimits(), bool with_dealer = true)
      : limits_(limits) {
    MakeLocalDeployment(Folder(), 0, limits);
    StartServer(0);
    StartServer(1);
    if (with_dealer) StartDealer();
  }

  std::filesystem::path Folder() const { return folder_ / "parties"; }
  PartyConfig Config(Role role) const { return ReadConfig(LocalConfig(Folder(), role)); }
  std::filesystem::path State(std::size_t p) const { return Config(RoleOf(p)).state; }
  static Role RoleOf(std::size_t p) { return p == 0 ? Role::kFirstServer : Role::kSecondServer; }

  void StartServer(std::size_t p) {
    servers_[p] =
        std::make_unique<ServerService>(Config(RoleOf(p)), EventLog(RoleName(RoleOf(p)), true));
  }
  void StopServer(std::size_t p) { servers_[p].reset(); }
  void StartDealer() {
    dealer_ = std::make_unique<DealerService>(Config(Role::kDealer), EventLog("dealer", true));
  }
  void StopDealer() { dealer_.reset(); }
  ServerService& At(std::size_t p) { return *servers_[p]; }
  DealerService& TheDealer() { return *dealer_; }

  LoadedModel Load(const SpoofModel& model, const std::string& name, Scenario scenario,
                   double wait_s = 20.0) {
    return LoadModelAtServers(Config(Role::kProvider), model, name, scenario, wait_s);
  }
  // Utterances of a model that both servers have, on disk and in memory.
  std::size_t Stored(const std::string& name) const {
    std::size_t least = ~std::size_t{0};
    for (const auto& server : servers_) {
      std::size_t here = 0;
      const nlohmann::json status = ParseJson(server->StatusJson());
      for (const auto& model : status["models"]) {
        if (model["name"] == name) {
          here = model["stored"].get<std::size_t>() + model["ready"].get<std::size_t>();
        }
      }
      least = std::min(least, here);
    }
    return least;
  }
  SecureClient ClientOf(const std::string& model = "") { return {Config(Role::kClient), model}; }

 private:
  TemporaryFolder folder_;
  ServiceLimits limits_;
  std::unique_ptr<ServerService> servers_[2];
  std::unique_ptr<DealerService> dealer_;
};

}  // namespace sotto::testing
