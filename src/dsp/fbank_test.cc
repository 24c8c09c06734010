#include "dsp/fbank.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "base/error.h"
#include "base/random.h"

namespace sotto {
namespace {

constexpr double kPi = std::numbers::pi;

std::vector<float> Noise(std::size_t n, std::uint64_t seed) {
  SeededRng rng(seed);
  std::vector<float> x(n);
  double low = 0.0;
  for (float& v : x) {
    low = 0.9 * low + rng.Gaussian();
    v = static_cast<float>(0.05 * low + 0.01);
  }
  return x;
}

// Kaldi's rules once more, slowly, in double precision and by the definition of the DFT.
struct Slow {
  FbankOptions o;
  std::vector<double> Cut(const std::vector<float>& x, std::size_t t, double& energy) const {
    const long n = static_cast<long>(x.size()), shift = o.rate_hz / 100, width = o.rate_hz / 40;
    long begin = static_cast<long>(t) * shift;
    if (o.edges == FrameEdges::kMirror) begin += shift / 2 - width / 2;
    std::vector<double> frame(static_cast<std::size_t>(width));
    double mean = 0.0;
    for (long i = 0; i < width; ++i) {
      long at = begin + i;
      if (at < 0) at = -at - 1;
      if (at >= n) at = 2 * n - 1 - at;
      frame[static_cast<std::size_t>(i)] = 32768.0 * x[static_cast<std::size_t>(at)];
      mean += frame[static_cast<std::size_t>(i)] / static_cast<double>(width);
    }
    energy = 0.0;
    for (double& v : frame) {
      v -= mean;
      energy += v * v;
    }
    for (std::size_t i = frame.size(); i-- > 0;) frame[i] -= 0.97 * frame[i > 0 ? i - 1 : 0];
    for (std::size_t i = 0; i < frame.size(); ++i) {
      const double hann =
          0.5 - 0.5 * std::cos(2.0 * kPi * static_cast<double>(i) / static_cast<double>(width - 1));
      frame[i] *= o.window == FrameWindow::kPovey ? std::pow(hann, 0.85) : hann * 0.92 + 0.08;
    }
    return frame;
  }
  std::vector<double> Mel(const std::vector<float>& x, std::size_t t, double& energy) const {
    const std::vector<double> frame = Cut(x, t, energy);
    const int fft = 512;
    const auto mel = [](double hz) { return 1127.0 * std::log(1.0 + hz / 700.0); };
    const double high = o.high_hz > 0.0 ? o.high_hz : 0.5 * o.rate_hz + o.high_hz;
    const double step = (mel(high) - mel(o.low_hz)) / (o.bins + 1);
    std::vector<double> out(static_cast<std::size_t>(o.bins), 0.0);
    for (int k = 0; k < fft / 2; ++k) {
      std::complex<double> sum = 0.0;
      for (std::size_t i = 0; i < frame.size(); ++i) {
        sum += frame[i] * std::polar(1.0, -2.0 * kPi * k * static_cast<double>(i) / fft);
      }
      const double m = mel(static_cast<double>(k) * o.rate_hz / fft);
      for (int b = 0; b < o.bins; ++b) {
        const double left = mel(o.low_hz) + b * step, centre = left + step, right = centre + step;
        if (m <= left || m >= right) continue;
        const double weight = m <= centre ? (m - left) / step : (right - m) / step;
        out[static_cast<std::size_t>(b)] += weight * std::norm(sum);
      }
    }
    for (double& v : out) v = std::log(std::max(v, 1.1920928955078125e-07));
    return out;
  }
};

TEST(Fbank, EqualsTheSlowReference) {
  const std::vector<float> x = Noise(3333, 1);
  for (const FrameEdges edges : {FrameEdges::kMirror, FrameEdges::kSnip}) {
    for (const FrameWindow window : {FrameWindow::kPovey, FrameWindow::kHamming}) {
      Slow slow;
      slow.o = FbankOptions::Encoder();
      slow.o.edges = edges;
      slow.o.window = window;
      const Features fast = LogMel(x, slow.o);
      ASSERT_EQ(fast.frames, edges == FrameEdges::kMirror ? 21U : 19U);
      for (std::size_t t = 0; t < fast.frames; t += 3) {
        double energy = 0.0;
        const auto expected = slow.Mel(x, t, energy);
        for (std::size_t b = 0; b < 80; ++b) {
          ASSERT_NEAR(fast.Frame(t)[b], expected[b], 1e-4) << t << " " << b;
        }
      }
    }
  }
}

TEST(Fbank, MfccEqualsTheSlowReference) {
  const std::vector<float> x = Noise(2000, 2);
  MfccOptions options;
  options.fbank.high_hz = -400.0;
  options.cepstra = 20;
  options.fbank.bins = 30;
  const Slow slow{options.fbank};
  const Features energy_first = Mfcc(x, options);
  options.use_energy = false;
  const Features c0_first = Mfcc(x, options);
  for (std::size_t t = 0; t < c0_first.frames; t += 4) {
    double energy = 0.0;
    const auto mel = slow.Mel(x, t, energy);
    EXPECT_NEAR(energy_first.Frame(t)[0], std::log(energy), 1e-4);
    for (int k = 0; k < 20; ++k) {
      double c = 0.0;
      for (int n = 0; n < 30; ++n) {
        c += mel[static_cast<std::size_t>(n)] * std::cos(kPi / 30.0 * (n + 0.5) * k);
      }
      c *= std::sqrt((k == 0 ? 1.0 : 2.0) / 30.0) * (1.0 + 11.0 * std::sin(kPi * k / 22.0));
      EXPECT_NEAR(c0_first.Frame(t)[static_cast<std::size_t>(k)], c, 2e-3);
    }
  }
}

TEST(Fbank, NumberOfFramesIsKaldis) {
  FbankOptions options;
  EXPECT_EQ(options.Frames(0), 0U);
  EXPECT_EQ(options.Frames(79), 0U);
  EXPECT_EQ(options.Frames(80), 1U);
  EXPECT_EQ(options.Frames(16000), 100U);
  EXPECT_EQ(options.Frames(16079), 100U);
  EXPECT_EQ(options.Frames(16080), 101U);
  options.edges = FrameEdges::kSnip;
  EXPECT_EQ(options.Frames(399), 0U);
  EXPECT_EQ(options.Frames(400), 1U);
  EXPECT_EQ(options.Frames(16000), 98U);
  options.edges = FrameEdges::kCentre;
  EXPECT_EQ(options.Frames(16000), 101U);
  EXPECT_EQ(LogMel({}, options).frames, 0U);
}

TEST(Fbank, AToneFillsItsOwnBinAndSilenceIsTheFloor) {
  std::vector<float> x(16000);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(0.5 * std::sin(2.0 * kPi * 1000.0 * static_cast<double>(i) / 16000));
  }
  const FbankOptions options = FbankOptions::Encoder();
  const Features tone = LogMel(x, options);
  const auto frame = tone.Frame(50);
  const auto top = std::max_element(frame.begin(), frame.end()) - frame.begin();
  const auto mel = [](double hz) { return 1127.0 * std::log(1.0 + hz / 700.0); };
  const double step = (mel(7600) - mel(20)) / 81;
  EXPECT_NEAR(mel(20) + static_cast<double>(top + 1) * step, mel(1000), step);
  const Features silence = LogMel(std::vector<float>(1600, 0.0F), options);
  for (const float v : silence.values) EXPECT_FLOAT_EQ(v, std::log(1.1920929e-7F));
  // DC alone is silence.
  for (const float v : LogMel(std::vector<float>(1600, 0.25F), options).values) EXPECT_LT(v, -5.0F);
}

TEST(Fbank, ASignalShorterThanAFrameIsMirroredAsOftenAsNeeded) {
  const std::vector<float> x = Noise(90, 3);
  std::vector<float> mirrored;
  for (int i = 0; i < 20; ++i) {
    std::vector<float> copy = x;
    if (i % 2 == 0) std::reverse(copy.begin(), copy.end());
    mirrored.insert(mirrored.end(), copy.begin(), copy.end());
  }
  // In `mirrored` the signal stands (unreversed) at 9·90 = 810; frame 0 begins 120 samples before.
  FbankOptions options = FbankOptions::Encoder();
  const Features little = LogMel(x, options);
  ASSERT_EQ(little.frames, 1U);
  options.edges = FrameEdges::kSnip;
  const Features same = LogMel(std::span<const float>(mirrored).subspan(810 - 120, 400), options);
  for (std::size_t b = 0; b < 80; ++b) {
    EXPECT_NEAR(little.Frame(0)[b], same.Frame(0)[b], 1e-4);
  }
}

// A tone of power A²/2 whose frequency is the centre of an FFT bin: the power spectrum of the
// periodic Hamming window is known in closed form (0.54, −0.23 at the neighbours).
TEST(Fbank, SpeechBrainsVariantOnATone) {
  const FbankOptions options = FbankOptions::SpeechBrain();
  std::vector<float> x(16000);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(std::cos(2.0 * kPi * 2000.0 * static_cast<double>(i) / 16000.0));
  }
  const Features db = LogMel(x, options);
  ASSERT_EQ(db.frames, 101U);
  const auto mel = [](double hz) { return 2595.0 * std::log10(1.0 + hz / 700.0); };
  const auto hz = [](double m) { return 700.0 * (std::pow(10.0, m / 2595.0) - 1.0); };
  const double step = mel(8000) / 81;
  float largest = -1000.0F;
  for (const float v : db.values) largest = std::max(largest, v);
  for (int b = 0; b < 80; ++b) {
    const double centre = hz(step * (b + 1)), band = centre - hz(step * b);
    double e = 0.0;
    for (int k = 49; k <= 51; ++k) {
      const double amplitude = 200.0 * (k == 50 ? 0.54 : 0.23);
      e += std::max(0.0, 1.0 - std::abs(40.0 * k - centre) / band) * amplitude * amplitude;
    }
    const double expected = std::max<double>(10.0 * std::log10(std::max(e, 1e-10)), largest - 80.0);
    EXPECT_NEAR(db.Frame(50)[static_cast<std::size_t>(b)], expected, 1e-2) << b;
  }
}

