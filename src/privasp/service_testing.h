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

#include "base/files.h"
#include "base/json.h"
#include "base/random.h"
#include "base/testing.h"
#include "mpc/testing.h"
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
  explicit LocalParties(const ServiceLimits& limits = SmallLimits(), bool with_dealer = true,
                        bool quiet = true)
      : limits_(limits), quiet_(quiet) {
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
        std::make_unique<ServerService>(Config(RoleOf(p)), EventLog(RoleName(RoleOf(p)), quiet_));
  }
  void StopServer(std::size_t p) { servers_[p].reset(); }
  void StartDealer() {
    dealer_ = std::make_unique<DealerService>(Config(Role::kDealer), EventLog("dealer", quiet_));
  }
  void StopDealer() { dealer_.reset(); }
  // At their next start.
  void SetLimits(Role role, const ServiceLimits& limits) const {
    PartyConfig config = Config(role);
    config.limits = limits;
    WriteFileAtomically(LocalConfig(Folder(), role), FormatConfig(config));
  }
  PartyConfig AddClient(const std::string& name) const {
    return ReadConfig(AddLocalClient(Folder(), name));
  }

  ServerService& At(std::size_t p) const { return *servers_[p]; }
  nlohmann::json Status(std::size_t p) const { return ParseJson(FormatStatus(At(p).Status())); }
  std::uint64_t Count(std::size_t p, const char* what) const {
    return Status(p)["counts"].value(what, std::uint64_t{0});
  }
  // What a server says of its newest model of that name; null where it has none.
  nlohmann::json Model(std::size_t p, const std::string& name) const {
    const nlohmann::json status = Status(p);
    nlohmann::json found;
    for (const auto& model : status["models"]) {
      if (model["name"] == name && (found.is_null() || model["state"] == "active")) found = model;
    }
    return found;
  }
  DealerService& TheDealer() { return *dealer_; }

  LoadedModel Load(const SpoofModel& model, const std::string& name, Scenario scenario,
                   double wait_s = 20.0) {
    return LoadModelAtServers(Config(Role::kProvider), model, name, scenario, wait_s);
  }
  // Utterances of a model that both servers have, on disk and in memory.
  std::size_t Stored(const std::string& name) const {
    std::size_t least = ~std::size_t{0};
    for (const std::size_t p : {0, 1}) {
      const nlohmann::json model = Model(p, name);
      least = std::min(least, model.is_null() ? std::size_t{0}
                                              : model["stored"].get<std::size_t>() +
                                                    model["ready"].get<std::size_t>());
    }
    return least;
  }
  SecureClient ClientOf(const std::string& model = "") { return {Config(Role::kClient), model}; }

 private:
  TemporaryFolder folder_;
  ServiceLimits limits_;
  bool quiet_;
  std::unique_ptr<ServerService> servers_[2];
  std::unique_ptr<DealerService> dealer_;
};

// `count` utterances, one after the other.
inline std::vector<std::int32_t> SomeInputs(const SpoofModel& model, std::size_t count,
                                            std::uint64_t seed) {
  SeededRng rng(seed);
  std::vector<std::int32_t> all;
  for (std::size_t i = 0; i < count; ++i) {
    const auto x = RandomInput(model.net, rng);
    all.insert(all.end(), x.begin(), x.end());
  }
  return all;
}

inline void ExpectPlain(const std::vector<SecureAnswer>& answers, const SpoofModel& model,
                        std::span<const std::int32_t> x) {
  ASSERT_EQ(answers.size(), x.size() / model.net.inputs);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const std::int64_t plain =
        Evaluate(model.net, x.subspan(i * model.net.inputs, model.net.inputs));
    EXPECT_EQ(answers[i].score.has_value(), !model.net.decision_only);
    if (answers[i].score) {
      EXPECT_EQ(*answers[i].score, plain);
    }
    EXPECT_EQ(answers[i].genuine, plain >= model.net.threshold);
  }
}

inline void ExpectPlainAnswers(SecureClient& client, const SpoofModel& model,
                               std::span<const std::int32_t> x) {
  ExpectPlain(client.Ask(x), model, x);
}

// "stock", "peer"…; "" where nothing is refused. The refusal is one line.
inline std::string ReasonOf(const std::function<void()>& ask) {
  try {
    ask();
    return "";
  } catch (const Refused& refused) {
    const std::string text = refused.what();
    EXPECT_TRUE(text.find("refuses (") != std::string::npos && text.find('\n') == std::string::npos)
        << text;
    return ReasonName(refused.Why());
  }
}

// Expects `ask` to be refused for `reason`, and this server to count it once.
inline void ExpectRefused(const LocalParties& parties, std::size_t p, const char* reason,
                          const std::function<void()>& ask) {
  const std::uint64_t before = parties.Count(p, reason);
  EXPECT_EQ(ReasonOf(ask), reason);
  EXPECT_EQ(parties.Count(p, reason), before + 1) << reason;
}

}  // namespace sotto::testing
