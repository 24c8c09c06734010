// Scale of room assess, as ratios measured in one run: all figures of ten million trials against
// std::sort of their scores, the TSV reader in MB/s, a thousand resamples of 22,000 trials.
//   build/bin/sotto_assess_bench
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <string>
#include <vector>

#include "assess/verify.h"
#include "base/random.h"

namespace sotto {
namespace {

// Processor time of this thread, so that a busy machine does not blur the ratios.
double Seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double PeakRssGb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1e6;
}

// A tenth targets N(2, 1.5), the rest N(−2, 1.5); step 0 keeps all digits (hardly a tie).
Trials MakeTrials(std::size_t n, double step) {
  SeededRng rng(20261);
  Trials trials;
  trials.scores.reserve(n);
  trials.is_target.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    const bool target = i % 10 == 0;
    const double score = (target ? 2.0 : -2.0) + 1.5 * rng.Gaussian();
    trials.scores.push_back(step > 0.0 ? std::nearbyint(score / step) * step : score);
    trials.is_target.push_back(target ? 1 : 0);
  }
  return trials;
}

// 1000 speakers with 10 recordings each, every speaker enrolled against every recording.
void AddIds(Trials& trials) {
  constexpr std::uint32_t kSpeakers = 1000;
  constexpr std::uint32_t kRecordings = 10 * kSpeakers;
  for (std::uint32_t i = 0; i < kRecordings; ++i)
    trials.test.names.push_back(fmt::format("u{}", i));
  for (std::uint32_t i = 0; i < kSpeakers; ++i) {
    trials.enrol_spk.names.push_back(fmt::format("s{}", i));
  }
  trials.test_spk.names = trials.enrol_spk.names;
  for (std::uint32_t i = 0; i < trials.size(); ++i) {
    trials.test.index.push_back(i % kRecordings);
    trials.test_spk.index.push_back(i % kRecordings / 10);
    trials.enrol_spk.index.push_back(i / kRecordings % kSpeakers);
  }
}

// Everything `sotto assess verify --json` computes, bootstrap apart.
void VerifyAgainstSort(benchmark::State& state, double step, bool ids) {
  Trials trials = MakeTrials(10'000'000, step);
  if (ids) AddIds(trials);
  double sort_seconds = 0.0;
  double verify_seconds = 0.0;
  for (auto _ : state) {
    {
      std::vector<double> scores = trials.scores;
      const double start = Seconds();
      std::sort(scores.begin(), scores.end());
      benchmark::DoNotOptimize(scores.data());
      sort_seconds += Seconds() - start;
    }
    const double start = Seconds();
    const ScoreLevels data = MakeLevels(trials);
    VerifyOptions options;
    options.resamples = 0;
    benchmark::DoNotOptimize(Verify(trials, data, options).scores.eer);
    const Pav pav = FitPav(data);
    benchmark::DoNotOptimize(MakeEceProfile(data, pav).ece_act.data());
    benchmark::DoNotOptimize(RocPoints(data, 1000).data());
    benchmark::DoNotOptimize(MeasureLinkability(data).d.data());
    benchmark::DoNotOptimize(MaximalLinkability(data, 100));
    if (ids) benchmark::DoNotOptimize(MeasureZoo(trials, WithLaplace(pav)).data());
    verify_seconds += Seconds() - start;
  }
  const auto n = static_cast<double>(state.iterations());
  state.counters["sort_s"] = sort_seconds / n;
  state.counters["verify_s"] = verify_seconds / n;
  state.counters["verify_over_sort"] = verify_seconds / sort_seconds;  // at most 3
  state.counters["peak_rss_gb"] = PeakRssGb();                         // below 1
}
BENCHMARK_CAPTURE(VerifyAgainstSort, distinct_scores, 0.0, false)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(3);
BENCHMARK_CAPTURE(VerifyAgainstSort, four_digits, 1e-4, false)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(3);

BENCHMARK_CAPTURE(VerifyAgainstSort, distinct_scores_with_ids, 0.0, true)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(3);

std::string TsvText(std::size_t n, bool ids) {
  const Trials trials = MakeTrials(n, 0.0);
  std::string text = ids ? "enrol\ttest\tlabel\tscore\tenrol_spk\ttest_spk\n" : "label\tscore\n";
  for (std::size_t i = 0; i < n; ++i) {
    const char* label = trials.is_target[i] != 0 ? "target" : "nontarget";
    if (ids) {
      const std::size_t enrol = i * 100 / n;
      const std::size_t test = i % (n / 100);
      text += fmt::format("spk{:04}\tspk{:04}-utt{:06}\t{}\t{:.6f}\tspk{:04}\tspk{:04}\n", enrol,
                          test / 40, test, label, trials.scores[i], enrol, test / 40);
    } else {
      text += fmt::format("{}\t{:.6f}\n", label, trials.scores[i]);
    }
  }
  return text;
}

// One core, from memory.
void ParseTsv(benchmark::State& state, bool ids) {
  const std::string text = TsvText(1'000'000, ids);
  for (auto _ : state) {
    benchmark::DoNotOptimize(ParseTrialTsv(text, "bench").scores.data());
  }
  // Shown in bytes per second; at least 150 MB/s.
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size()) * state.iterations());
}
BENCHMARK_CAPTURE(ParseTsv, label_and_score, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ParseTsv, with_ids_and_speakers, true)->Unit(benchmark::kMillisecond);

// One core; below 5000 ms. `speakers` 0 draws trials.
void Bootstrap(benchmark::State& state, std::uint32_t speakers) {
  constexpr std::size_t kTrials = 22'000;
  Trials trials = MakeTrials(kTrials, 0.0);
  for (std::uint32_t s = 0; s < speakers; ++s) {
    trials.enrol_spk.names.push_back(fmt::format("{}", s));
    trials.test_spk.names.push_back(fmt::format("{}", s));
  }
  for (std::uint32_t i = 0; speakers > 0 && i < kTrials; ++i) {
    const std::uint32_t enrol = i / 10 % speakers;
    trials.enrol_spk.index.push_back(enrol);
    trials.test_spk.index.push_back(i % 10 == 0 ? enrol : (enrol + 1 + i % 7) % speakers);
  }
  const ScoreLevels data = MakeLevels(trials);
  VerifyOptions options;
  options.resamples = 1000;
  options.jobs = 1;
  for (auto _ : state) {
    benchmark::DoNotOptimize(Verify(trials, data, options).figures.data());
  }
}
BENCHMARK_CAPTURE(Bootstrap, speakers, 40)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK_CAPTURE(Bootstrap, trials, 0)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace sotto

BENCHMARK_MAIN();
