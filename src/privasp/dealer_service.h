// The dealer as a process: it asks both servers what they need, deals as much as both have room
// for, and sends each its halves. It has no port. What it keeps (state, mode 0600) are the masks of
// models of scenario 2, without which it could deal no more for them; material it forgets. What
// neither server has had for a while (forget_s) is erased too.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "mpc/parties.h"
#include "privasp/config.h"
#include "privasp/conversation.h"
#include "privasp/event_log.h"

namespace sotto {

class DealerService {
 public:
  DealerService(const PartyConfig& config, EventLog log);
  DealerService(const DealerService&) = delete;
  DealerService& operator=(const DealerService&) = delete;
  ~DealerService();

  void Stop();
  std::uint64_t Delivered() const { return delivered_; }  // utterances, to both servers

 private:
  using Lines = std::array<std::unique_ptr<Conversation>, 2>;

  void Loop();
  enum class Dealt { kNone, kSome, kRefused };
  Dealt Round(Lines& lines);
  // The model is known here, and both servers have its masks. False: nothing can be dealt.
  bool Know(Lines& lines, const ModelDemand& first, const ModelDemand& second);
  void Deliver(Lines& lines, const ModelCard& card, std::uint32_t count);
  // `demands`: what both servers have at this moment.
  void ForgetUnlisted(const std::array<DemandMessage, 2>& demands);
  std::filesystem::path MasksOf(const std::string& id) const;
  void WarnOnce(const std::string& about, const std::string& reason);

  const PartyConfig config_;
  const EventLog log_;
  const TlsParty party_;
  Dealer dealer_;
  std::map<std::string, std::string> warnings_;  // the last, by model
  struct Known {
    ModelId id{};                                  // zeros: on the disk alone
    std::chrono::steady_clock::time_point listed;  // or: since when both servers can say so
  };
  std::map<std::string, Known> known_;  // by the id's digits
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> delivered_{0};
  std::thread thread_;
};

}  // namespace sotto
