// The secure comparison as a service: what a query takes over TLS on the loopback, beside the limit
// that this machine sets in the same run, what the dealer delivers, and whether all answers are
// those of the plain net.
//   build/bin/sotto_privasp_bench [--check] [--json] [--vectors 1875]
//
// Both servers and the dealer are processes of their own, which this program starts from itself;
// the client is this process. While queries are timed the dealer is stopped (it has a machine of
// its own) and nothing moves between the stores and the servers' memory, unless that is what is
// timed.
//
// Limit: bytes of one server's weights ÷ the rate at which each of two threads reads buffers of
// that size while the other does too, plus the AES blocks of one server ÷ the rate of AES-NI, plus
// ping-pongs of the sizes sent between two threads over two ends of a channel: the input to both
// servers and a result from each, an exchange there and back.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <barrier>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/private_folder.h"
#include "base/random.h"
#include "limit.h"
#include "mpc/parties.h"
#include "mpc/testing.h"
#include "privasp/conversation.h"
#include "privasp/local_deployment.h"
#include "privasp/provider_client.h"
#include "privasp/run_party.h"
#include "privasp/secure_client.h"
#include "privasp/testing.h"
#include "spoof/spoof_corpus.h"
#include "spoof/spoof_features.h"
#include "spoof/spoof_model.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kStock = 256;  // utterances on each server's disk
constexpr std::uint32_t kReady = 128;  // of them in memory, where queries are timed "from memory"
constexpr int kQueries = 120;          // of one utterance
constexpr int kBatches = 9;            // queries of kMaxBatch utterances
constexpr int kFromStore = 24, kWarm = 40, kCold = 20;
constexpr double kWaitS = 60.0;

double MsSince(Clock::time_point then) {
  return std::chrono::duration<double, std::milli>(Clock::now() - then).count();
}

// --- The parties ---

// Both servers and the dealer of one deployment, with one model.
class Parties {
 public:
  Parties() : folder_(work_.Path() / "parties") {
    ServiceLimits limits;
    limits.stock = kStock;
    limits.ready = kReady;
    limits.quota_per_hour = 1U << 20;
    limits.reserved = 1024;
    limits.reservation_s = 600.0;
    MakeLocalDeployment(folder_, 0, limits);
    client_.emplace(Config(Role::kClient).files);
  }

  PartyConfig Config(Role role) const { return ReadConfig(LocalConfig(folder_, role)); }

  // `ready`: utterances that they take into memory ahead of need.
  void StartServers(std::uint32_t ready) {
    for (std::size_t p = 0; p < 2; ++p) {
      servers_[p] = Start(p == 0 ? Role::kFirstServer : Role::kSecondServer, ready);
    }
    const PartyConfig config = Config(Role::kClient);
    for (std::size_t p = 0; p < 2; ++p) {
      Until("a server to listen", [&] {
        try {
          lines_[p] = std::make_unique<Conversation>(
              *client_, config, p == 0 ? Role::kFirstServer : Role::kSecondServer);
          return true;
        } catch (const Error&) {
          return false;
        }
      });
    }
    Until("the servers' link", [&] { return Ask(0)["link"] == true && Ask(1)["link"] == true; });
  }
  void StopServers() {
    for (auto& line : lines_) line.reset();
    for (auto& server : servers_) {
      if (server->Stop() != 0) throw Error("a server did not end well");
    }
  }
  void StartDealer() { dealer_ = Start(Role::kDealer, kReady); }
  void StopDealer() {
    if (dealer_->Stop() != 0) throw Error("the dealer did not end well");
  }

  void Load(const SpoofModel& model, Scenario scenario) {
    if (!LoadModelAtServers(Config(Role::kProvider), model, "bench", scenario, kWaitS).active) {
      throw Error("the model did not become active");
    }
  }
  SecureClient Connect() const { return {Config(Role::kClient), "bench"}; }

  // Utterances that both have on disk, in memory, and in either.
  std::size_t OnDisk() { return Least("stored", nullptr); }
  std::size_t InMemory() { return Least("ready", nullptr); }
  std::size_t Stocked() { return Least("stored", "ready"); }

