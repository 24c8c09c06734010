// Lesson 1: what a vocoder sees. A voice whose pitch falls, then a hiss, are taken apart into F0,
// spectral envelope and aperiodicity and put together again.
//
//   01_what_a_vocoder_sees [OUT.svg]
#include <fmt/format.h>

#include <cmath>
#include <exception>

#include "base/random.h"
#include "dsp/level.h"
#include "dsp/vocoder.h"
#include "speech.h"
#include "svg.h"

namespace sotto::examples {
namespace {

constexpr int kRate = 16000;
constexpr Formants kAh = {700, 1200, 2500, 3500};

double FallingPitch(double s) { return 160.0 - 60.0 * s; }

double MeanAperiodicity(const VocoderFrames& frames, std::size_t t) {
  double sum = 0.0;
  for (const float a : frames.Aperiodicity(t)) sum += a;
  return sum / static_cast<double>(frames.Bins());
}

void Run(const std::string& out) {
  auto x = Vowel(1.0, FallingPitch, kAh);
  SeededRng rng(1);  // a lesson, no protection: the same hiss every time
  for (int i = 0; i < kRate / 2; ++i) x.push_back(static_cast<float>(0.02 * rng.Gaussian()));

  const VocoderFrames frames = Analyse(x, kRate);
  const auto copy = Synthesise(frames, x.size());
  const double bin_hz = static_cast<double>(kRate) / static_cast<double>(frames.fft_size);
  const std::size_t vowel = 100, hiss = 250;  // frames: 0.5 s and 1.25 s
  const auto envelope = frames.Envelope(vowel);

  fmt::print("One second of \"ah\" and half a second of hiss, {} frames of 5 ms.\n\n",
             frames.Frames());
  fmt::print(
      "1. F0, how fast the voice swings. At 0.5 s it is {:.1f} Hz; the voice was made with "
      "{:.1f} Hz.\n   In the hiss it is {:.0f}: unvoiced.\n",
      frames.f0_hz[vowel], FallingPitch(0.5), frames.f0_hz[hiss]);
  fmt::print(
      "2. The envelope, the shape of the mouth without the pitch. Its peaks are the "
      "formants:\n   {:.0f} and {:.0f} Hz, made with {:.0f} and {:.0f}.\n",
      PeakHz(envelope, bin_hz, 400, 950), PeakHz(envelope, bin_hz, 950, 1700), kAh[0], kAh[1]);
  fmt::print(
      "3. Aperiodicity, the share of noise from 0 to 1: {:.2f} in the vowel, {:.2f} in the "
      "hiss.\n",
      MeanAperiodicity(frames, vowel), MeanAperiodicity(frames, hiss));
  fmt::print("4. Put together again: {} samples as before, level {:+.2f} dB.\n\n", copy.size(),
             RmsDb(copy) - RmsDb(x));
  fmt::print(
      "Look at {}: F0 falls along a line and stops at 1 s; the envelope of the vowel is\n"
      "smooth although its spectrum is a comb of harmonics. A transformer that changes the\n"
      "envelope changes who speaks, and leaves what is said.\n",
      out);

  Svg svg(900, 320);
  const Axes left{60, 40, 380, 220, 0, 1.5, 60, 200};
  svg.Frame(left, "F0: the pitch", "seconds", "Hz", {0, 0.5, 1, 1.5}, {80, 120, 160});
  Points voiced;
  for (std::size_t t = 0; t < frames.Frames(); ++t) {
    if (frames.f0_hz[t] > 0.0) voiced.emplace_back(0.005 * static_cast<double>(t), frames.f0_hz[t]);
  }
  svg.Line(left, voiced, "#0b6");
  const Axes right{500, 40, 380, 220, 0, 8000, -90, 0};
  svg.Frame(right, "Envelope: vowel (blue), hiss (grey)", "Hz", "dB", {0, 2000, 4000, 6000, 8000},
            {-80, -60, -40, -20});
  for (const std::size_t t : {hiss, vowel}) {
    Points curve;
    for (std::size_t k = 0; k < frames.Bins(); ++k) {
      curve.emplace_back(static_cast<double>(k) * bin_hz,
                         std::max(-90.0, 10.0 * std::log10(frames.Envelope(t)[k] + 1e-12)));
    }
    svg.Line(right, curve, t == vowel ? "#05c" : "#999");
  }
  svg.Write(out);
}

}  // namespace
}  // namespace sotto::examples

int main(int argc, char** argv) {
  try {
    sotto::examples::Run(argc > 1 ? argv[1] : "01_what_a_vocoder_sees.svg");
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
