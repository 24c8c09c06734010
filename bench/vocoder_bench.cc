// Speed of the vocoder's stages on one core, and its quality on the evaluation speech: what copy
// synthesis keeps and how the two F0 methods agree. Times vary with the machine's load; the figures
// of quality do not.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "audio/sound_file.h"
#include "base/random.h"
#include "dsp/aperiodicity.h"
#include "dsp/envelope.h"
#include "dsp/level.h"
#include "dsp/mel_cepstrum_testing.h"
#include "dsp/vocoder.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;

// Every `step`-th recording of the evaluation corpus, or half a minute of synthetic pulses.
std::vector<std::vector<float>> Recordings(std::size_t step) {
  const char* given = std::getenv("SOTTO_SHARED");
  const fs::path folder =
      fs::path(given != nullptr ? given : SOTTO_DEFAULT_SHARED) / "data/speech/libri_eval/wav";
  std::vector<std::vector<float>> recordings;
  if (!fs::exists(folder)) {
    SeededRng rng(1);
    std::vector<float> x(480000);
    double y1 = 0.0, y2 = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double y = (i % 130 == 0 ? 1.0 : 0.0) + 0.01 * rng.Gaussian() + 1.8 * y1 - 0.9025 * y2;
      y2 = y1;
      y1 = y;
      x[i] = static_cast<float>(0.05 * y);
    }
    recordings.push_back(x);
    return recordings;
  }
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (std::size_t i = 0; i < files.size(); i += step) {
    recordings.push_back(ReadSound(files[i]).channels[0]);
  }
  return recordings;
}

// The best of three runs over all recordings, in seconds of one core (other programs do not count).
double Seconds(const std::function<void()>& work) {
  double best = HUGE_VAL;
  for (int run = 0; run < 3; ++run) {
    const std::clock_t start = std::clock();
    work();
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

void Speed(std::span<const std::vector<float>> recordings) {
  // Two minutes are enough.
  double audio_s = 0.0;
  std::size_t count = 0;
  while (count < recordings.size() && audio_s < 120.0) {
    audio_s += static_cast<double>(recordings[count++].size()) / 16000.0;
  }
  recordings = recordings.first(count);
  std::vector<VocoderFrames> frames;
  frames.reserve(recordings.size());
  for (const auto& x : recordings) frames.push_back(Analyse(x, 16000));
  const auto report = [&](const char* stage, double seconds) {
    fmt::print("{:<28} {:8.1f} x real time\n", stage, audio_s / seconds);
    return seconds;
  };
  const auto f0_seconds = [&](F0Method method) {
    return Seconds([&] {
      for (const auto& x : recordings) EstimateF0(x, 16000, {method});
    });
  };
  fmt::print("{:.0f} s of speech at 16 kHz, frames of 5 ms, one core, best of three\n", audio_s);
  const double fast = report("F0 fast", f0_seconds(F0Method::kFast));
  const double robust = report("F0 robust", f0_seconds(F0Method::kRobust));
  // Envelope and aperiodicity alone, on the frames' own F0.
  double sum = 0.0;
  const auto stage = [&](const auto& analyse) {
    return Seconds([&] {
      for (std::size_t i = 0; i < recordings.size(); ++i) {
        std::vector<float> out(frames[i].Bins());
        for (std::size_t t = 0; t < frames[i].Frames(); ++t) {
          analyse(recordings[i], static_cast<std::ptrdiff_t>(80 * t), frames[i].f0_hz[t], out);
          sum += out[1];
        }
      }
    });
  };
  EnvelopeAnalyser envelope(16000, frames[0].fft_size, VocoderOptions().lifter_q1);
  const double envelope_s =
      report("envelope", stage([&](const auto& x, auto centre, double f0, auto& out) {
               envelope.Analyse(x, centre, f0, out);
             }));
  AperiodicityAnalyser aperiodicity(16000, frames[0].fft_size, VocoderOptions().f0_floor_hz);
  const double aperiodicity_s =
      report("aperiodicity", stage([&](const auto& x, auto centre, double f0, auto& out) {
               aperiodicity.Analyse(x, centre, f0, out);
             }));
  const double synthesis = report("synthesis", Seconds([&] {
                                    for (std::size_t i = 0; i < recordings.size(); ++i) {
                                      sum += Synthesise(frames[i], recordings[i].size()).back();
                                    }
                                  }));
  const double rest = envelope_s + aperiodicity_s + synthesis;
  report("together, fast F0", fast + rest);
  report("together, robust F0", robust + rest);
  if (!std::isfinite(sum)) fmt::print("not finite\n");
}

void Quality(const std::vector<std::vector<float>>& recordings) {
  double distortion = 0.0, voiced_distortion = 0.0, worst_level = 0.0, worst_active = 0.0;
  std::size_t both = 0, gross = 0, agree = 0, all = 0;
  std::vector<double> differences;
  for (const auto& x : recordings) {
    const auto frames = Analyse(x, 16000);
    const auto y = Synthesise(frames, x.size());
    const auto mcd = testing::CompareEnvelopes(frames, Analyse(y, 16000));
    distortion += mcd.mean_db;
    voiced_distortion += mcd.mean_voiced_db;
    worst_level = std::max(worst_level, std::abs(RmsDb(y) - RmsDb(x)));
    // P.56 takes loud hum in pauses for activity. The vocoder leaves out what lies below the voice,
    // so on one recording of the corpus (4077-13751-0017) the pauses stop counting: 0.86 dB.
    worst_active = std::max(worst_active, std::abs(ActiveSpeechLevel(y, 16000).active_db -
                                                   ActiveSpeechLevel(x, 16000).active_db));
    const auto robust = EstimateF0(x, 16000, {F0Method::kRobust});
    for (std::size_t t = 0; t < robust.size(); ++t) {
      const bool a = frames.f0_hz[t] > 0.0, b = robust[t] > 0.0;
      ++all;
      agree += a == b ? 1U : 0U;
      if (!a || !b) continue;
      ++both;
      differences.push_back(std::abs(frames.f0_hz[t] / robust[t] - 1.0));
      gross += differences.back() > 0.2 ? 1U : 0U;
    }
  }
  const auto n = static_cast<double>(recordings.size());
  fmt::print(
      "copy synthesis of {} recordings: mel-cepstral distortion {:.2f} dB ({:.2f} voiced), largest "
      "change of "
      "level {:.2f} dB (active speech level {:.2f} dB)\n",
      recordings.size(), distortion / n, voiced_distortion / n, worst_level, worst_active);
  if (differences.empty()) return;
  const auto middle = differences.begin() + static_cast<std::ptrdiff_t>(differences.size() / 2);
  std::nth_element(differences.begin(), middle, differences.end());
  fmt::print(
      "fast and robust F0: gross errors {:.2f} % of {} frames voiced in both, median difference "
      "{:.3f} %, "
      "voicing agrees on {:.1f} %\n",
      100.0 * static_cast<double>(gross) / static_cast<double>(both), both, 100.0 * *middle,
      100.0 * static_cast<double>(agree) / static_cast<double>(all));
}

}  // namespace
}  // namespace sotto

// sotto_vocoder_bench [step]: every step-th recording (default 12; 1: all, some minutes).
int main(int argc, char** argv) {
  const long step = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 12;
  if (step < 1) {
    fmt::print(stderr, "usage: sotto_vocoder_bench [step >= 1]\n");
    return 2;
  }
  const auto recordings = sotto::Recordings(static_cast<std::size_t>(step));
  sotto::Speed(recordings);
  std::fflush(stdout);
  sotto::Quality(recordings);
  return 0;
}