  template <class F>
  static void Until(const char* what, const F& true_now) {
    const Deadline deadline = After(kWaitS);
    while (!true_now()) {
      if (Clock::now() > deadline) throw Error(fmt::format("waited too long for {}", what));
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  // Until nothing moves between the stores and memory any more.
  void Settle() {
    constexpr int kSame = 6;
    std::string last;
    int same = 0;
    Until("the servers to settle", [&] {
      std::string now;
      for (std::size_t p = 0; p < 2; ++p) now += DumpJson(Ask(p)["models"]);
      same = now == last ? same + 1 : 0;
      last = now;
      std::this_thread::sleep_for(std::chrono::milliseconds(25));
      return same >= kSame;
    });
  }
  // At least `count` utterances at both servers, then no dealer and no movement.
  void FillAndSettle(std::size_t count) {
    if (Stocked() < count) {
      StartDealer();
      Until("the dealer", [&] { return Stocked() >= count; });
      StopDealer();
    }
    Settle();
  }

 private:
  std::unique_ptr<PartyProcess> Start(Role role, std::uint32_t ready) const {
    return std::make_unique<PartyProcess>(
        ThisProgram(),
        std::vector<std::string>{"--party", RoleName(role), LocalConfig(folder_, role).string(),
                                 std::to_string(ready)},
        work_.Path() / (std::string(RoleName(role)) + ".log"));
  }
  nlohmann::json Ask(std::size_t p) {
    return ParseJson(lines_[p]->Ask<StatusMessage>(AskStatusMessage{}).json);
  }
  std::size_t Least(const char* what, const char* and_what) {
    std::size_t least = std::numeric_limits<std::size_t>::max();
    for (std::size_t p = 0; p < 2; ++p) {
      const nlohmann::json models = Ask(p)["models"];
      std::size_t here = 0;
      if (!models.empty()) here = models[0][what].get<std::size_t>();
      if (!models.empty() && and_what != nullptr) here += models[0][and_what].get<std::size_t>();
      least = std::min(least, here);
    }
    return least;
  }

  ScratchFolder work_;
  fs::path folder_;
  std::optional<TlsParty> client_;
  std::unique_ptr<PartyProcess> servers_[2], dealer_;
  std::unique_ptr<Conversation> lines_[2];
};

// What this program does as one of them.
int RunParty(const std::string& role, const fs::path& path, const std::string& ready) {
  PartyConfig config = ReadConfig(path);
  if (role == RoleName(Role::kDealer)) {
    RunDealer(config, /*quiet=*/true);
  } else {
    // 0, which no configuration allows: nothing is in memory before it is asked for.
    config.limits.ready = static_cast<std::uint32_t>(std::stoul(ready));
    RunServer(config, /*quiet=*/true);
  }
  return 0;
}

// --- The limit ---

// Connections between the parties' keys, both ends in this process.
class PingPong {
 public:
  PingPong() : pki_(work_.Path()) {
    for (const Role role : {Role::kClient, Role::kFirstServer, Role::kSecondServer}) {
      parties_.push_back(std::make_unique<TlsParty>(pki_.Files(role)));
    }
    to_[0] = testing::Connected(*parties_[0], *parties_[1]);
    to_[1] = testing::Connected(*parties_[0], *parties_[2]);
    between_ = testing::Connected(*parties_[2], *parties_[1]);
  }

  // Milliseconds: `inputs` bytes to each server and `result` bytes back from each.
  double Inputs(const std::array<std::size_t, 2>& inputs, std::size_t result, int times) {
    std::vector<std::thread> servers;
    for (std::size_t p = 0; p < 2; ++p) {
      servers.emplace_back([&, p] { Answer(*to_[p].accepted, result, times); });
    }
    const SecretBytes frames[2] = {SecretBytes(inputs[0]), SecretBytes(inputs[1])};
    const double median = Median(times, [&] {
      for (std::size_t p = 0; p < 2; ++p) to_[p].connected->Send(frames[p], After(kWaitS));
      for (std::size_t p = 0; p < 2; ++p) Take(*to_[p].connected);
    });
    for (std::thread& server : servers) server.join();
    return median;
  }

  // Milliseconds: `bytes` from one server to the other, and as many back.
  double Exchange(std::size_t bytes, int times) {
    std::thread other([&] { Answer(*between_.accepted, bytes, times); });
    const SecretBytes frame(bytes);
    const double median = Median(times, [&] {
      between_.connected->Send(frame, After(kWaitS));
      Take(*between_.connected);
    });
    other.join();
    return median;
  }

 private:
  static void Take(Channel& channel) { channel.Receive(std::size_t{1} << 30, After(kWaitS)); }
  static void Answer(Channel& channel, std::size_t bytes, int times) {
    const SecretBytes frame(bytes);
    for (int i = 0; i < times; ++i) {
      Take(channel);
      channel.Send(frame, After(kWaitS));
    }
  }
  template <class F>
  static double Median(int times, const F& one) {
    std::vector<double> ms;
    for (int i = 0; i < times; ++i) {
      const auto start = Clock::now();
      one();
      ms.push_back(MsSince(start));
    }
    return MedianOf(ms);
  }

  ScratchFolder work_;
  testing::TestPki pki_;
  std::vector<std::unique_ptr<TlsParty>> parties_;
  testing::ChannelPair to_[2], between_;
};

// Milliseconds in which each of two threads reads its own buffer of so many bytes, at the same
// time.
double MsToRead(std::size_t bytes) {
  constexpr int kRuns = 15;
  std::barrier together(2);
  std::vector<double> ms;
  std::mutex mutex;
  const auto read = [&] {
    const RingVector buffer(bytes / 8, 1);
    volatile std::uint64_t sink = ReadAll(buffer);
    for (int run = 0; run < kRuns; ++run) {
      together.arrive_and_wait();
      const double one = 1e3 * SecondsOf([&] { sink = ReadAll(buffer); });
      const std::scoped_lock lock(mutex);
      ms.push_back(one);
    }
  };
  std::thread other(read);
  read();
  other.join();
  return MedianOf(ms);
}

struct Limit {
  double read_ms = 0.0, aes_ms = 0.0, tls_ms = 0.0;  // an utterance
  double Ms() const { return read_ms + aes_ms + tls_ms; }
};

struct MessageBytes {
  std::array<std::size_t, 2> inputs{};
  std::size_t exchange = 0, result = 0, material = 0;
};

MessageBytes BytesOfQuery(const ModelCard& card, std::size_t batch) {
  MessageBytes bytes;
  const std::vector<QueryId> ids(batch);
  for (std::size_t p = 0; p < 2; ++p) {
    InputMessage input{card.id, ids, {}, {}};
    const bool shared = card.scenario == Scenario::kSharedModel;
    if (!shared) input.committed.emplace();
    if (shared || p == 1) input.values.resize(batch * card.inputs);
    bytes.inputs[p] = input.Serialise().size();
  }
  ExchangeMessage exchange{ids, false, {}, RingVector(batch * card.units)};
  bytes.exchange = exchange.Serialise().size();
  ResultMessage result{ids, false, RingVector(batch)};
  bytes.result = result.Serialise().size();
  return bytes;
}

Limit LimitOf(PingPong& wire, const ModelCard& card, std::size_t batch) {
  const bool shared = card.scenario == Scenario::kSharedModel;
  const auto n = static_cast<double>(batch);
  const DcfShape shape{IntegerNet::kLayerBits, shared ? 4U : 2U, card.units};
  // In scenario 1 the first server's share of an input is a seed.
  const std::size_t blocks = shape.AesBlocks() + (shared ? 0 : (card.inputs + 1) / 2);
  const MessageBytes bytes = BytesOfQuery(card, batch);
  const int times = batch == 1 ? 400 : 15;
  Limit limit;
  limit.read_ms = MsToRead(std::size_t{card.inputs} * card.units * (shared ? 8 : 2)) / n;
  limit.aes_ms = 1e3 * static_cast<double>(blocks) / Rates().plain;
  limit.tls_ms =
      (wire.Inputs(bytes.inputs, bytes.result, times) + wire.Exchange(bytes.exchange, times)) / n;
  return limit;
}

// --- What is asked ---

fs::path Shared() {
  const char* given = std::getenv("SOTTO_SHARED");
  return given != nullptr ? given : SOTTO_DEFAULT_SHARED;
}

struct Recordings {
  std::string from;
  std::vector<float> first;                  // samples of one, for the times
  std::vector<std::vector<float>> features;  // of all that could be used
};

// The development speech and the synthetic speech of the shared data, else Debian's
// pocketsphinx-testdata. (What is kept for evaluation is read for final results alone.)
Recordings Hear(std::size_t most) {
  constexpr const char* kRecorded = "/usr/share/pocketsphinx/test/data/librivox";
  Recordings recordings;
  std::vector<fs::path> where;
  for (const char* name : {"libri_dev", "spoof_tts", "spoof_bonafide", "libri_other"}) {
    const fs::path folder = Shared() / "data/speech" / name;
    if (fs::exists(folder)) where.push_back(folder);
  }
  recordings.from = "the shared data";
  if (where.empty()) {
    recordings.from = "pocketsphinx-testdata";
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(kRecorded, ignored)) {
      if (entry.path().extension() == ".wav") where.push_back(entry.path());
    }
  }
  if (where.empty()) throw Error("no recordings: neither shared data nor pocketsphinx-testdata");
  const UtteranceList list = ListSpoofCorpora({}, {}, where).list;
  std::vector<std::size_t> wanted(list.utterances.size());
  std::iota(wanted.begin(), wanted.end(), std::size_t{0});
  // Of all of them in equal parts.
  const std::size_t step = (wanted.size() + most - 1) / most;
  std::erase_if(wanted, [&](std::size_t i) { return i % step != 0; });
  std::vector<std::vector<float>> all(list.utterances.size());
  HearUtterances(list, wanted, 2, [&](std::size_t i, std::span<const float> x) {
    if (i == wanted[0]) recordings.first.assign(x.begin(), x.end());
    all[i] = SpoofFeatures(x);
  });
  for (const std::size_t i : wanted) {
    if (!all[i].empty()) recordings.features.push_back(std::move(all[i]));
  }
  return recordings;
}

// A vector of features as the net takes it and, but for those that are no features at all, before
// it was rounded.
struct Vector {
  std::vector<std::int32_t> x;
  std::vector<double> exact;
};

// So many of recordings and drawn at random, then all extremes: the largest and the smallest sum of
// each unit, and some that belong to no unit.
class Vectors {
 public:
  Vectors(const SpoofModel& model, const Recordings& recordings, std::size_t count)
      : model_(model),
        recordings_(recordings),
        recorded_(std::min(recordings.features.size(), count / 2)),
        random_(count - recorded_) {}

