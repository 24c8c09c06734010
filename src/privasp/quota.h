// How many utterances a client certificate may reserve in an hour: what bounds how fast a client
// can learn the model by asking (docs/mpc.md). Each server counts for itself.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>

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

}  // namespace sotto