// Triangles four FFT bins to a side: an impulse's flat spectrum gives each the same energy, 4·a²,
// and a cosine on a filter's middle gives that filter alone energy, (a·n/2)².
TEST(Fbank, LfccOfAnImpulseIsOneNumberAndOfAToneOneFilter) {
  MfccOptions options;
  options.fbank.window_ms = 32.0;
  options.fbank.window = FrameWindow::kRectangular;
  options.fbank.edges = FrameEdges::kSnip;
  options.fbank.preemphasis = 0.0;
  options.fbank.remove_dc = false;
  options.fbank.scale = 1.0;
  options.fbank.low_hz = 0.0;
  options.fbank.mel = MelScale::kLinear;
  options.fbank.bins = 63;
  options.cepstra = 30;
  options.lifter = 0.0;
  options.use_energy = false;
  std::vector<float> impulse(512), tone(512);
  impulse[7] = 0.5F;
  const Features flat = Mfcc(impulse, options);
  ASSERT_EQ(flat.frames, 1U);
  EXPECT_NEAR(flat.Frame(0)[0], std::sqrt(63.0) * std::log(4.0 * 0.25), 1e-4);
  for (std::size_t k = 1; k < 30; ++k) EXPECT_NEAR(flat.Frame(0)[k], 0.0, 1e-4) << k;

  const int filter = 20;
  for (std::size_t i = 0; i < tone.size(); ++i) {
    tone[i] = static_cast<float>(
        0.5 * std::cos(2.0 * kPi * 4 * (filter + 1) * static_cast<double>(i) / 512.0));
  }
  const Features one = Mfcc(tone, options);
  const double floor = std::log(1.1920929e-7), peak = 2.0 * std::log(0.5 * 256.0) - floor;
  for (int k = 1; k < 30; ++k) {
    EXPECT_NEAR(one.Frame(0)[static_cast<std::size_t>(k)],
                std::sqrt(2.0 / 63.0) * peak * std::cos(kPi / 63.0 * (filter + 0.5) * k), 2e-3)
        << k;
  }
}