  std::size_t Recorded() const { return recorded_; }
  std::size_t Random() const { return random_; }
  std::size_t Extreme() const { return kFixed + std::size_t{2} * model_.net.units; }
  std::size_t Count() const { return recorded_ + random_ + Extreme(); }

  Vector Make(std::size_t i) {
    if (i < recorded_) return FromRecording(recordings_.features[i]);
    if (i < recorded_ + random_) return AtRandom(i % 2 == 0);
    return {ExtremeOf(i - recorded_ - random_), {}};
  }

 private:
  static constexpr std::size_t kFixed = 8;

  Vector FromRecording(const std::vector<float>& features) const {
    Vector vector{model_.front_end.Quantise(features), {}};
    for (std::size_t j = 0; j < features.size(); ++j) {
      vector.exact.push_back((static_cast<double>(features[j]) - model_.front_end.mean[j]) *
                             model_.front_end.scale[j]);
    }
    return vector;
  }

  std::vector<std::int32_t> ExtremeOf(std::size_t k) const {
    const IntegerNet& net = model_.net;
    constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
    std::vector<std::int32_t> x(net.inputs);
    switch (k) {
      case 0:
        std::fill(x.begin(), x.end(), net.x_max);
        return x;
      case 1:
        std::fill(x.begin(), x.end(), -net.x_max);
        return x;
      case 2:
        return x;
      case 3:
        std::fill(x.begin(), x.end(), kMost);
        return x;  // all are clipped
      case 4:
        std::fill(x.begin(), x.end(), -kMost);
        return x;
      case 5:
      case 6:
        for (std::size_t j = 0; j < x.size(); ++j) x[j] = (j + k) % 2 ? net.x_max : -net.x_max;
        return x;
      case 7:
        for (std::size_t j = 0; j < x.size(); ++j) x[j] = (j / 30) % 2 ? net.x_max : -net.x_max;
        return x;
      default:
        break;
    }
    const std::size_t unit = (k - kFixed) / 2;
    return testing::ExtremeInput(net, static_cast<std::uint32_t>(unit), k % 2 == 0 ? 1 : -1);
  }

