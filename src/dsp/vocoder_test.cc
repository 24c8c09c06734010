#include "dsp/vocoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "dsp/aperiodicity.h"
#include "dsp/level.h"
#include "dsp/mel_cepstrum_testing.h"
#include "dsp/synthesis.h"
#include "dsp/vocoder_testing.h"

namespace sotto {
namespace {

using testing::Pulses;
using testing::Tract;
using testing::Voice;
using testing::WhiteNoise;

std::vector<float> Vowel(double seconds, int rate_hz, double f0_hz, const Tract& tract) {
  return Voice(
      seconds, rate_hz, [=](double) { return f0_hz; },
      [&](double hz) { return tract.Magnitude(hz); });
}

TEST(Envelope, IsTheFilterOfAVowel) {
  for (const int rate : {16000, 44100}) {
    for (const double f0 : {90.0, 130.0, 200.0}) {
      const Tract tract{{660, 1720, 2410, 3500}, rate};
      const auto frames = Analyse(Vowel(0.5, rate, f0, tract), rate);
      const auto envelope = frames.Envelope(50);
      const double bin_hz = static_cast<double>(rate) / static_cast<double>(frames.fft_size);
      // Power per sample of Voice(): |H|²·rate/(4·f0)·gain². Peaks and valleys of 80 Hz bandwidth
      // are sampled by harmonics f0 apart, so the agreement is worse for high voices.
      double difference = 0.0;
      std::size_t count = 0;
      for (std::size_t k = 1; static_cast<double>(k) * bin_hz < 6000.0; ++k) {
        const double h = tract.Magnitude(static_cast<double>(k) * bin_hz);
        const double truth = h * h * rate / (4.0 * f0) * 0.05 * 0.05;
        if (static_cast<double>(k) * bin_hz < f0) continue;
        difference += std::abs(10.0 * std::log10(envelope[k] / truth));
        ++count;
      }
      EXPECT_LT(difference / static_cast<double>(count), 1.0 + f0 / 200.0) << rate << " " << f0;
    }
  }
}

TEST(Envelope, PeaksAtTheFormants) {
  const Tract tract;
  const auto frames = Analyse(Vowel(0.5, 16000, 110.0, tract), 16000);
  const auto envelope = frames.Envelope(50);
  for (const double formant : tract.formants_hz) {
    const auto middle = static_cast<std::size_t>(formant / 16000.0 * 1024.0);
    const auto peak = std::max_element(envelope.begin() + static_cast<std::ptrdiff_t>(middle) - 15,
                                       envelope.begin() + static_cast<std::ptrdiff_t>(middle) + 15);
    EXPECT_NEAR(static_cast<double>(peak - envelope.begin()) * 16000.0 / 1024.0, formant, 60.0);
  }
}

TEST(Envelope, OfWhiteNoiseIsItsVariance) {
  const auto frames = Analyse(WhiteNoise(64000, 0.1), 16000);
  double sum = 0.0;
  for (const float v : frames.envelope) sum += v;
  EXPECT_NEAR(10.0 * std::log10(sum / static_cast<double>(frames.envelope.size()) / 0.01), 0.0,
              0.7);
}

TEST(Envelope, FrameLiesAtItsTime) {
  // A burst of noise around 0.25 s is in frames around the fiftieth: an offset of one frame shows.
  auto x = WhiteNoise(8000);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double s = (static_cast<double>(i) - 4000.0) / 300.0;
    x[i] *= static_cast<float>(std::exp(-0.5 * s * s));
  }
  const auto frames = Analyse(x, 16000);
  ASSERT_EQ(frames.Frames(), 101U);
  double power = 0.0, moment = 0.0, input = 0.0, input_moment = 0.0;
  for (std::size_t t = 0; t < frames.Frames(); ++t) {
    for (const float v : frames.Envelope(t)) {
      power += v;
      moment += v * static_cast<double>(t);
    }
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    input += static_cast<double>(x[i]) * x[i];
    input_moment += static_cast<double>(x[i]) * x[i] * static_cast<double>(i) / 80.0;
  }
  EXPECT_NEAR(moment / power, input_moment / input, 0.3);
}

TEST(Envelope, DoesNotDependOnWhereThePulsesLie) {
  const auto frames = Analyse(Vowel(0.5, 16000, 123.4, Tract{}), 16000);
  // Above 7.2 kHz this voice has no harmonics.
  for (std::size_t k = 0; k < 450; ++k) {
    float least = 1e9F, most = 0.0F;
    for (std::size_t t = 30; t < 70; ++t) {
      least = std::min(least, frames.Envelope(t)[k]);
      most = std::max(most, frames.Envelope(t)[k]);
    }
    EXPECT_LT(10.0 * std::log10(most / least), 1.0) << k;
  }
}

TEST(Aperiodicity, GrowsWithTheNoiseAndHardlyDependsOnF0) {
  // White pulses and white noise with a share a² of the power, both 14 dB lower above 4 kHz so that
  // the frame counts as voiced. D4C reads low (a half), but in order.
  const auto tilt = [](double hz) { return hz < 4000.0 ? 1.0 : 0.2; };
  std::vector<std::vector<double>> rows;
  for (const double a : {0.03, 0.1, 0.3}) {
    std::vector<double> row;
    for (const double f0 : {90.0, 150.0, 250.0}) {
      auto x = Voice(
          1.0, 16000, [=](double) { return f0; }, tilt, 0.1);
      double power = 0.0;
      for (const float v : x) power += static_cast<double>(v) * v;
      const double deviation =
          a / std::sqrt(1.0 - a * a) * std::sqrt(power / static_cast<double>(x.size()));
      // Noise of nearly the same tilt: three-point smoothing leaves −12 dB above 6 kHz.
      const auto noise = WhiteNoise(x.size() + 2, 1.3 * deviation);
      for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] += 0.3F * noise[i] + 0.4F * noise[i + 1] + 0.3F * noise[i + 2];
      }
      AperiodicityAnalyser analyser(16000, 1024, 71.0);
      std::vector<float> at_3khz, out(513);
      for (std::ptrdiff_t centre = 2000; centre < 14000; centre += 80) {
        analyser.Analyse(x, centre, f0, out);
        at_3khz.push_back(out[192]);
      }
      std::nth_element(at_3khz.begin(), at_3khz.begin() + 75, at_3khz.end());
      row.push_back(at_3khz[75]);
    }
    rows.push_back(row);
  }
  for (std::size_t f = 0; f < 3; ++f) {
    EXPECT_LT(rows[0][f], 0.05);
    EXPECT_GT(rows[1][f], rows[0][f]);
    EXPECT_GT(rows[2][f], 2.0 * rows[1][f]);
    EXPECT_LT(rows[2][f], 0.35);
  }
  // At 0.03 it is D4C's own floor that is read.
  for (const auto& row : {rows[1], rows[2]}) {
    EXPECT_NEAR(row[2] / row[0], 1.0, 0.4) << row[0] << " " << row[1] << " " << row[2];
  }
}

