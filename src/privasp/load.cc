#include "privasp/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "base/error.h"
#include "base/random.h"
#include "privasp/secure_client.h"

namespace sotto {
namespace {

constexpr std::uint32_t kMostQueries = 1000000;
constexpr std::uint32_t kMostClients = 128;
constexpr auto kPause = std::chrono::milliseconds(50);
constexpr auto kLongestPause = std::chrono::milliseconds(1600);

class Load {
 public:
  Load(const PartyConfig& config, const LoadOptions& options)
      : config_(config), options_(options) {}

  LoadResult Run() {
    SecureClient first(config_, options_.model);  // an Error here is the caller's
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::thread> threads;
    const std::uint32_t clients = std::min(options_.concurrency, options_.queries);
    for (std::uint32_t i = 0; i < clients; ++i) threads.emplace_back([this] { Work(); });
    for (std::thread& thread : threads) thread.join();
    result_.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::sort(result_.query_ms.begin(), result_.query_ms.end());
    std::sort(result_.reserve_ms.begin(), result_.reserve_ms.end());
    return result_;
  }

 private:
  void Work() {
    std::unique_ptr<SecureClient> client;
    auto pause = kPause;
    for (std::uint32_t query = next_++; query < options_.queries; query = next_++) {
      try {
        if (!client) client = Connect();
        One(*client, query);
        pause = kPause;
      } catch (const Refused& refused) {
        Refuse(ReasonName(refused.Why()));
        // Another model has its place, or the connection has ended.
        if (refused.Why() == Reason::kModel || refused.Why() == Reason::kStopping) client.reset();
        // It refuses because of what will pass: not at once again, and less and less often.
        std::this_thread::sleep_for(pause);
        pause = std::min(2 * pause, kLongestPause);
      } catch (const std::exception&) {
        Refuse("connection");
        client.reset();
      }
    }
  }

  std::unique_ptr<SecureClient> Connect() const {
    const Deadline deadline = After(options_.connect_s);
    for (;;) {
      try {
        return std::make_unique<SecureClient>(config_, options_.model);
      } catch (const Error&) {
        if (std::chrono::steady_clock::now() > deadline) throw;
      }
      std::this_thread::sleep_for(kPause);
    }
  }

  void One(SecureClient& client, std::uint32_t query) {
    SeededRng rng(options_.seed * 0x9E3779B97F4A7C15ULL + query);
    const OfferMessage& offer = client.Offer();
    // A tenth beyond ±x_max: such inputs are clipped.
    const auto range = static_cast<std::uint64_t>(offer.card.x_max) * 22 / 10;
    std::vector<std::int32_t> x(std::size_t{offer.card.inputs} * options_.batch);
    for (std::int32_t& value : x) {
      value =
          static_cast<std::int32_t>(rng.Below(range + 1)) - static_cast<std::int32_t>(range / 2);
    }
    const auto reservations = client.Reserve(options_.batch);
    {
      const std::scoped_lock lock(mutex_);
      result_.reserved += options_.batch;
      for (const QueryId& id : reservations[0].ids) Give(id);
      // Scenario 2: what hides the input from each server.
      for (const ReservationMessage& reservation : reservations) {
        for (const Seed& mask : reservation.input_masks) Give(mask);
      }
    }
    const auto answers = client.Ask(reservations, x);
    bool wrong = false;
    if (options_.plain) {
      for (std::size_t u = 0; u < answers.size(); ++u) {
        const std::int64_t plain = Evaluate(
            options_.plain->net, std::span(x).subspan(u * offer.card.inputs, offer.card.inputs));
        const bool genuine = plain >= options_.plain->net.threshold;
        wrong = wrong || answers[u].genuine != genuine ||
                (answers[u].score && *answers[u].score != plain);
      }
    }
    {
      const std::scoped_lock lock(mutex_);
      ++result_.answered;
      result_.wrong += wrong ? 1 : 0;
      result_.compared += options_.plain ? answers.size() : 0;
      result_.query_ms.push_back(client.LastCost().query_ms);
      result_.reserve_ms.push_back(client.LastCost().reserve_ms);
    }
    if (options_.after_each) options_.after_each("");
  }

  // With the lock held.
  void Give(const AesBlock& once) { result_.reused += given_.insert(once).second ? 0 : 1; }

  void Refuse(const char* reason) {
    {
      const std::scoped_lock lock(mutex_);
      ++result_.refused[reason];
    }
    if (options_.after_each) options_.after_each(reason);
  }

  const PartyConfig& config_;
  const LoadOptions& options_;
  std::atomic<std::uint32_t> next_{0};
  std::mutex mutex_;
  std::set<AesBlock> given_;
  LoadResult result_;
};

}  // namespace

void LoadOptions::Validate() const {
  const auto check = [](const char* name, std::uint32_t value, std::uint32_t most) {
    if (value >= 1 && value <= most) return;
    throw Error(fmt::format("{} is {}; 1 to {} allowed", name, value, most));
  };
  check("queries", queries, kMostQueries);
  check("concurrency", concurrency, kMostClients);
  check("batch", batch, kMaxBatch);
}

std::uint64_t LoadResult::Refused() const {
  std::uint64_t sum = 0;
  for (const auto& [reason, count] : refused) sum += count;
  return sum;
}

LoadResult RunLoad(const PartyConfig& config, const LoadOptions& options) {
  options.Validate();
  return Load(config, options).Run();
}

}  // namespace sotto
