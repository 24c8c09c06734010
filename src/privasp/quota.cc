#include "privasp/quota.h"

#include <algorithm>

namespace sotto {

bool Quota::Take(const std::string& pin, std::uint32_t count, Time now) {
  constexpr auto kWindow = std::chrono::hours(1);
  // Neighbours in time share an entry: a client that asks often costs no more memory than one a
  // day.
  constexpr auto kGrain = std::chrono::seconds(10);
  const std::scoped_lock lock(mutex_);
  Client& client = clients_[pin];
  while (!client.taken.empty() && client.taken.front().when + kWindow <= now) {
    client.sum -= client.taken.front().count;
    client.taken.pop_front();
  }
  if (client.sum + count > per_hour_) return false;
  if (client.taken.empty() || client.taken.back().when + kGrain <= now) {
    client.taken.push_back({now, 0});
  }
  client.taken.back().count += count;
  client.sum += count;
  return true;
}

void Quota::GiveBack(const std::string& pin, std::uint32_t count) {
  const std::scoped_lock lock(mutex_);
  Client& client = clients_[pin];
  for (auto taken = client.taken.rbegin(); taken != client.taken.rend() && count > 0; ++taken) {
    const std::uint32_t part = std::min(count, taken->count);
    taken->count -= part;
    client.sum -= part;
    count -= part;
  }
}

}  // namespace sotto