TEST(Aperiodicity, IsOneInNoiseAndBetweenZeroAndOne) {
  const auto frames = Analyse(WhiteNoise(32000), 16000);
  std::size_t ones = 0;
  for (const float a : frames.aperiodicity) {
    EXPECT_GE(a, 0.0F);
    EXPECT_LE(a, 1.0F);
    ones += a == 1.0F ? 1U : 0U;
  }
  EXPECT_GT(static_cast<double>(ones), 0.95 * static_cast<double>(frames.aperiodicity.size()));
}

TEST(Vocoder, KeepsLengthLevelAndF0OfAVowel) {
  for (const int rate : {16000, 22050, 44100, 48000}) {
    const auto x = Vowel(0.7001, rate, 150.0, Tract{{660, 1720, 2410, 3500}, rate});
    const auto frames = Analyse(x, rate);
    EXPECT_EQ(frames.Frames(), VocoderFrameCount(x.size(), rate));
    const auto y = Synthesise(frames, x.size());
    ASSERT_EQ(y.size(), x.size());
    EXPECT_NEAR(RmsDb(y), RmsDb(x), 0.5) << rate;
    const auto f0 = Analyse(y, rate).f0_hz;
    for (std::size_t t = 20; t < 120; ++t) EXPECT_NEAR(f0[t], 150.0, 0.75) << rate << " " << t;
  }
}