  // Of unit variance as features are, or over the whole range and a quarter more.
  Vector AtRandom(bool like_features) {
    Vector vector;
    const double most = static_cast<double>(model_.net.x_max);
    for (std::uint32_t j = 0; j < model_.net.inputs; ++j) {
      const double value =
          like_features ? rng_.Gaussian() : 1.25 * most / 8192.0 * (2.0 * Uniform() - 1.0);
      vector.exact.push_back(value);
      vector.x.push_back(static_cast<std::int32_t>(std::lround(value * 8192.0)));
    }
    return vector;
  }
  double Uniform() { return static_cast<double>(rng_.Below(1U << 30)) / (1U << 30); }

  const SpoofModel& model_;
  const Recordings& recordings_;
  std::size_t recorded_, random_;
  SeededRng rng_{24};
};

// The committed integers as real numbers, in double precision, of inputs that are cut but not
// rounded. The float net that was trained and then rounded is not kept.
double FloatScore(const IntegerNet& net, std::span<const double> exact) {
  const double most = static_cast<double>(net.x_max) / 8192.0;
  std::vector<double> x(exact.begin(), exact.end());
  for (double& value : x) value = std::clamp(value, -most, most);
  double score = std::ldexp(static_cast<double>(net.b_out), -39);
  const std::int32_t* w = net.w1.data();
  for (std::uint32_t i = 0; i < net.units; ++i, w += net.inputs) {
    double sums[8] = {};
    std::size_t j = 0;
    for (; j + 8 <= net.inputs; j += 8) {
      for (std::size_t k = 0; k < 8; ++k) sums[k] += w[j + k] * x[j + k];
    }
    double z = 0.0;
    for (; j < net.inputs; ++j) z += w[j] * x[j];
    for (const double sum : sums) z += sum;
    z = std::ldexp(z, -13) + std::ldexp(static_cast<double>(net.b1[i]), -26);
    score += std::ldexp(static_cast<double>(net.w2[i]), -13) * std::max(z, 0.0);
  }
  return score;
}

// --- One net in one scenario ---

// Answers of the service.
struct Comparison {
  std::size_t recorded = 0, random = 0, extreme = 0;
  std::size_t mismatches = 0;  // with the integer net
  // With FloatScore, where it has the inputs before they were rounded.
  std::size_t compared = 0, flipped = 0;
  double largest_difference = 0.0;

  std::size_t Vectors() const { return recorded + random + extreme; }
};

struct Figures {
  int scenario = 0;
  std::uint32_t units = 0;
  bool decision_only = false;  // the policy; then answers are compared and nothing is timed
  // Medians in milliseconds; of a batch, an utterance.
  Limit limit_1, limit_128;
  double query_1 = 0.0, query_128 = 0.0;
  // After a pause, as a user asks: caches and threads are cold.
  double reserve = 0.0, features = 0.0, paused_query = 0.0, warm = 0.0, cold = 0.0;
  double store_reserve = 0.0, store_query = 0.0;
  double store_block = 0.0;  // utterances that a reservation takes out of the store
  QueryCost cost;
  std::size_t material_bytes = 0;
  double dealt_per_s = 0.0, delivered_per_s = 0.0;
  Comparison answers;

