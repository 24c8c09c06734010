// What accounting and noise cost, on one core.
//   build/bin/sotto_dp_bench
#include <benchmark/benchmark.h>

#include "dp/mechanisms.h"
#include "dp/pld.h"
#include "dp/rdp.h"

namespace sotto {
namespace {

const PrivacyEvent kMnist = PrivacyEvent::SubsampledGaussian(256.0 / 60000.0, 1.1, 14062);

void RdpOf14062Steps(benchmark::State& state) {
  const auto orders = DefaultRdpOrders();
  for (auto _ : state) benchmark::DoNotOptimize(RdpCompose({&kMnist, 1}, 1e-5, orders));
}
BENCHMARK(RdpOf14062Steps)->Unit(benchmark::kMillisecond);

void PldOf14062Steps(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(PldCompose({&kMnist, 1}, 1e-5));
}
BENCHMARK(PldOf14062Steps)->Unit(benchmark::kMillisecond);

void LaplaceDraw(benchmark::State& state) {
  const LaplaceMechanism mechanism(1.0, 1.0);
  const double value = 0.5;
  SecureBits bits;
  Budget budget;
  for (auto _ : state) {
    benchmark::DoNotOptimize(mechanism.Release(std::span(&value, 1), budget, bits));
  }
}
BENCHMARK(LaplaceDraw);

void GaussianDraw(benchmark::State& state) {
  const auto mechanism = GaussianMechanism::ForNoise(1.0, 1.0);
  const double value = 0.5;
  SecureBits bits;
  Budget budget;
  for (auto _ : state) {
    benchmark::DoNotOptimize(mechanism.Release(std::span(&value, 1), budget, bits));
  }
}
BENCHMARK(GaussianDraw);

}  // namespace
}  // namespace sotto

BENCHMARK_MAIN();