TEST(Vocoder, KeepsNoiseUnvoicedAndItsLevel) {
  const auto x = WhiteNoise(64000);
  const auto y = Synthesise(Analyse(x, 16000), x.size());
  EXPECT_NEAR(RmsDb(y), RmsDb(x), 0.5);
}

TEST(Vocoder, PutsPulsesWhereTheyWere) {
  // Half a second of silence, then a voice: the copy must not start early or late.
  auto x = std::vector<float>(8000, 0.0F);
  const auto vowel = Vowel(0.5, 16000, 120.0, Tract{});
  x.insert(x.end(), vowel.begin(), vowel.end());
  const auto y = Synthesise(Analyse(x, 16000), x.size());
  const std::span<const float> all(y);
  EXPECT_LT(RmsDb(all.first(7600)), RmsDb(vowel) - 40.0);
  EXPECT_NEAR(RmsDb(all.subspan(8400)), RmsDb(vowel), 0.7);
}

TEST(Vocoder, TakesSilenceOffsetsAndShortSignals) {
  for (const float level : {0.0F, 0.25F}) {
    for (const std::size_t n : {0U, 1U, 79U, 80U, 400U, 8000U}) {
      const std::vector<float> x(n, level);
      const auto frames = Analyse(x, 16000);
      EXPECT_EQ(frames.Frames(), n / 80 + 1);
      for (const float v : frames.envelope) EXPECT_TRUE(std::isfinite(v) && v > 0.0F);
      const auto y = Synthesise(frames, n);
      ASSERT_EQ(y.size(), n);
      for (const float v : y) EXPECT_TRUE(std::isfinite(v));
      if (level == 0.0F && n > 0) {
        EXPECT_LT(RmsDb(y), -120.0);
      }
    }
  }
}

TEST(Vocoder, GivesTheSameSamplesForTheSameFrames) {
  const auto frames = Analyse(Vowel(0.3, 16000, 140.0, Tract{}), 16000);
  EXPECT_EQ(Synthesise(frames, 4800), Synthesise(frames, 4800));
}

TEST(Vocoder, SynthesisesAnyNumberOfSamples) {
  const auto frames = Analyse(Pulses(0.2, 16000, 140.0), 16000);
  for (const std::size_t n : {0U, 1U, 100U, 3199U, 3200U, 5000U})
    EXPECT_EQ(Synthesise(frames, n).size(), n);
}

TEST(Vocoder, RefusesWhatItCannotDo) {
  const std::vector<float> x(1000, 0.1F);
  EXPECT_THROW(Analyse(x, 8000), Error);
  EXPECT_THROW(Analyse(x, 96000), Error);
  VocoderOptions options;
  options.f0_floor_hz = 900.0;
  EXPECT_THROW(Analyse(x, 16000, options), Error);
  options = {};
  options.frame_period_s = 0.1;
  EXPECT_THROW(Analyse(x, 16000, options), Error);
}

