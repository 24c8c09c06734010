// What accounting and noise cost, on one core.
//   build/bin/sotto_dp_bench
#include <benchmark/benchmark.h>

#include <array>
#include <chrono>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dp/mechanisms.h"
#include "dp/plain_laplace_testing.h"
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

// The latent of a gender auto-encoder: 64 numbers, clipped to an L1 norm of 18.35, at epsilon 15.
constexpr std::size_t kLatent = 64;
constexpr double kLatentEps = 15.0;
constexpr double kLatentSensitivity = 2.0 * 18.35;

// A release as it was before DiscreteLaplace became quick: algorithm 2, numbers through ldexp.
class PlainLaplace {
 public:
  PlainLaplace()
      : exponent_(NoiseGrid::ForScale(kLatentSensitivity / kLatentEps).exponent),
        scale_(static_cast<std::uint64_t>(
            std::ceil(std::ldexp(kLatentSensitivity / kLatentEps, -exponent_)))) {}

  std::vector<double> Release(std::span<const double> values, Budget& budget,
                              BitSource& bits) const {
    budget.Spend(PrivacyEvent::Laplace(kLatentEps));
    std::vector<double> out;
    out.reserve(values.size());
    for (const double value : values) {
      const auto units = static_cast<Int128>(std::nearbyint(std::ldexp(value, -exponent_)));
      const Int128 noisy = units + testing::PlainDiscreteLaplace(scale_, bits);
      out.push_back(std::ldexp(static_cast<double>(noisy), exponent_));
    }
    return out;
  }

 private:
  int exponent_;
  std::uint64_t scale_;
};

// Noise on the latent of one embedding by today's sampler and by the oracle in turn, so that both
// see the same machine. `bits` and `plain_bits` make a source anew for each embedding or hand out
// one. The counters are draws a second, and how many times as many.
template <typename MakeBits, typename MakePlainBits>
void LatentNoise(benchmark::State& state, const MakeBits& bits, const MakePlainBits& plain_bits) {
  using Clock = std::chrono::steady_clock;
  const LaplaceMechanism mechanism(kLatentEps, kLatentSensitivity, kLatent);
  const PlainLaplace plain;
  const std::vector<double> latent(kLatent, 0.3);
  Budget budget;
  Budget plain_budget;
  std::chrono::duration<double> time{0};
  std::chrono::duration<double> plain_time{0};
  constexpr int kEmbeddings = 100;
  for (auto _ : state) {
    const auto begin = Clock::now();
    for (int i = 0; i < kEmbeddings; ++i) {
      benchmark::DoNotOptimize(mechanism.Release(latent, budget, bits()));
    }
    const auto middle = Clock::now();
    for (int i = 0; i < kEmbeddings; ++i) {
      benchmark::DoNotOptimize(plain.Release(latent, plain_budget, plain_bits()));
    }
    time += middle - begin;
    plain_time += Clock::now() - middle;
    state.SetIterationTime(std::chrono::duration<double>(middle - begin).count());
  }
  const double draws = static_cast<double>(state.iterations()) * kEmbeddings * kLatent;
  state.counters["draws/s"] = draws / time.count();
  state.counters["oracle/s"] = draws / plain_time.count();
  state.counters["ratio"] = plain_time / time;
}

// The sampler alone: both draw from a source of the same kind.
void LatentNoiseSecureBits(benchmark::State& state) {
  SecureBits bits;
  const auto same = [&]() -> BitSource& { return bits; };
  LatentNoise(state, same, same);
}
BENCHMARK(LatentNoiseSecureBits)->UseManualTime()->Unit(benchmark::kMicrosecond);

void LatentNoiseKeyedBits(benchmark::State& state) {
  KeyedBits bits(Key::FromSystem(), {"bench"});
  const auto same = [&]() -> BitSource& { return bits; };
  LatentNoise(state, same, same);
}
BENCHMARK(LatentNoiseKeyedBits)->UseManualTime()->Unit(benchmark::kMicrosecond);

// Sampler and source: one request to the system for every 128 words, as SecureBits once made them.
class SystemBits final : public BitSource {
 public:
  std::uint64_t Next64() override {
    if (next_ == words_.size()) {
      SecureRandomBytes({reinterpret_cast<std::uint8_t*>(words_.data()), sizeof words_});
      next_ = 0;
    }
    return std::exchange(words_[next_++], 0);
  }

 private:
  std::array<std::uint64_t, 128> words_{};
  std::size_t next_ = 128;
};

void LatentNoiseSecureBitsAgainstSystemBits(benchmark::State& state) {
  SecureBits bits;
  SystemBits system;
  LatentNoise(
      state, [&]() -> BitSource& { return bits; }, [&]() -> BitSource& { return system; });
}
BENCHMARK(LatentNoiseSecureBitsAgainstSystemBits)->UseManualTime()->Unit(benchmark::kMicrosecond);

// A remembered draw for each of many speakers: one source a speaker.
void LatentNoiseKeyedStreamAgainstKeyedBits(benchmark::State& state) {
  const Key key = Key::FromSystem();
  std::optional<KeyedStreamBits> bits;
  std::optional<KeyedBits> plain_bits;
  std::uint64_t speaker = 0;
  const auto anew = [&](auto& source) -> BitSource& {
    const std::string id = std::to_string(++speaker);
    const std::initializer_list<std::string_view> fields = {"bench", id};
    return source.emplace(key, fields);
  };
  LatentNoise(
      state, [&]() -> BitSource& { return anew(bits); },
      [&]() -> BitSource& { return anew(plain_bits); });
}
BENCHMARK(LatentNoiseKeyedStreamAgainstKeyedBits)->UseManualTime()->Unit(benchmark::kMicrosecond);

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
