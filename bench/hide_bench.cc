// Voiceprints protected per second on one core by the auto-encoder that hides attributes: 192
// numbers in and out, 64 between.
//   build/bin/sotto_hide_bench
// Asked: 200,000 a second without noise.
#include <benchmark/benchmark.h>

#include "base/random.h"
#include "nn/eigen_backend.h"
#include "speaker/gender_aae.h"

namespace sotto {
namespace {

constexpr Eigen::Index kDimension = 192, kLatent = 64;

Eigen::MatrixXf Random(Eigen::Index rows, Eigen::Index columns, std::uint64_t seed) {
  SeededRng rng(seed);
  Eigen::MatrixXf m(rows, columns);
  for (float& value : m.reshaped()) value = static_cast<float>(rng.Gaussian());
  return m;
}

AutoencoderHider RandomHider() {
  AutoencoderWeights w;
  w.encoder = Random(kLatent, kDimension, 1);
  w.encoder_bias = Random(kLatent, 1, 2);
  w.scale = Eigen::VectorXf::Ones(kLatent);
  w.shift = Eigen::VectorXf::Zero(kLatent);
  w.decoder = 0.1F * Random(kDimension, kLatent, 3);
  w.decoder_bias = Random(kDimension, 1, 4);
  w.bound = 40.0;
  HiderHeader header;
  header.method = "gender-aae";
  header.attributes = {{"gender", {"F", "M"}}};
  return {std::move(header), AdversarialAutoencoder(std::move(w))};
}

void HiddenWithoutNoise(benchmark::State& state) {
  const AutoencoderHider hider = RandomHider();
  Eigen::MatrixXf x = Random(kDimension, state.range(0), 5);
  x.colwise().normalize();
  for (auto _ : state) benchmark::DoNotOptimize(HideWithoutNoise(hider, x, {}));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(HiddenWithoutNoise)->Arg(1)->Arg(256)->Arg(8192);

// A draw of 64 numbers for each voiceprint, as ProtectPer::kUtterance asks for.
void HiddenWithExactNoise(benchmark::State& state) {
  const AutoencoderHider hider = RandomHider();
  EmbeddingSet set;
  set.vectors = Random(kDimension, state.range(0), 5);
  for (int i = 0; i < state.range(0); ++i) {
    set.ids.push_back(std::to_string(i));
    set.speakers.push_back(std::to_string(i / 8));
  }
  HideOptions options;
  options.eps = 15.0;
  options.per = ProtectPer::kUtterance;
  const Key key = Key::FromSystem();
  for (auto _ : state) benchmark::DoNotOptimize(HideAttributes(hider, set, {}, options, key));
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.counters["draws"] =
      benchmark::Counter(static_cast<double>(state.iterations() * state.range(0) * kLatent),
                         benchmark::Counter::kIsRate);
}
BENCHMARK(HiddenWithExactNoise)->Arg(1024)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sotto

int main(int argc, char** argv) {
  sotto::PrepareBlas(argv);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