TEST(StreamSynthesiser, GivesTheSamplesOfWholeSynthesisWithinItsLatency) {
  const auto x = Vowel(0.5, 22050, 140.0, Tract{{700, 1200}, 22050});
  const auto frames = Analyse(x, 22050);
  StreamSynthesiser stream(22050, frames.frame_period_s, frames.fft_size);
  std::vector<float> y;
  for (std::size_t t = 0; t < frames.Frames(); ++t) {
    stream.Push(frames.f0_hz[t], frames.Envelope(t), frames.Aperiodicity(t), y);
    const auto due = static_cast<std::size_t>(static_cast<double>(t) * 0.005 * 22050);
    EXPECT_EQ(y.size(), due - std::min(due, stream.LatencySamples())) << t;
  }
  stream.Finish(x.size(), y);
  EXPECT_EQ(y, Synthesise(frames, x.size()));
}

TEST(StreamSynthesiser, RefusesFramesOfAnotherSizeAndImpossibleF0) {
  StreamSynthesiser stream(16000, 0.005, 1024);
  std::vector<float> out;
  const std::vector<float> small(100, 1.0F), right(513, 1.0F);
  EXPECT_THROW(stream.Push(0.0, small, right, out), Error);
  EXPECT_THROW(stream.Push(-1.0, right, right, out), Error);
  EXPECT_THROW(stream.Push(std::nan(""), right, right, out), Error);
  EXPECT_THROW(stream.Push(4000.0, right, right, out), Error);
  auto frames = Analyse(WhiteNoise(1000), 16000);
  frames.envelope.pop_back();
  EXPECT_THROW(Synthesise(frames, 1000), Error);
}

TEST(MelCepstra, OfAWarpedCosineIsOneCoefficient) {
  VocoderFrames frames;
  frames.fft_size = 1024;
  frames.f0_hz = {0.0};
  const double alpha = 0.42;
  for (std::size_t k = 0; k < frames.Bins(); ++k) {
    const double w = M_PI * static_cast<double>(k) / 512.0;
    const double warped = w + 2.0 * std::atan2(alpha * std::sin(w), 1.0 - alpha * std::cos(w));
    frames.envelope.push_back(
        static_cast<float>(std::exp(2.0 * (0.5 + 0.25 * std::cos(3.0 * warped)))));
  }
  const auto c = testing::MelCepstra(frames, 5, alpha);
  const std::vector<double> expected = {0.5, 0.0, 0.0, 0.25, 0.0, 0.0};
  for (std::size_t m = 0; m < 6; ++m) EXPECT_NEAR(c[m], expected[m], 1e-4) << m;
  // A gain is c0 alone and no distortion; a cosine of 0.25 is 10/ln 10·√2·0.25 dB.
  auto louder = frames, flat = frames;
  for (float& v : louder.envelope) v *= 4.0F;
  EXPECT_NEAR(testing::CompareEnvelopes(frames, louder).mean_db, 0.0, 1e-3);
  std::fill(flat.envelope.begin(), flat.envelope.end(), 1.0F);
  EXPECT_NEAR(testing::CompareEnvelopes(frames, flat).mean_db,
              10.0 / std::log(10.0) * std::sqrt(2.0) * 0.25, 1e-3);
}

TEST(StreamSynthesiser, StandsPitchThatFallsFourOctavesFromFrameToFrame) {
  const std::size_t fft_size = VocoderFftSize(16000), bins = fft_size / 2 + 1;
  StreamSynthesiser synthesiser(16000, 0.005, fft_size);
  const std::vector<float> envelope(bins, 1e-4F), aperiodicity(bins, 0.1F);
  std::vector<float> out;
  for (int t = 0; t < 4000; ++t) {
    // Every way for a pulse to fall on the border of two frames.
    const double f0 = t % 2 == 0 ? 700.0 + 0.1 * (t % 997) : 50.0 + 0.01 * (t % 991);
    synthesiser.Push(f0, envelope, aperiodicity, out);
  }
  synthesiser.Finish(320000, out);
  EXPECT_EQ(out.size(), 320000U);
  for (const float y : out) ASSERT_TRUE(std::isfinite(y));
}

}  // namespace
}  // namespace sotto
