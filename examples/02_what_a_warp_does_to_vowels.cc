// Lesson 2: what a warp does to vowels. Three vowels go through the two warps that Sotto's
// transformers use, and their formants move in the plane in which phoneticians draw vowels.
//
//   02_what_a_warp_does_to_vowels [OUT.svg]
#include <fmt/format.h>

#include <exception>

#include "dsp/vocoder.h"
#include "dsp/warp.h"
#include "speech.h"
#include "svg.h"

namespace sotto::examples {
namespace {

constexpr int kRate = 16000;

struct NamedVowel {
  const char* name;
  Formants formants;
};
constexpr NamedVowel kVowels[] = {{"i (see)", {300, 2300, 3000, 3700}},
                                  {"a (father)", {730, 1150, 2450, 3500}},
                                  {"u (boot)", {320, 850, 2250, 3300}}};

struct Place {
  double f1, f2;
};

// The first two peaks of the vowel in frame 40, each looked for around where it should be.
Place Measure(const VocoderFrames& frames, const Place& expected) {
  const double bin_hz = static_cast<double>(kRate) / static_cast<double>(frames.fft_size);
  const auto envelope = frames.Envelope(40);
  const double middle = 0.5 * (expected.f1 + expected.f2);
  return {PeakHz(envelope, bin_hz, 0.6 * expected.f1, std::min(1.5 * expected.f1, middle)),
          PeakHz(envelope, bin_hz, std::max(0.75 * expected.f2, middle), 1.3 * expected.f2)};
}

using Warp = std::function<double(double)>;

double WarpHz(const Warp& warp, double hz) {
  return warp(hz / kWarpTopHz * std::numbers::pi) / std::numbers::pi * kWarpTopHz;
}

// The vowel with its envelopes warped, synthesised and analysed again.
Place After(const std::vector<float>& x, const Warp& warp, const Place& before) {
  VocoderFrames frames = Analyse(x, kRate);
  const SpectrumWarp ready(frames.Bins(), kRate / 2.0, warp);
  std::vector<float> scratch(frames.Bins());
  for (std::size_t t = 0; t < frames.Frames(); ++t) {
    const auto envelope = frames.Envelope(t);
    std::copy(envelope.begin(), envelope.end(), scratch.begin());
    ready.Apply(scratch, envelope);
  }
  const auto y = Synthesise(frames, x.size());
  return Measure(Analyse(y, kRate), {WarpHz(warp, before.f1), WarpHz(warp, before.f2)});
}

void Run(const std::string& out) {
  struct NamedWarp {
    const char* name;
    const char* colour;
    Warp warp;
  };
  const NamedWarp warps[] = {
      {"VTLN, a = 0.10", "#c50", [](double w) { return PowerWarp(w, 0.10); }},
      {"VTLN, a = -0.10", "#05c", [](double w) { return PowerWarp(w, -0.10); }},
      {"VoiceMask, alpha = 0.09, beta = -0.1", "#0a5",
       [](double w) { return VoiceMaskWarp(w, 0.09, -0.1); }}};
  Svg svg(620, 520);
  const Axes plane{70, 40, 520, 400, 3000, 500, 1050, 200};
  svg.Frame(plane, "Vowels and where the warps move them", "F2 (Hz)", "F1 (Hz)", {3000, 2000, 1000},
            {1000, 600, 200});
  fmt::print("{:<12} {:<38} {:>14} {:>14}\n", "vowel", "warp", "F1 (Hz)", "F2 (Hz)");
  for (const NamedVowel& vowel : kVowels) {
    const auto x = Vowel(
        0.4, [](double) { return 120.0; }, vowel.formants);
    const Place before = Measure(Analyse(x, kRate), {vowel.formants[0], vowel.formants[1]});
    for (const NamedWarp& w : warps) {
      const Place after = After(x, w.warp, before);
      fmt::print("{:<12} {:<38} {:>5.0f} -> {:>5.0f} {:>5.0f} -> {:>5.0f}\n", vowel.name, w.name,
                 before.f1, after.f1, before.f2, after.f2);
      svg.Line(plane, {{before.f2, before.f1}, {after.f2, after.f1}}, w.colour, 2.0);
      svg.Point(plane, after.f2, after.f1, w.colour);
    }
    svg.Point(plane, before.f2, before.f1, "black", vowel.name);
  }
  double y = 470;
  for (const NamedWarp& w : warps) {
    svg.Words(90, y, fmt::format("<tspan fill='{}'>&#9679;</tspan> {}", w.colour, w.name), "start");
    y += 16;
  }
  svg.Write(out);
  fmt::print(
      "\nLook at {}: every warp moves all three vowels the same way, as a longer or a shorter\n"
      "vocal tract would, so the triangle keeps its shape and the words survive. But who knows "
      "the\n"
      "warp can undo it: privacy comes from which warp is drawn, and an attacker may try them "
      "all.\n",
      out);
}

}  // namespace
}  // namespace sotto::examples

int main(int argc, char** argv) {
  try {
    sotto::examples::Run(argc > 1 ? argv[1] : "02_what_a_warp_does_to_vowels.svg");
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
