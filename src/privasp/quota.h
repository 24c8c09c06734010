// What bounds clients, by utterances; each server counts for itself. Quota: how many a certificate
// may reserve in an hour, which is how fast a client can learn the model by asking (docs/mpc.md).
// Holdings: how many it and all clients together may hold at a time, which is memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace sotto {

// A window that slides over the last hour. Kept in memory: a server that starts again has
// forgotten.
class Quota {
 public:
  using Time = std::chrono::steady_clock::time_point;
  explicit Quota(std::uint32_t per_hour) : per_hour_(per_hour) {}

  // Counts them and returns true, or counts nothing where they would be too many.
  bool Take(const std::string& pin, std::uint32_t count, Time now);
  // Of what was taken, for what was not given out after all.
  void GiveBack(const std::string& pin, std::uint32_t count);

 private:
  struct Taken {
    Time when;
    std::uint32_t count = 0;
  };
  struct Client {
    std::deque<Taken> taken;
    std::uint64_t sum = 0;
  };

  const std::uint32_t per_hour_;
  std::mutex mutex_;
  std::map<std::string, Client> clients_;
};

// Utterances that are reserved or being computed: up to 2 MB of material each, in memory.
class Holdings {
 public:
  Holdings(std::uint32_t of_one, std::uint32_t of_all) : of_one_(of_one), of_all_(of_all) {}

  // One utterance of a client. Gives it back when it goes, which must be before the holdings do.
  class Hold {
   public:
    Hold(Holdings& holdings, std::string pin) : holdings_(&holdings), pin_(std::move(pin)) {}
    Hold(Hold&& other) noexcept
        : holdings_(std::exchange(other.holdings_, nullptr)), pin_(std::move(other.pin_)) {}
    Hold& operator=(Hold&&) = delete;
    ~Hold();

   private:
    Holdings* holdings_;
    std::string pin_;
  };

  // `count` of them. Throws Refused (busy) where they would be too many.
  std::vector<Hold> Take(const std::string& pin, std::uint32_t count);

 private:
  const std::uint32_t of_one_, of_all_;
  std::mutex mutex_;
  std::map<std::string, std::uint64_t> held_;  // by client; no zeros
  std::uint64_t sum_ = 0;
};

}  // namespace sotto
