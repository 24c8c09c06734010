#include <gtest/gtest.h>

#include <cmath>

#include "audio/testing.h"
#include "dsp/level.h"
#include "dsp/spectrogram.h"
#include "dsp/voice_measures.h"

namespace sotto {
namespace {

using testing::SyntheticVowel;

TEST(ActiveSpeechLevel, IgnoresPausesAndFollowsGain) {
  auto x = SyntheticVowel(3.0, 16000);
  const SpeechLevel dense = ActiveSpeechLevel(x, 16000);
  // Ten seconds of silence lower the long-term level by 6.4 dB, the active level hardly.
  auto padded = x;
  padded.resize(x.size() + 160000, 0.0F);
  EXPECT_NEAR(ActiveSpeechLevel(padded, 16000).active_db, dense.active_db, 0.5);
  EXPECT_LT(ActiveSpeechLevel(padded, 16000).activity, 0.3);
  for (float& v : x) v *= 0.5F;
  EXPECT_NEAR(ActiveSpeechLevel(x, 16000).active_db, dense.active_db - 6.02, 0.1);
  EXPECT_TRUE(std::isinf(ActiveSpeechLevel(std::vector<float>(100, 0.0F), 16000).active_db));
}

TEST(RmsDb, OfAFullScaleSineIsMinusThree) {
  std::vector<float> x(16000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(0.1F * static_cast<float>(i));
  EXPECT_NEAR(RmsDb(x), -3.01, 0.01);
}

TEST(Spectrogram, PeaksAtTheFrequencyOfATone) {
  std::vector<float> x(16000);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(std::sin(2.0 * M_PI * 1000.0 * static_cast<double>(i) / 16000.0));
  }
  const Spectrogram s = ComputeSpectrogram(x, 16000);
  const auto row = s.db.begin() + static_cast<std::ptrdiff_t>(s.frames / 2 * s.bins);
  const auto peak = std::max_element(row, row + static_cast<std::ptrdiff_t>(s.bins)) - row;
  EXPECT_NEAR(static_cast<double>(peak) * s.bin_hz, 1000.0, s.bin_hz);
}

TEST(MeasureVoice, FindsPitchAndFormantsOfASyntheticVowel) {
  for (const double f0 : {90.0, 140.0, 220.0}) {
    const auto x = SyntheticVowel(2.0, 16000, f0, {650, 1300, 2500});
    const VoiceMeasures measures = MeasureVoice(x, 16000);
    ASSERT_TRUE(measures.median_f0_hz.has_value());
    EXPECT_NEAR(*measures.median_f0_hz / f0, 1.0, 0.02);
    // The harmonics pull a formant towards them, the more the higher the voice.
    EXPECT_NEAR(*measures.formant_hz[0], 650, f0 / 2);
    EXPECT_NEAR(*measures.formant_hz[1], 1300, f0 / 2);
    EXPECT_NEAR(*measures.formant_hz[2], 2500, f0 / 2);
  }
  EXPECT_FALSE(MeasureVoice(std::vector<float>(16000, 0.0F), 16000).median_f0_hz.has_value());
}

}  // namespace
}  // namespace sotto