  double Ratio1() const { return query_1 / limit_1.Ms(); }
  double Ratio128() const { return query_128 / limit_128.Ms(); }
  double StoreRatio() const { return store_query / paused_query; }
};

// Utterances a second of one thread.
double DealtPerSecond(const ModelCard& card, Figures& figures) {
  constexpr std::size_t kCount = 16;
  Dealer dealer;
  dealer.AddModel(card);
  figures.material_bytes = dealer.Deal(card.id, 1)[0][0].Serialise().size();
  return kCount / MedianSeconds(15, [&] { dealer.Deal(card.id, kCount); });
}

// From the dealer's memory into both stores, while the stores fill up.
double DeliveredPerSecond(Parties& parties) {
  const auto start = Clock::now();
  const std::size_t before = parties.OnDisk();
  Parties::Until("the dealer", [&] { return parties.OnDisk() + 8 > kStock; });
  const double seconds = MsSince(start) / 1e3;
  return static_cast<double>(parties.OnDisk() - before) / seconds;
}

class Measurement {
 public:
  Measurement(PingPong& wire, const Recordings& recordings, const std::string& model,
              Scenario scenario, bool decision_only, std::size_t vectors)
      : wire_(wire),
        recordings_(recordings),
        model_(OpenSpoofModel(model)),
        scenario_(scenario),
        vectors_(vectors) {
    figures_.scenario = static_cast<int>(scenario);
    figures_.units = model_.net.units;
    figures_.decision_only = model_.net.decision_only = decision_only;
    some_ = model_.front_end.Quantise(recordings.features[0]);
  }

  // Times and answers.
  Figures Run() {
    const ModelCard card = Provider(model_.net, scenario_).Card();
    figures_.dealt_per_s = DealtPerSecond(card, figures_);
    // Nothing in memory ahead of need: the store as it fills, and what comes out of it.
    parties_.StartServers(0);
    parties_.StartDealer();
    parties_.Load(model_, scenario_);
    figures_.delivered_per_s = DeliveredPerSecond(parties_);
    parties_.StopDealer();
    parties_.Settle();
    FromStore();
    parties_.StopServers();

    parties_.StartServers(kReady);
    figures_.limit_1 = LimitOf(wire_, card, 1);
    FromMemory();
    WarmAndCold();
    figures_.limit_128 = LimitOf(wire_, card, kMaxBatch);
    Batches();
    parties_.StartDealer();
    Compare();
    parties_.StopDealer();
    parties_.StopServers();
    return figures_;
  }

  Figures RunAnswers() {
    parties_.StartServers(kReady);
    parties_.StartDealer();
    parties_.Load(model_, scenario_);
    Compare();
    parties_.StopDealer();
    parties_.StopServers();
    return figures_;
  }

 private:
  void FromStore() {
    SecureClient client = parties_.Connect();
    std::vector<double> reserve, query, block;
    for (int i = 0; i < kFromStore; ++i) {
      client.Ask(client.Reserve(1), some_);
      reserve.push_back(client.LastCost().reserve_ms);
      query.push_back(client.LastCost().query_ms);
      // What came along with it out of the store.
      const auto rest = static_cast<std::uint32_t>(parties_.InMemory());
      block.push_back(rest + 1.0);
      if (rest > 0) client.Reserve(rest);
    }
    figures_.store_reserve = MedianOf(reserve);
    figures_.store_query = MedianOf(query);
    figures_.store_block = MedianOf(block);
  }

  // All reservations first, so that the servers do nothing beside the queries.
  void FromMemory() {
    parties_.FillAndSettle(kStock - 16);
    SecureClient client = parties_.Connect();
    std::vector<std::array<ReservationMessage, 2>> reservations;
    reservations.reserve(kQueries);
    for (int i = 0; i < kQueries; ++i) reservations.push_back(client.Reserve(1));
    parties_.Settle();
    std::vector<double> query;
    for (const auto& reservation : reservations) {
      client.Ask(reservation, some_);
      query.push_back(client.LastCost().query_ms);
    }
    figures_.cost = client.LastCost();
    figures_.query_1 = MedianOf(query);
  }

  double HearAndAsk(SecureClient& client) {
    const auto start = Clock::now();
    const auto x = client.Offer().front_end.Quantise(SpoofFeatures(recordings_.first));
    const double features = MsSince(start);
    client.Ask(client.Reserve(1), x);
    return features;
  }

