// What the secure comparison costs, in process: each query from the client's input at the servers
// to the answer, beside the limit that memory and AES set, and what the dealer makes ahead.
//   build/bin/sotto_mpc_bench [--benchmark_filter=Online]
//
// A server has a machine of its own: a step takes what the slower of the two takes, by the clock of
// the thread, so that other programs on this machine disturb little. Limit: bytes of one server's
// weights ÷ the rate at which this core reads buffers of that size, plus AES blocks ÷ the rate at
// which it encrypts blocks that are in its cache.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <map>

#include "limit.h"
#include "mpc/testing.h"

namespace sotto {
namespace {

using testing::Deployment;
using testing::RandomInput;
using testing::RandomNet;

// Two buffers in turn, as two servers in one process have them.
double SecondsToRead(std::size_t bytes) {
  const RingVector buffers[2] = {RingVector(bytes / 8, 1), RingVector(bytes / 8, 2)};
  int turn = 0;
  return MedianSeconds(11, [&] { benchmark::DoNotOptimize(ReadAll(buffers[turn++ % 2])); });
}

struct Limit {
  double plain, best;  // seconds an utterance, by AES-NI and by the widest instructions
};

Limit LimitOf(Scenario scenario, std::uint32_t units, std::size_t batch) {
  const bool shared = scenario == Scenario::kSharedModel;
  static std::map<std::size_t, double> reads;
  const std::size_t bytes = std::size_t{2970} * units * (shared ? 8 : 2);
  if (!reads.contains(bytes)) reads[bytes] = SecondsToRead(bytes);
  const DcfShape shape{IntegerNet::kLayerBits, shared ? 4U : 2U, units};
  const double read = reads[bytes] / static_cast<double>(batch);
  const auto blocks = static_cast<double>(shape.AesBlocks());
  return {read + blocks / Rates().plain, read + blocks / Rates().best};
}

// Arguments: scenario, units, utterances in a query.
void Online(benchmark::State& state) {
  const auto scenario = static_cast<Scenario>(state.range(0));
  const auto units = static_cast<std::uint32_t>(state.range(1));
  const auto batch = static_cast<std::size_t>(state.range(2));
  const Limit limit = LimitOf(scenario, units, batch);
  const IntegerNet net = RandomNet(2970, units, 1);
  Deployment parties(net, scenario);
  SeededRng rng(2);
  std::vector<std::int32_t> x;
  for (std::size_t u = 0; u < batch; ++u) {
    const auto one = RandomInput(net, rng);
    x.insert(x.end(), one.begin(), one.end());
  }
  std::vector<double> seconds;
  std::array<double, 2> parts{};  // to the exchange, after it
  for (auto _ : state) {
    parties.Stock(batch);
    const auto inputs = parties.TheClient().Ask(parties.Reserve(batch), x);
    std::array<ExchangeMessage, 2> exchange;
    std::array<ResultMessage, 2> results;
    double take = 0, finish = 0;
    for (std::size_t p = 0; p < 2; ++p) {
      take = std::max(take, SecondsOf([&] { exchange[p] = parties.At(p).Take(inputs[p]); }));
    }
    for (std::size_t p = 0; p < 2; ++p) {
      finish = std::max(finish, SecondsOf([&] {
                          results[p] =
                              std::get<ResultMessage>(parties.At(p).Exchange(exchange[1 - p]));
                        }));
    }
    finish += SecondsOf([&] { benchmark::DoNotOptimize(parties.TheClient().Answer(results)); });
    seconds.push_back((take + finish) / static_cast<double>(batch));
    parts[0] += take / static_cast<double>(batch);
    parts[1] += finish / static_cast<double>(batch);
    state.SetIterationTime(take + finish);
  }
  const auto n = static_cast<double>(seconds.size());
  const double median = MedianOf(seconds);
  state.counters["ms_per_utterance"] = 1e3 * median;
  state.counters["limit_ms"] = 1e3 * limit.plain;
  state.counters["times_limit"] = median / limit.plain;
  state.counters["times_wide_limit"] = median / limit.best;
  state.counters["ms_to_exchange"] = 1e3 * parts[0] / n;
  state.counters["ms_after_it"] = 1e3 * parts[1] / n;
}
BENCHMARK(Online)
    ->ArgNames({"scenario", "units", "batch"})
    ->ArgsProduct({{2, 1}, {512, 1024}, {1}})
    ->UseManualTime()
    ->Iterations(40)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(Online)
    ->ArgNames({"scenario", "units", "batch"})
    ->ArgsProduct({{2, 1}, {512, 1024}, {128}})
    ->UseManualTime()
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond);

// Arguments: scenario, units.
void DealerInMemory(benchmark::State& state) {
  const Provider provider(RandomNet(2970, static_cast<std::uint32_t>(state.range(1)), 1),
                          static_cast<Scenario>(state.range(0)));
  Dealer dealer;
  dealer.AddModel(provider.Card());
  double seconds = 0;
  for (auto _ : state) {
    seconds += SecondsOf([&] { benchmark::DoNotOptimize(dealer.Deal(provider.Card().id, 8)); });
  }
  state.counters["utterances_per_s"] = 8.0 * static_cast<double>(state.iterations()) / seconds;
}
BENCHMARK(DealerInMemory)
    ->ArgNames({"scenario", "units"})
    ->ArgsProduct({{2, 1}, {512, 1024}})
    ->Unit(benchmark::kMillisecond);

// What a server does with material before its query: scenario 2.
void PrepareMaterial(benchmark::State& state) {
  Deployment parties(RandomNet(2970, 1024, 1), Scenario::kSharedModel);
  double seconds = 0;
  for (auto _ : state) {
    std::vector<MaterialMessage> materials;
    for (auto& dealt : parties.deal(8)) materials.push_back(std::move(dealt[0]));
    const double one = SecondsOf([&] { parties.At(0).AddMaterial(std::move(materials)); });
    state.SetIterationTime(one);
    seconds += one;
    parties.At(0).Burn(parties.At(0).Reserve(8).ids);
  }
  state.counters["utterances_per_s"] = 8.0 * static_cast<double>(state.iterations()) / seconds;
}
BENCHMARK(PrepareMaterial)->UseManualTime()->Unit(benchmark::kMillisecond);

// The comparisons of one utterance at 1024 units. Argument: 0 the CPU's instructions, 1 portable.
void Comparisons(benchmark::State& state) {
  const AesPath path = state.range(0) == 0 ? AesPath::kAuto : AesPath::kPortable;
  const DcfShape shape{IntegerNet::kLayerBits, 4, 1024};
  const RingVector alpha(1024, 12345), beta(4096, 6789), x(1024, 54321);
  RingVector out(4096);
  const auto keys = MakeDcfKeys(shape, alpha, beta, {FreshSeed(), FreshSeed()}, FreshSeed());
  for (auto _ : state) EvaluateDcf(keys[0], x, out, path);
  state.counters["blocks_per_s"] = benchmark::Counter(
      static_cast<double>(shape.AesBlocks() * static_cast<std::size_t>(state.iterations())),
      benchmark::Counter::kIsRate);
}
BENCHMARK(Comparisons)->ArgName("portable")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

// A 24 kB seed expansion.
void CounterStream(benchmark::State& state) {
  const AesPath path = state.range(0) == 0 ? AesPath::kAuto : AesPath::kPortable;
  RingVector out(2970);
  const Seed seed = FreshSeed();
  for (auto _ : state) ExpandSeed(seed, 0, out, path);
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * 2970 * 8);
}
BENCHMARK(CounterStream)->ArgName("portable")->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

void RawAes(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Rates());
  state.counters["aes_ni_blocks_per_s"] = Rates().plain;
  state.counters["widest_blocks_per_s"] = Rates().best;
}
BENCHMARK(RawAes)->Iterations(1);

}  // namespace
}  // namespace sotto

BENCHMARK_MAIN();
