#include "privasp/quota.h"

#include <fmt/format.h>

#include <algorithm>

#include "privasp/service_messages.h"

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

std::vector<Holdings::Hold> Holdings::Take(const std::string& pin, std::uint32_t count) {
  std::vector<Hold> holds;
  holds.reserve(count);
  const std::scoped_lock lock(mutex_);
  const auto found = held_.find(pin);
  const std::uint64_t own = found == held_.end() ? 0 : found->second;
  if (own + count > of_one_) {
    throw Refused(
        Reason::kBusy,
        fmt::format("{} utterances are reserved for this certificate; {} allowed", own, of_one_));
  }
  if (sum_ + count > of_all_) {
    throw Refused(
        Reason::kBusy,
        fmt::format("{} utterances are reserved for all clients; {} allowed", sum_, of_all_));
  }
  held_[pin] += count;
  sum_ += count;
  for (std::uint32_t i = 0; i < count; ++i) holds.emplace_back(*this, pin);
  return holds;
}

Holdings::Hold::~Hold() {
  if (holdings_ == nullptr) return;
  const std::scoped_lock lock(holdings_->mutex_);
  --holdings_->sum_;
  const auto client = holdings_->held_.find(pin_);
  if (--client->second == 0) holdings_->held_.erase(client);
}

}  // namespace sotto