  void WarmAndCold() {
    parties_.Settle();
    SecureClient client = parties_.Connect();
    std::vector<double> features, reserve, query, warm, cold;
    const auto pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(60)); };
    for (int i = 0; i < kWarm; ++i) {
      pause();
      const auto start = Clock::now();
      features.push_back(HearAndAsk(client));
      warm.push_back(MsSince(start));
      reserve.push_back(client.LastCost().reserve_ms);
      query.push_back(client.LastCost().query_ms);
    }
    for (int i = 0; i < kCold; ++i) {
      pause();
      const auto start = Clock::now();
      SecureClient fresh = parties_.Connect();
      HearAndAsk(fresh);
      cold.push_back(MsSince(start));
    }
    figures_.features = MedianOf(features);
    figures_.reserve = MedianOf(reserve);
    figures_.paused_query = MedianOf(query);
    figures_.warm = MedianOf(warm);
    figures_.cold = MedianOf(cold);
  }

  void Batches() {
    SecureClient client = parties_.Connect();
    std::vector<std::int32_t> x;
    for (std::size_t u = 0; u < kMaxBatch; ++u) x.insert(x.end(), some_.begin(), some_.end());
    std::vector<double> query;
    for (int i = 0; i < kBatches; ++i) {
      parties_.FillAndSettle(kMaxBatch);
      const auto reservations = client.Reserve(kMaxBatch);
      parties_.Settle();
      client.Ask(reservations, x);
      query.push_back(client.LastCost().query_ms / kMaxBatch);
    }
    figures_.query_128 = MedianOf(query);
  }

  // The service's answers, while the dealer deals.
  void Compare() {
    SecureClient client = parties_.Connect();
    Vectors vectors(model_, recordings_, vectors_);
    for (std::size_t done = 0; done < vectors.Count();) {
      const std::size_t batch = std::min<std::size_t>(kMaxBatch, vectors.Count() - done);
      std::vector<Vector> some;
      std::vector<std::int32_t> x;
      for (std::size_t u = 0; u < batch; ++u) {
        some.push_back(vectors.Make(done + u));
        x.insert(x.end(), some.back().x.begin(), some.back().x.end());
      }
      std::optional<std::array<ReservationMessage, 2>> reservations;
      Parties::Until("the dealer", [&] {
        if (parties_.Stocked() < batch) return false;
        try {
          reservations = client.Reserve(static_cast<std::uint32_t>(batch));
        } catch (const Refused& refused) {
          // The servers have not told each other yet what came to both.
          if (refused.Why() != Reason::kStock) throw;
        }
        return reservations.has_value();
      });
      const auto answers = client.Ask(*reservations, x);
      for (std::size_t u = 0; u < batch; ++u) CompareOne(some[u], answers[u]);
      done += batch;
    }
    figures_.answers.recorded = vectors.Recorded();
    figures_.answers.random = vectors.Random();
    figures_.answers.extreme = vectors.Extreme();
  }

  void CompareOne(const Vector& vector, const SecureAnswer& answer) {
    const IntegerNet& net = model_.net;
    Comparison& all = figures_.answers;
    const std::int64_t plain = Evaluate(net, vector.x);
    // A decision comes without a score.
    const auto score = net.decision_only ? std::nullopt : std::optional(plain);
    if (answer.score != score || answer.genuine != (plain >= net.threshold)) ++all.mismatches;
    if (vector.exact.empty()) return;
    const double real = FloatScore(net, vector.exact);
    ++all.compared;
    if ((real >= model_.Threshold()) != answer.genuine) ++all.flipped;
    const double difference = std::abs(real - std::ldexp(static_cast<double>(plain), -39));
    all.largest_difference = std::max(all.largest_difference, difference);
  }

  PingPong& wire_;
  const Recordings& recordings_;
  SpoofModel model_;
  const Scenario scenario_;
  const std::size_t vectors_;
  std::vector<std::int32_t> some_;
  Parties parties_;
  Figures figures_;
};

// --- What is told ---

struct Promise {
  std::string what;
  double is = 0.0, bound = 0.0;
  bool at_least = false;
  bool Held() const { return at_least ? is >= bound : is <= bound; }
};

std::vector<Promise> Promises(const std::vector<Figures>& all,
                              const std::vector<Figures>& decisions) {
  std::vector<Promise> promises;
  double first = 0.0, second = 0.0, servers = 0.0, rounds = 0.0, mismatches = 0.0;
  for (const Figures& f : all) {
    const std::string name = fmt::format("scenario {}, {} units", f.scenario, f.units);
    promises.push_back({name + ", batch 1: times the limit", f.Ratio1(), 3.0});
    promises.push_back({name + ", batch 128: times the limit", f.Ratio128(), 2.5});
    promises.push_back(
        {name + ", material from the store: times from memory", f.StoreRatio(), 1.5});
    promises.push_back({name + ": dealt a second in memory", f.dealt_per_s, 100.0, true});
    first = std::max(first, static_cast<double>(f.cost.bytes_first));
    second = std::max(second, static_cast<double>(f.cost.bytes_second));
    servers = std::max(servers, static_cast<double>(f.cost.bytes_servers));
    rounds = std::max(rounds, static_cast<double>(f.cost.rounds));
    mismatches += static_cast<double>(f.answers.mismatches);
  }
  for (const Figures& f : decisions) mismatches += static_cast<double>(f.answers.mismatches);
  promises.push_back({"bytes of a client to the first server", first, 26000.0});
  promises.push_back({"bytes of a client to the second server", second, 26000.0});
  promises.push_back({"bytes of a server to the other", servers, 8400.0});
  promises.push_back({"rounds between the servers", rounds, 1.0});
  promises.push_back({"answers that are not the integer net's", mismatches, 0.0});
  return promises;
}

const char* Orientation(const Figures& f) {
  if (f.units == 1024) return f.scenario == 2 ? "5" : "2.5";
  return f.scenario == 2 ? "2.5" : "1.2";
}

void PrintAnswers(const std::vector<Figures>& all, const std::vector<Figures>& decisions,
                  const std::string& recordings) {
  fmt::print(
      "\nAnswers through the service in batches of 128, against the integer net (recordings: {}).\n"
      "Extremes: the largest and the smallest sum of each unit, and 8 more. Of the recorded and\n"
      "random ones, decisions flipped and the largest difference of a score against the same\n"
      "integers in double precision, of inputs that were not rounded. The float net that was\n"
      "trained is not kept: what rounding its weights costs, `sotto spoof train` prints.\n",
      recordings);
  fmt::print("{:<16}{:>10}{:>10}{:>10}{:>10}{:>12}{:>12}{:>22}\n", "scenario, units", "answer",
             "recorded", "random", "extreme", "mismatches", "flipped", "largest difference");
  std::size_t vectors = 0;
  const auto line = [&](const Figures& f) {
    const Comparison& a = f.answers;
    vectors += a.Vectors();
    fmt::print("{}, {:>4}         {:>10}{:>10}{:>10}{:>10}{:>12}{:>12}{:>22.6f}\n", f.scenario,
               f.units, f.decision_only ? "decision" : "score", a.recorded, a.random, a.extreme,
               a.mismatches, fmt::format("{}/{}", a.flipped, a.compared), a.largest_difference);
  };
  for (const Figures& f : all) line(f);
  for (const Figures& f : decisions) line(f);
  fmt::print("{} vectors in all\n", vectors);
}

