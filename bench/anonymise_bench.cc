// Speed and memory of the McAdams transformer: file to file on one core, against the plain version
// with companion-matrix roots in the same run, and with two jobs. Ends with the ratios, which are
// what a noisy machine can say.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "audio/sound_file.h"
#include "base/random.h"
#include "release/anonymise.h"
#include "voice/mcadams.h"
#include "voice/method_table.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;

// A minute of real speech when it is there, else pulses through a slowly moving resonance.
std::vector<float> Minute() {
  const char* given = std::getenv("SOTTO_SHARED");
  const fs::path folder =
      fs::path(given != nullptr ? given : SOTTO_DEFAULT_SHARED) / "data/speech/libri_eval/wav";
  std::vector<float> x;
  if (fs::exists(folder)) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (std::size_t i = 0; i < files.size() && x.size() < 960000; ++i) {
      const Sound sound = ReadSound(files[i]);
      x.insert(x.end(), sound.channels[0].begin(), sound.channels[0].end());
    }
  } else {
    SeededRng rng(1);
    double y1 = 0.0, y2 = 0.0;
    for (std::size_t i = 0; i < 960000; ++i) {
      const double hz = 800.0 + 500.0 * std::sin(1e-4 * static_cast<double>(i));
      const double y = (i % 130 == 0 ? 1.0 : 0.0) + 0.01 * rng.Gaussian() +
                       1.9 * std::cos(2.0 * M_PI * hz / 16000.0) * y1 - 0.9025 * y2;
      y2 = y1;
      y1 = y;
      x.push_back(static_cast<float>(0.05 * y));
    }
  }
  x.resize(960000);
  return x;
}

const std::vector<float>& Speech() {
  static const std::vector<float> speech = Minute();
  return speech;
}

void ReportSpeed(benchmark::State& state, double audio_seconds) {
  state.counters["times_real_time"] =
      benchmark::Counter(audio_seconds, benchmark::Counter::kIsIterationInvariantRate);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_rss_mb"] = static_cast<double>(usage.ru_maxrss) / 1024.0;
}

void InMemory(benchmark::State& state, bool companion) {
  McAdamsOptions options;
  options.use_companion_roots = companion;
  std::vector<float> out;
  for (auto _ : state) {
    out.clear();
    const auto transformer = MakeMcAdams(16000, options);
    transformer->Push(Speech(), out);
    transformer->Finish(out);
    benchmark::DoNotOptimize(out.data());
  }
  ReportSpeed(state, 60.0);
}

// A folder of WAV files on the usual temporary file system.
class WavFolder {
 public:
  explicit WavFolder(int files)
      : path_(fs::temp_directory_path() / fmt::format("sotto-bench-{}", ::getpid())) {
    fs::create_directories(path_ / "in");
    for (int i = 0; i < files; ++i) {
      WriteSound(path_ / fmt::format("in/{}.wav", i),
                 {{16000, 1, Container::kWav, SampleFormat::kInt16}, {Speech()}});
    }
  }
  WavFolder(const WavFolder&) = delete;
  WavFolder& operator=(const WavFolder&) = delete;
  ~WavFolder() { fs::remove_all(path_); }
  const fs::path& Path() const { return path_; }

 private:
  fs::path path_;
};

void FileToFile(benchmark::State& state) {
  const WavFolder folder(1);
  AnonymiseOptions options;
  options.Use("mcadams");
  options.in = folder.Path() / "in/0.wav";
  options.out = folder.Path() / "out.wav";
  options.replace = true;
  for (auto _ : state) Anonymise(options, "bench");
  ReportSpeed(state, 60.0);
}

void Corpus(benchmark::State& state) {
  constexpr int kFiles = 8;
  const WavFolder folder(kFiles);
  AnonymiseOptions options;
  options.Use("mcadams");
  options.in = folder.Path() / "in";
  options.out = folder.Path() / "out";
  options.jobs = static_cast<int>(state.range(0));
  for (auto _ : state) {
    Anonymise(options, "bench");
    state.PauseTiming();
    fs::remove_all(options.out);
    state.ResumeTiming();
  }
  ReportSpeed(state, 60.0 * kFiles);
}

BENCHMARK_CAPTURE(InMemory, fast, false)->Unit(benchmark::kMillisecond);
// Analysis, warp and synthesis of the methods that go through the vocoder, on one core.
void Vocoded(benchmark::State& state, const char* name, F0Method f0) {
  VoiceOptions options;
  options.Use(name);
  options.Set("f0", f0 == F0Method::kRobust ? "robust" : "fast");
  const auto method = MakeVoiceMethod(options, TargetDraws(Key::ForExperiment(ExperimentKey(1)),
                                                           Strategy::kPerm, options.MethodName()));
  if (method->NeedsFit()) {
    VoiceModelBuilder builder;
    builder.Add(Analyse(std::span(Speech()).first(320000), 16000));
    ModelledVoices modelled;
    modelled.voices = {builder.Build("s", Gender::kUnknown)};
    method->Fit(SourceVoices(std::move(modelled)));
  }
  std::vector<float> out;
  for (auto _ : state) {
    out.clear();
    const auto transformer = method->MakeTransformer(16000, 1.0, "s", "u");
    transformer->Push(Speech(), out);
    transformer->Finish(out);
    benchmark::DoNotOptimize(out.data());
  }
  ReportSpeed(state, 60.0);
}

BENCHMARK_CAPTURE(Vocoded, voicemask_fast, "voicemask", F0Method::kFast)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Vocoded, voicemask_robust, "voicemask", F0Method::kRobust)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Vocoded, vtln_fast, "vtln", F0Method::kFast)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(InMemory, companion, true)->Unit(benchmark::kMillisecond);
BENCHMARK(FileToFile)->Unit(benchmark::kMillisecond);
BENCHMARK(Corpus)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

// Prints as usual and remembers the times.
class Ratios : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs) times_[run.benchmark_name()] = run.GetAdjustedRealTime();
  }
  void Print(const char* title, const std::string& slow, const std::string& fast) const {
    const auto a = times_.find(slow), b = times_.find(fast);
    if (a != times_.end() && b != times_.end())
      fmt::print("{}: {:.2f}\n", title, a->second / b->second);
  }

 private:
  std::map<std::string, double> times_;
};

}  // namespace
}  // namespace sotto

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  sotto::Ratios ratios;
  benchmark::RunSpecifiedBenchmarks(&ratios);
  ratios.Print("companion matrix / root tracker, time", "InMemory/companion", "InMemory/fast");
  ratios.Print("file to file / in memory, time", "FileToFile", "InMemory/fast");
  ratios.Print("2 jobs / 1 job, throughput", "Corpus/1/real_time", "Corpus/2/real_time");
  return 0;
}
