#include "voice/mcadams.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>

#include "audio/resampler.h"
#include "audio/sound_file.h"
#include "audio/testing.h"
#include "base/error.h"
#include "base/testing.h"
#include "dsp/level.h"
#include "dsp/lpc.h"
#include "dsp/polynomial_roots.h"
#include "voice/vocoder_transformer.h"

namespace sotto {
namespace {

using testing::SyntheticVowel;

std::vector<float> Transform(std::span<const float> x, int rate_hz, const McAdamsOptions& options,
                             std::size_t chunk = 1 << 20) {
  const auto transformer = MakeMcAdams(rate_hz, options);
  std::vector<float> y;
  for (std::size_t i = 0; i < x.size(); i += chunk) {
    transformer->Push(x.subspan(i, std::min(chunk, x.size() - i)), y);
  }
  transformer->Finish(y);
  return y;
}

std::vector<float> Transform(std::span<const float> x, int rate_hz, double alpha) {
  McAdamsOptions options;
  options.alpha = alpha;
  return Transform(x, rate_hz, options);
}

double SnrDb(std::span<const float> x, std::span<const float> y) {
  double signal = 0.0, noise = 1e-30;
  for (std::size_t i = 0; i < x.size(); ++i) {
    signal += static_cast<double>(x[i]) * x[i];
    noise += (static_cast<double>(x[i]) - y[i]) * (static_cast<double>(x[i]) - y[i]);
  }
  return 10.0 * std::log10(signal / noise);
}

// The sharpest resonance within 20 % of `near_hz`, by linear prediction of the whole signal brought
// to 16 kHz (8 kHz where it has no more).
double ResonanceHz(std::span<const float> x, int rate_hz, double near_hz) {
  const int low_rate = std::min(rate_hz, 16000);
  const auto low = Resample(x, rate_hz, low_rate);
  const std::vector<double> signal(low.begin(), low.end());
  std::vector<double> r(static_cast<std::size_t>(low_rate / 800) + 5);
  Autocorrelate(signal, r);
  double found = 0.0, sharpest = 0.0;
  for (const auto& pole : CompanionRoots(LevinsonDurbin(r).a).pairs) {
    const double hz = std::arg(pole) * low_rate / (2.0 * M_PI);
    if (std::abs(hz / near_hz - 1.0) > 0.2 || std::abs(pole) < sharpest) continue;
    sharpest = std::abs(pole);
    found = hz;
  }
  return found;
}

class McAdamsRate : public ::testing::TestWithParam<int> {};

TEST_P(McAdamsRate, AlphaOneIsTheIdentity) {
  const int rate = GetParam();
  const auto x = SyntheticVowel(1.0, rate);
  EXPECT_GT(SnrDb(x, Transform(x, rate, 1.0)), 90.0);
  EXPECT_GT(SnrDb(x, Transform(x, rate, 0.9999)), 40.0);
}

TEST_P(McAdamsRate, NumberOfSamplesNeverChanges) {
  const int rate = GetParam();
  for (const std::size_t n : {1U, 2U, 159U, 160U, 161U, 320U, 481U, 4799U}) {
    EXPECT_EQ(Transform(std::vector<float>(n, 0.1F), rate, 0.7).size(), n);
  }
  EXPECT_TRUE(Transform(std::vector<float>{}, rate, 0.7).empty());
}

TEST_P(McAdamsRate, FormantsLandWhereTheFormulaSays) {
  const int rate = GetParam();
  const std::vector<double> formants = {700, 1220, 2600};
  const auto x = SyntheticVowel(4.0, rate, 100.0, formants, false);
  for (const double alpha : {0.6, 0.8, 0.9}) {
    const auto y = Transform(x, rate, alpha);
    for (const double formant : formants) {
      ASSERT_NEAR(ResonanceHz(x, rate, formant) / formant, 1.0, 0.03);
      const double wanted =
          McAdamsAngle(2.0 * M_PI * formant / rate, alpha, rate) * rate / (2.0 * M_PI);
      EXPECT_NEAR(ResonanceHz(y, rate, wanted) / wanted, 1.0, 0.03)
          << formant << " Hz, alpha " << alpha << ", rate " << rate;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rates, McAdamsRate,
                         ::testing::Values(8000, 11025, 16000, 22050, 44100, 48000));

TEST(McAdams, PivotIsTheSameAtEveryRate) {
  // At alpha 0.8, 500 Hz goes to 692 Hz: 2546·(500/2546)^0.8.
  for (const int rate : {8000, 16000, 48000}) {
    const double angle = McAdamsAngle(2.0 * M_PI * 500.0 / rate, 0.8, rate);
    EXPECT_NEAR(angle * rate / (2.0 * M_PI), 692.3, 0.5) << rate;
    const double pivot = 2.0 * M_PI * (16000.0 / (2.0 * M_PI)) / rate;
    EXPECT_NEAR(McAdamsAngle(pivot, 0.6, rate), pivot, 1e-12);
  }
  EXPECT_NEAR(McAdamsAngle(1.0, 0.7, 16000), 1.0, 1e-12);
  EXPECT_LT(McAdamsAngle(3.1, 1.5, 16000), M_PI);
}

TEST(McAdams, OrderFollowsTheRateUpTo60) {
  EXPECT_EQ(McAdamsOrder(8000), 10);
  EXPECT_EQ(McAdamsOrder(16000), 20);
  EXPECT_EQ(McAdamsOrder(44100), 55);
  EXPECT_EQ(McAdamsOrder(48000), 60);
}

TEST(McAdams, AbsurdAlphaIsRefused) {
  for (const double alpha : {0.0, -1.0, 5.0, std::nan("")}) {
    McAdamsOptions options;
    options.alpha = alpha;
    EXPECT_THROW(MakeMcAdams(16000, options), Error) << alpha;
  }
}

TEST(McAdams, OddSignalsStayFiniteAndInRange) {
  const std::size_t n = 16000;
  std::vector<std::vector<float>> signals(8, std::vector<float>(n, 0.0F));
  SeededRng rng(5);
  for (std::size_t i = 0; i < n; ++i) {
    signals[1][i] = 0.5F;                                    // DC
    signals[2][i] = 1.0F;                                    // DC at full scale
    signals[3][i] = i % 80 < 40 ? 1.0F : -1.0F;              // clipped square
    signals[4][i] = std::sin(0.3F * static_cast<float>(i));  // pure tone
    signals[5][i] = i == 5000 ? 1.0F : 0.0F;                 // one click
    signals[6][i] = i % 2 == 0 ? 1.0F : -1.0F;               // Nyquist
    signals[7][i] = std::clamp(static_cast<float>(3.0 * rng.Gaussian()), -1.0F, 1.0F);
  }
  for (std::size_t s = 0; s < signals.size(); ++s) {
    for (const double alpha : {0.5, 0.8, 1.2}) {
      const auto y = Transform(signals[s], 16000, alpha);
      for (const float v : y) {
        ASSERT_TRUE(std::isfinite(v)) << s;
        ASSERT_LE(std::abs(v), 1.0F + 1e-6F) << s;
      }
    }
  }
  for (const float v : Transform(signals[0], 16000, 0.8))
    EXPECT_EQ(v, 0.0F);  // silence stays silence
}

TEST(McAdams, FloatSignalsAboveFullScaleAreNotHeld) {
  auto x = SyntheticVowel(0.5, 16000);
  for (float& v : x) v *= 8.0F;
  McAdamsOptions options;
  options.alpha = 1.0;
  options.peak_limit = std::numeric_limits<double>::infinity();
  EXPECT_GT(SnrDb(x, Transform(x, 16000, options)), 90.0);
}

TEST(McAdams, ResultDoesNotDependOnTheSizeOfThePieces) {
  const auto x = SyntheticVowel(0.7, 16000);
  McAdamsOptions options;
  const auto whole = Transform(x, 16000, options);
  for (const std::size_t chunk : {1U, 7U, 160U, 1000U}) {
    EXPECT_EQ(Transform(x, 16000, options, chunk), whole) << chunk;
  }
}

TEST(McAdams, LatencyIsAsStated) {
  for (const int rate : {8000, 16000, 22050, 48000}) {
    const auto transformer = MakeMcAdams(rate, {});
    const std::size_t latency = transformer->LatencySamples();
    EXPECT_LE(static_cast<double>(latency) / rate, 0.030);
    std::vector<float> y;
    const std::vector<float> one = {0.1F};
    for (std::size_t pushed = 1; pushed <= static_cast<std::size_t>(rate); ++pushed) {
      transformer->Push(one, y);
      ASSERT_GE(y.size() + latency, pushed);
    }
  }
}

// The power of a steady signal, modulated at the hop rate (100 Hz), in dB relative to its mean.
double HopModulationDb(std::span<const float> x, int rate_hz) {
  std::complex<double> sum = 0.0;
  double mean = 0.0;
  for (std::size_t i = x.size() / 10; i < x.size() - x.size() / 10; ++i) {
    const double power = static_cast<double>(x[i]) * x[i];
    mean += power;
    sum += power * std::polar(1.0, -2.0 * M_PI * 100.0 * static_cast<double>(i) / rate_hz);
  }
  return 20.0 * std::log10(2.0 * std::abs(sum) / mean);
}

TEST(McAdams, FrameBordersDoNotClick) {
  // A steady vowel whose pitch has no harmonic at the hop rate. Measured: −31 dB (α = 0.5) to −37
  // dB (0.9), 0.2 dB of ripple in level at most; the vowel itself has −60 dB there.
  const auto vowel = SyntheticVowel(10.0, 16000, 127.3, {700, 1220, 2600, 3500}, false);
  ASSERT_LT(HopModulationDb(vowel, 16000), -50.0);
  for (const double alpha : {0.5, 0.6, 0.7, 0.8, 0.9}) {
    EXPECT_LT(HopModulationDb(Transform(vowel, 16000, alpha), 16000), -28.0) << alpha;
  }
}

class RealSpeech : public ::testing::Test {
 protected:
  // Every n-th recording of the evaluation corpus.
  static std::vector<std::filesystem::path> Some(std::size_t step) {
    std::vector<std::filesystem::path> files, some;
    for (const auto& entry : std::filesystem::directory_iterator(testing::SharedFolder() /
                                                                 "data/speech/libri_eval/wav")) {
      files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (std::size_t i = 0; i < files.size(); i += step) some.push_back(files[i]);
    return some;
  }
};

TEST_F(RealSpeech, ActiveLevelIsKeptWithinHalfADecibel) {
  SOTTO_NEEDS_SHARED("data/speech/libri_eval/wav");
  for (const auto& file : Some(11)) {
    const Sound sound = ReadSound(file);
    const double before = ActiveSpeechLevel(sound.channels[0], 16000).active_db;
    for (const double alpha : {0.5, 0.7, 0.9}) {
      const auto y = Transform(sound.channels[0], 16000, alpha);
      EXPECT_NEAR(ActiveSpeechLevel(y, 16000).active_db, before, 0.5) << file << " " << alpha;
    }
  }
}

TEST_F(RealSpeech, FastRootsAgreeWithTheCompanionMatrix) {
  SOTTO_NEEDS_SHARED("data/speech/libri_eval/wav");
  for (const auto& file : Some(23)) {
    const Sound sound = ReadSound(file);
    for (const int rate : {16000, 48000}) {
      auto x = Resample(sound.channels[0], 16000, rate);
      x.resize(std::min<std::size_t>(x.size(), static_cast<std::size_t>(2 * rate)));
      for (const double alpha : {0.5, 0.8}) {
        McAdamsOptions options;
        options.alpha = alpha;
        const auto fast = Transform(x, rate, options);
        options.use_companion_roots = true;
        const auto oracle = Transform(x, rate, options);
        float largest = 0.0F;
        for (std::size_t i = 0; i < x.size(); ++i) {
          largest = std::max(largest, std::abs(fast[i] - oracle[i]));
        }
        EXPECT_LT(largest, 1e-4F) << file << " " << rate << " " << alpha;
      }
    }
  }
}

TEST_F(RealSpeech, AlphaOneIsTheIdentity) {
  SOTTO_NEEDS_SHARED("data/speech/libri_eval/wav");
  for (const auto& file : Some(60)) {
    const Sound sound = ReadSound(file);
    EXPECT_GT(SnrDb(sound.channels[0], Transform(sound.channels[0], 16000, 1.0)), 90.0);
    const auto high = Resample(sound.channels[0], 16000, 48000);
    EXPECT_GT(SnrDb(high, Transform(high, 48000, 1.0)), 90.0);
  }
}

TEST(Resampled, HoldsTheCallersPeakLimitWhateverTheConvertersAdd) {
  // A clipped chord: the converters ring where it is cut off.
  for (const int rate : {8000, 64000, 192000}) {
    std::vector<float> x(static_cast<std::size_t>(2 * rate));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double t = static_cast<double>(i) / rate;
      const double chord = std::sin(2.0 * M_PI * 220.0 * t) + std::sin(2.0 * M_PI * 1870.0 * t);
      x[i] = static_cast<float>(std::clamp(3.0 * chord, -1.0, 1.0));
    }
    for (const double limit : {0.5, 1.0}) {
      std::vector<std::unique_ptr<StreamTransformer>> both;
      both.push_back(MakeMcAdams(rate, {.alpha = 0.7, .peak_limit = limit}));
      both.push_back(MakeVocoderTransformer(rate, PitchEditor(PitchMap()), {.peak_limit = limit}));
      for (const auto& transformer : both) {
        std::vector<float> y;
        transformer->Push(x, y);
        transformer->Finish(y);
        ASSERT_EQ(y.size(), x.size());
        for (const float v : y) ASSERT_LE(std::abs(v), limit) << rate;
      }
    }
  }
}

TEST(Resampled, AboveFortyEightKilohertzTheLengthAndTheVowelStay) {
  for (const int rate : {64000, 88200, 96000, 192000}) {
    const auto x = SyntheticVowel(0.5, rate);
    const auto y = Transform(x, rate, 1.0);
    ASSERT_EQ(y.size(), x.size());
    EXPECT_GT(SnrDb(x, y), 30.0) << rate;  // what the vowel has above 24 kHz is gone
    const auto transformer = MakeMcAdams(rate, {});
    const std::size_t latency = transformer->LatencySamples();
    std::vector<float> out;
    const std::vector<float> piece(static_cast<std::size_t>(rate) / 1000, 0.1F);
    for (std::size_t pushed = piece.size(); pushed <= static_cast<std::size_t>(rate);
         pushed += piece.size()) {
      transformer->Push(piece, out);
      ASSERT_GE(out.size() + latency, pushed) << rate;
    }
    for (const std::size_t n : {1U, 5U, 100U, 961U}) {
      EXPECT_EQ(Transform(std::vector<float>(n, 0.1F), rate, 0.8).size(), n);
    }
  }
}

}  // namespace
}  // namespace sotto