void Print(const std::vector<Figures>& all, const std::vector<Figures>& decisions,
           const std::vector<Promise>& promises, const std::string& recordings, double read_gb_s) {
  fmt::print("Servers and dealer are processes, TLS on the loopback, {} cores; medians, ms.\n",
             std::thread::hardware_concurrency());
  fmt::print("Each of two threads reads {:.1f} GB/s of 24 MB; AES-NI {:.0f} M blocks/s.\n\n",
             read_gb_s, Rates().plain / 1e6);
  fmt::print(
      "From the first byte of the input to the decision, material in memory, an utterance\n");
  fmt::print("{:<16}{:>8}{:>8} = {:>6} + {:>6} + {:>6}{:>8}{:>10}{:>12}\n", "scenario, units", "ms",
             "limit", "read", "AES", "TLS", "times", "promised", "orientation");
  const auto line = [](const Figures& f, const char* batch, double ms, const Limit& limit,
                       const char* promised, const char* orientation) {
    fmt::print(
        "{}, {:>4}, {:>3}    {:>8.3f}{:>8.3f}   {:>6.3f}   {:>6.3f}   {:>6.3f}{:>8.2f}{:>10}"
        "{:>12}\n",
        f.scenario, f.units, batch, ms, limit.Ms(), limit.read_ms, limit.aes_ms, limit.tls_ms,
        ms / limit.Ms(), promised, orientation);
  };
  for (const Figures& f : all) line(f, "1", f.query_1, f.limit_1, "3", Orientation(f));
  for (const Figures& f : all) line(f, "128", f.query_128, f.limit_128, "2.5", "");

  fmt::print(
      "\nWhat a user feels who asks once in a while, one utterance: warm on an open connection, "
      "cold with two\nhandshakes and the offer\n");
  fmt::print("{:<16}{:>10}{:>10}{:>10}{:>10}{:>10}\n", "scenario, units", "LFCC", "reserve",
             "query", "warm", "cold");
  for (const Figures& f : all) {
    fmt::print("{}, {:>4}         {:>10.2f}{:>10.2f}{:>10.2f}{:>10.2f}{:>10.2f}\n", f.scenario,
               f.units, f.features, f.reserve, f.paused_query, f.warm, f.cold);
  }

  fmt::print(
      "\nWith nothing in memory, from the store (its files are in the page cache). What is handed "
      "out must be spent\non both disks before, so the reservation waits for two syncs, one after "
      "the other, and for a block of\nmaterial; the query is compared with that of the table "
      "above\n");
  fmt::print("{:<16}{:>10}{:>10}{:>10}{:>22}\n", "scenario, units", "block", "reserve", "query",
             "query: times memory's");
  for (const Figures& f : all) {
    fmt::print("{}, {:>4}         {:>10}{:>10.2f}{:>10.2f}{:>22.2f}\n", f.scenario, f.units,
               f.store_block, f.store_reserve, f.store_query, f.StoreRatio());
  }

  fmt::print(
      "\nThe dealer, utterances a second: on one core in memory; over TLS onto both "
      "servers' disks, synced\n");
  fmt::print("{:<16}{:>10}{:>11}{:>20}{:>14}\n", "scenario, units", "in memory", "delivered",
             "bytes a server", "MB/s to both");
  for (const Figures& f : all) {
    fmt::print("{}, {:>4}         {:>10.0f}{:>11.0f}{:>20}{:>14.0f}\n", f.scenario, f.units,
               f.dealt_per_s, f.delivered_per_s, f.material_bytes,
               2e-6 * f.delivered_per_s * static_cast<double>(f.material_bytes));
  }

  fmt::print("\nBytes of a query, with lengths, without TLS\n");
  fmt::print("{:<16}{:>12}{:>12}{:>12}{:>12}{:>8}\n", "scenario, units", "to first", "to second",
             "servers", "back", "rounds");
  for (const Figures& f : all) {
    fmt::print("{}, {:>4}         {:>12}{:>12}{:>12}{:>12}{:>8}\n", f.scenario, f.units,
               f.cost.bytes_first, f.cost.bytes_second, f.cost.bytes_servers, f.cost.bytes_back,
               f.cost.rounds);
  }

  PrintAnswers(all, decisions, recordings);
  fmt::print("\n");
  std::size_t missed = 0;
  for (const Promise& promise : promises) {
    if (promise.Held()) continue;
    ++missed;
    fmt::print("MISSED: {} is {:.3g}; {} {:.3g} promised\n", promise.what, promise.is,
               promise.at_least ? "at least" : "at most", promise.bound);
  }
  fmt::print("{} of {} promises hold\n", promises.size() - missed, promises.size());
}