TEST(Fbank, DeltasOfALineAreItsSlope) {
  Features line{1, 20, {}};
  for (int t = 0; t < 20; ++t) line.values.push_back(static_cast<float>(3 * t));
  const Features out = AddDeltas(line);
  ASSERT_EQ(out.dimension, 3U);
  for (std::size_t t = 4; t < 16; ++t) {
    EXPECT_NEAR(out.Frame(t)[0], 3.0 * static_cast<double>(t), 1e-5);
    EXPECT_NEAR(out.Frame(t)[1], 3.0, 1e-5);
    EXPECT_NEAR(out.Frame(t)[2], 0.0, 1e-5);
  }
  // At the start frame 0 stands for −1 and −2: (1·3 + 2·6)/10.
  EXPECT_NEAR(out.Frame(0)[1], 1.5, 1e-5);
}

TEST(Fbank, SlidingNormalisationEqualsTheDefinition) {
  SeededRng rng(5);
  Features x{2, 50, {}};
  for (int i = 0; i < 100; ++i) x.values.push_back(static_cast<float>(rng.Gaussian()));
  for (const int window : {7, 10, 300}) {
    Features fast = x;
    NormaliseSliding(fast, window, true);
    for (int t = 0; t < 50; ++t) {
      int begin = t - window / 2, end = begin + window;
      if (begin < 0) end -= begin, begin = 0;
      if (end > 50) begin -= end - 50, end = 50;
      begin = std::max(begin, 0);
      for (std::size_t i = 0; i < 2; ++i) {
        double mean = 0.0, squares = 0.0;
        const double n = end - begin;
        for (int s = begin; s < end; ++s) mean += x.Frame(static_cast<std::size_t>(s))[i] / n;
        for (int s = begin; s < end; ++s) {
          squares += std::pow(x.Frame(static_cast<std::size_t>(s))[i] - mean, 2) / n;
        }
        const auto at = static_cast<std::size_t>(t);
        EXPECT_NEAR(fast.Frame(at)[i], (x.Frame(at)[i] - mean) / std::sqrt(squares), 1e-4);
      }
    }
  }
  Features whole = x, sliding = x;
  NormaliseUtterance(whole);
  NormaliseSliding(sliding, 50);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_NEAR(whole.values[i], sliding.values[i], 1e-5);
}

