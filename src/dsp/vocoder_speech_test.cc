// Real speech through the vocoder. The figures of the whole evaluation corpus: sotto_vocoder_bench.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "audio/sound_file.h"
#include "base/testing.h"
#include "dsp/level.h"
#include "dsp/mel_cepstrum_testing.h"
#include "dsp/vocoder.h"
#include "dsp/vocoder_testing.h"

namespace sotto {
namespace {

constexpr const char* kWav = "data/speech/libri_eval/wav";

// The first six seconds of one recording of each of ten speakers.
std::vector<std::vector<float>> Speech() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(testing::SharedFolder() / kWav)) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<std::vector<float>> speech;
  for (std::size_t i = 0; i < files.size(); i += 24) {
    auto x = ReadSound(files[i]).channels[0];
    x.resize(std::min<std::size_t>(x.size(), 96000));
    speech.push_back(std::move(x));
  }
  return speech;
}

TEST(VocoderOnSpeech, CopiesEnvelopeLevelAndLength) {
  SOTTO_NEEDS_SHARED(kWav);
  double distortion = 0.0;
  const auto speech = Speech();
  for (const auto& x : speech) {
    const auto frames = Analyse(x, 16000);
    const auto y = Synthesise(frames, x.size());
    ASSERT_EQ(y.size(), x.size());
    EXPECT_NEAR(RmsDb(y), RmsDb(x), 0.5);
    EXPECT_NEAR(ActiveSpeechLevel(y, 16000).active_db, ActiveSpeechLevel(x, 16000).active_db, 0.5);
    distortion += testing::CompareEnvelopes(frames, Analyse(y, 16000)).mean_db;
  }
  EXPECT_LT(distortion / static_cast<double>(speech.size()), 4.5);
}

TEST(VocoderOnSpeech, FastAndRobustF0AgreeWhereBothAreVoiced) {
  SOTTO_NEEDS_SHARED(kWav);
  std::size_t both = 0, gross = 0;
  for (const auto& x : Speech()) {
    F0Options options;
    const auto fast = EstimateF0(x, 16000, options);
    options.method = F0Method::kRobust;
    const auto robust = EstimateF0(x, 16000, options);
    for (std::size_t t = 0; t < fast.size(); ++t) {
      if (fast[t] <= 0.0 || robust[t] <= 0.0) continue;
      ++both;
      gross += std::abs(fast[t] / robust[t] - 1.0) > 0.2 ? 1U : 0U;
    }
  }
  EXPECT_GT(both, 3000U);
  EXPECT_LT(static_cast<double>(gross), 0.04 * static_cast<double>(both));
}

// Frames within 20 dB of the speech level on which both methods agree on clean speech are the
// truth.
TEST(VocoderOnSpeech, RobustF0LosesLessInNoise) {
  SOTTO_NEEDS_SHARED(kWav);
  std::size_t frames = 0, fast_wrong = 0, robust_wrong = 0;
  for (auto x : Speech()) {
    F0Options fast, robust;
    robust.method = F0Method::kRobust;
    const auto truth = EstimateF0(x, 16000, fast), second = EstimateF0(x, 16000, robust);
    const double speech_db = ActiveSpeechLevel(x, 16000).active_db;
    std::vector<double> level;
    for (std::size_t t = 0; t < truth.size(); ++t) {
      const std::size_t from = std::min(x.size() - 1, t * 80);
      level.push_back(RmsDb({x.data() + from, std::min<std::size_t>(320, x.size() - from)}));
    }
    const auto noise =
        testing::WhiteNoise(x.size(), std::pow(10.0, (RmsDb(x) - 10.0) / 20.0));  // 10 dB SNR
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += noise[i];
    const auto a = EstimateF0(x, 16000, fast), b = EstimateF0(x, 16000, robust);
    for (std::size_t t = 0; t < truth.size(); ++t) {
      if (level[t] < speech_db - 20.0 || truth[t] <= 0.0 ||
          std::abs(second[t] / truth[t] - 1.0) > 0.03)
        continue;
      ++frames;
      fast_wrong += std::abs(a[t] / truth[t] - 1.0) > 0.2 ? 1U : 0U;
      robust_wrong += std::abs(b[t] / truth[t] - 1.0) > 0.2 ? 1U : 0U;
    }
  }
  fmt::print("at 10 dB of noise, of {} frames: fast {} wrong, robust {}\n", frames, fast_wrong,
             robust_wrong);
  EXPECT_LT(2 * robust_wrong, fast_wrong);
  EXPECT_LT(static_cast<double>(robust_wrong), 0.1 * static_cast<double>(frames));
}

TEST(BlockAnalyser, GivesTheFramesOfTheWhole) {
  SOTTO_NEEDS_SHARED(kWav);
  std::vector<float> x;
  for (const auto& part : Speech()) x.insert(x.end(), part.begin(), part.end());
  x.resize(16000 * 20 + 123);
  for (const auto method : {F0Method::kFast, F0Method::kRobust}) {
    VocoderOptions options;
    options.f0_method = method;
    const auto whole = Analyse(x, 16000, options);
    BlockAnalyser blocks(16000, options, 4.0);
    VocoderFrames joined;
    joined.fft_size = whole.fft_size;
    const auto append = [&](const VocoderFrames& part) {
      joined.f0_hz.insert(joined.f0_hz.end(), part.f0_hz.begin(), part.f0_hz.end());
      joined.envelope.insert(joined.envelope.end(), part.envelope.begin(), part.envelope.end());
      joined.aperiodicity.insert(joined.aperiodicity.end(), part.aperiodicity.begin(),
                                 part.aperiodicity.end());
    };
    for (std::size_t i = 0; i < x.size(); i += 5000) {
      append(blocks.Push({x.data() + i, std::min<std::size_t>(5000, x.size() - i)}));
    }
    append(blocks.Finish());
    ASSERT_EQ(joined.Frames(), whole.Frames());
    std::size_t different = 0;
    for (std::size_t t = 0; t < whole.Frames(); ++t) {
      if (std::abs(joined.f0_hz[t] - whole.f0_hz[t]) > 1e-3) {
        ++different;
        continue;
      }
      for (std::size_t k = 0; k < whole.Bins(); k += 8) {
        EXPECT_NEAR(joined.Envelope(t)[k] / whole.Envelope(t)[k], 1.0F, 1e-2) << t;
        EXPECT_NEAR(joined.Aperiodicity(t)[k], whole.Aperiodicity(t)[k], 1e-2) << t;
      }
    }
    EXPECT_LE(different, whole.Frames() / 200);
  }
}

TEST(BlockAnalyser, TakesARecordingShorterThanABlockAndAnEmptyOne) {
  const auto x = testing::WhiteNoise(1000);
  BlockAnalyser blocks(16000);
  EXPECT_EQ(blocks.Push(x).Frames(), 0U);
  EXPECT_EQ(blocks.Finish().Frames(), VocoderFrameCount(1000, 16000));
  BlockAnalyser empty(16000);
  EXPECT_EQ(empty.Finish().Frames(), 1U);
}

}  // namespace
}  // namespace sotto