nlohmann::ordered_json JsonOf(const Limit& limit) {
  return {{"read_ms", limit.read_ms}, {"aes_ms", limit.aes_ms}, {"tls_ms", limit.tls_ms}};
}

// Against the integer net, and (real_…) against its integers in double precision.
nlohmann::ordered_json JsonOf(const Comparison& a) {
  return {{"recorded", a.recorded},
          {"random", a.random},
          {"extreme", a.extreme},
          {"mismatches", a.mismatches},
          {"real_compared", a.compared},
          {"real_flipped", a.flipped},
          {"real_largest_difference", a.largest_difference}};
}

void PrintJson(const std::vector<Figures>& all, const std::vector<Figures>& decisions,
               const std::vector<Promise>& promises, const std::string& recordings,
               double read_gb_s) {
  nlohmann::ordered_json out;
  out["cores"] = std::thread::hardware_concurrency();
  out["read_gb_per_s"] = read_gb_s;
  out["aes_ni_blocks_per_s"] = Rates().plain;
  out["recordings"] = recordings;
  for (const Figures& f : all) {
    out["nets"].push_back(
        {{"scenario", f.scenario},
         {"units", f.units},
         {"batch_1",
          {{"query_ms", f.query_1}, {"limit", JsonOf(f.limit_1)}, {"times", f.Ratio1()}}},
         {"batch_128",
          {{"query_ms", f.query_128}, {"limit", JsonOf(f.limit_128)}, {"times", f.Ratio128()}}},
         {"features_ms", f.features},
         {"reserve_ms", f.reserve},
         {"paused_query_ms", f.paused_query},
         {"warm_ms", f.warm},
         {"cold_ms", f.cold},
         {"from_store",
          {{"block", f.store_block},
           {"reserve_ms", f.store_reserve},
           {"query_ms", f.store_query},
           {"query_times", f.StoreRatio()},
           {"page_cache", true}}},
         {"dealt_per_s", f.dealt_per_s},
         {"delivered_per_s", f.delivered_per_s},
         {"material_bytes", f.material_bytes},
         {"bytes_first", f.cost.bytes_first},
         {"bytes_second", f.cost.bytes_second},
         {"bytes_servers", f.cost.bytes_servers},
         {"bytes_back", f.cost.bytes_back},
         {"rounds", f.cost.rounds},
         {"answers", JsonOf(f.answers)}});
  }
  for (const Figures& f : decisions) {
    out["decisions"].push_back(
        {{"scenario", f.scenario}, {"units", f.units}, {"answers", JsonOf(f.answers)}});
  }
  for (const Promise& promise : promises) {
    out["promises"].push_back({{"what", promise.what},
                               {"is", promise.is},
                               {promise.at_least ? "at_least" : "at_most", promise.bound},
                               {"held", promise.Held()}});
  }
  fmt::print("{}\n", DumpJson(out, 2));
}

int Run(bool check, bool json, std::size_t vectors) {
  constexpr std::size_t kMostRecordings = 800;
  const Recordings recordings = Hear(kMostRecordings);
  PingPong wire;
  constexpr std::size_t kWeights = std::size_t{2970} * 1024 * 8;
  const double read_gb_s = static_cast<double>(kWeights) / MsToRead(kWeights) / 1e6;
  std::vector<Figures> all, decisions;
  for (const Scenario scenario : {Scenario::kSharedModel, Scenario::kPublicModel}) {
    for (const char* model : {kPrivasp1024, kPrivasp512}) {
      all.push_back(Measurement(wire, recordings, model, scenario, false, vectors).Run());
    }
    // A decision is a score compared: fewer will do.
    decisions.push_back(
        Measurement(wire, recordings, kPrivasp512, scenario, true, vectors / 4).RunAnswers());
  }
  const auto promises = Promises(all, decisions);
  (json ? PrintJson : Print)(all, decisions, promises, recordings.from, read_gb_s);
  const bool held =
      std::all_of(promises.begin(), promises.end(), [](const Promise& one) { return one.Held(); });
  return check && !held ? 1 : 0;
}

}  // namespace
}  // namespace sotto

int main(int argc, char** argv) {
  const std::vector<std::string> a(argv + 1, argv + argc);
  bool check = false, json = false;
  std::size_t vectors = 1875;
  try {
    if (a.size() == 4 && a[0] == "--party") return sotto::RunParty(a[1], a[2], a[3]);
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i] == "--check") {
        check = true;
      } else if (a[i] == "--json") {
        json = true;
      } else if (a[i] == "--vectors" && i + 1 < a.size()) {
        vectors = std::stoul(a[++i]);
      } else if (a[i].rfind("--benchmark_", 0) != 0) {  // those are for the other benchmarks
        fmt::print(stderr,
                   "usage: sotto_privasp_bench [--check] [--json] [--vectors N]\n"
                   "N: recorded and random vectors of features for each net and scenario, against "
                   "the plain net beside all extremes\n");
        return 2;
      }
    }
    return sotto::Run(check, json, vectors);
  } catch (const std::exception& error) {
    fmt::print(stderr, "sotto_privasp_bench: {}\n", error.what());
    return 1;
  }
}