TEST(Fbank, VadKeepsTheLoudHalf) {
  Features mfcc{2, 8, {20, 0, 20, 0, 5, 0, 5, 0, 20, 0, 5, 0, 20, 0, 20, 0}};
  // Mean 13.75 gives a threshold of 11.875.
  const std::vector<bool> expected = {true, true, false, false, true, false, true, true};
  EXPECT_EQ(EnergyVad(mfcc), expected);
  EXPECT_EQ(SelectFrames(mfcc, expected).frames, 5U);
  VadOptions context;
  context.context = 1;
  const std::vector<bool> smoothed = {true, true, false, false, false, true, true, true};
  EXPECT_EQ(EnergyVad(mfcc, context), smoothed);
}

TEST(Fbank, AStreamHasTheFramesOfTheWholeAsSoonAsTheyCanBe) {
  const FbankOptions options = FbankOptions::Encoder();
  for (const std::size_t n : {0U, 79U, 80U, 150U, 500U, 4801U}) {
    const std::vector<float> x = Noise(n, 3);
    const Features whole = LogMel(x, options);
    for (const std::size_t step : {1U, 100U, 160U, 777U}) {
      LogMelStream stream(options);
      std::vector<float> values;
      const auto take = [&](const Features& f) {
        values.insert(values.end(), f.values.begin(), f.values.end());
      };
      for (std::size_t at = 0; at < n; at += step) {
        const std::size_t end = std::min(n, at + step);
        take(stream.Push(std::span(x).subspan(at, end - at)));
        EXPECT_EQ(values.size() / 80, end < 280 ? 0 : (end - 280) / 160 + 1);
      }
      take(stream.Finish());
      EXPECT_EQ(values, whole.values) << n << " by " << step;
    }
  }
  EXPECT_THROW(LogMelStream{FbankOptions::SpeechBrain()}, Error);
}

TEST(Fbank, ImpossibleOptionsAreRefused) {
  FbankOptions options;
  options.high_hz = 9000.0;
  EXPECT_THROW(LogMel({}, options), Error);
  options = {};
  options.fft_size = 256;
  EXPECT_THROW(LogMel({}, options), Error);
  MfccOptions mfcc;
  mfcc.cepstra = 24;
  EXPECT_THROW(Mfcc({}, mfcc), Error);
}

}  // namespace
}  // namespace sotto
