#include "speaker/embedding_stream.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "audio/testing.h"
#include "audio/utterances.h"
#include "base/error.h"
#include "base/testing.h"
#include "speaker/encoder.h"

namespace sotto {
namespace {

constexpr int kRate = kEncoderRateHz;

std::vector<float> Constant(double seconds, float value, int fs = kRate) {
  return std::vector<float>(static_cast<std::size_t>(std::lround(seconds * fs)), value);
}

void Append(std::vector<float>& x, const std::vector<float>& y) {
  x.insert(x.end(), y.begin(), y.end());
}

double Cosine(const std::vector<float>& a, const std::vector<float>& b) {
  double ab = 0.0, aa = 0.0, bb = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += double{a[i]} * b[i];
    aa += double{a[i]} * a[i];
    bb += double{b[i]} * b[i];
  }
  return ab / std::sqrt(aa * bb);
}

// The lengths of the windows (s) that so many samples are heard in.
std::vector<double> WindowsOf(std::size_t samples, int fs = kRate, std::size_t piece = 5000) {
  std::vector<double> windows;
  EmbeddingStream stream(fs, [&](std::span<const float> x) {
    windows.push_back(static_cast<double>(x.size()) / kRate);
    return std::vector<float>{1.0F, 0.0F};
  });
  const std::vector<float> x(piece, 0.1F);
  for (std::size_t at = 0; at < samples; at += piece) {
    stream.Push(std::span(x).first(std::min(piece, samples - at)));
  }
  EXPECT_EQ(stream.Finish(), (std::vector<float>{1.0F, 0.0F}));
  return windows;
}

TEST(EmbeddingStream, HearsAMinuteAtOnceAndMoreInWindowsOfHalfAMinuteToOne) {
  using Windows = std::vector<double>;
  EXPECT_EQ(WindowsOf(3 * kRate), (Windows{3}));
  EXPECT_EQ(WindowsOf(60 * kRate), (Windows{60}));
  EXPECT_EQ(WindowsOf(60 * kRate + 2), (Windows{30 + 1.0 / kRate, 30 + 1.0 / kRate}));
  EXPECT_EQ(WindowsOf(90 * kRate), (Windows{45, 45}));
  EXPECT_EQ(WindowsOf(120 * kRate), (Windows{60, 60}));
  EXPECT_EQ(WindowsOf(130 * kRate), (Windows{60, 35, 35}));
  EXPECT_EQ(WindowsOf(130 * kRate, kRate, 130 * kRate), (Windows{60, 35, 35}));
  EXPECT_EQ(WindowsOf(60 * 44100, 44100), (Windows{60}));
  EXPECT_EQ(WindowsOf(90 * 8000, 8000), (Windows{45, 45}));
}

// A fake encoder that tells its windows apart by their first sample.
std::vector<float> Pooled(const std::vector<float>& x,
                          const std::function<std::vector<float>(float)>& embed) {
  EmbeddingStream stream(kRate, [&](std::span<const float> w) { return embed(w.front()); });
  stream.Push(x);
  return stream.Finish();
}

TEST(EmbeddingStream, TakesTheMeanDirectionAndTheMeanLengthByActiveTime) {
  std::vector<float> x = Constant(60, 0.5F);
  Append(x, Constant(60, 0.25F));
  const auto embed = [](float first) {
    return first > 0.4F ? std::vector<float>{3.0F, 0.0F} : std::vector<float>{0.0F, 1.0F};
  };
  const std::vector<float> even = Pooled(x, embed);
  EXPECT_NEAR(even[0], std::sqrt(2.0), 1e-5);
  EXPECT_NEAR(even[1], std::sqrt(2.0), 1e-5);
  // A window of hum, 40 dB below, has no say; one that is quiet for half of its time has half.
  x.resize(60 * kRate);
  Append(x, Constant(60, 0.005F));
  EXPECT_EQ(Pooled(x, embed), (std::vector<float>{3.0F, 0.0F}));
  x.resize(60 * kRate);
  Append(x, Constant(30, 0.25F));
  Append(x, Constant(30, 0.0F));
  const std::vector<float> half = Pooled(x, embed);
  EXPECT_NEAR(half[0] / half[1], 2.0, 1e-5);
  EXPECT_NEAR(std::hypot(half[0], half[1]), (2.0 * 3.0 + 1.0) / 3.0, 1e-5);
}

TEST(EmbeddingStream, LeavesOutWindowsThatTheEncoderRefusesUnlessItRefusesAll) {
  std::vector<float> x = Constant(60, 0.5F);
  Append(x, Constant(60, 0.25F));
  EXPECT_EQ(Pooled(x,
                   [](float first) {
                     if (first > 0.4F) throw Error("too loud");
                     return std::vector<float>{0.0F, 2.0F};
                   }),
            (std::vector<float>{0.0F, 2.0F}));
  try {
    Pooled(x, [](float first) -> std::vector<float> {
      throw Error("refused " + std::to_string(first));
    });
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "refused 0.500000");
  }
  EXPECT_THROW(WindowsOf(1599), Error);
}

// The encoder in the program.
TEST(EmbeddingStream, UpToAMinuteIsTheNetsOwnEmbeddingToTheBit) {
  const auto encoder = OpenEncoder(kDefaultEncoder);
  const std::vector<float> x = testing::SyntheticVowel(8.0, kRate);
  const std::vector<float> whole = encoder->EmbedWindow(x);
  EXPECT_EQ(encoder->Embed(x, kRate), whole);
  EmbeddingStream stream(kRate, [&](std::span<const float> w) { return encoder->EmbedWindow(w); });
  for (std::size_t at = 0; at < x.size(); at += 1000) stream.Push(std::span(x).subspan(at, 1000));
  EXPECT_EQ(stream.Finish(), whole);
  const std::vector<float> fine = testing::SyntheticVowel(4.0, 44100);
  EXPECT_EQ(encoder->Embed(fine, 44100), encoder->EmbedWindow(Resample(fine, 44100, kRate)));
}

// The first speaker's utterances, one after the other.
TEST(EmbeddingStream, WindowsOfRealSpeechSayWhatTheWholeSays) {
  SOTTO_NEEDS_SHARED("data/speech/libri_eval");
  const auto encoder = OpenEncoder(kDefaultEncoder);
  const UtteranceList list = ListUtterances({testing::SharedFolder() / "data/speech/libri_eval"});
  std::vector<float> x;
  std::size_t most = 90 * kRate;
  for (const Utterance& utterance : list.utterances) {
    if (utterance.speaker != list.utterances.front().speaker) continue;
    if (x.size() < most) Append(x, ReadUtterance(list.recordings[utterance.recording], {}).x);
  }
  most = std::min(most, x.size());
  ASSERT_GT(most, 61U * kRate);
  x.resize(most);
  const double cosine = Cosine(encoder->Embed(x, kRate), encoder->EmbedWindow(x));
  RecordProperty("seconds", std::to_string(most / kRate));
  RecordProperty("cosine", std::to_string(cosine));
  EXPECT_GT(cosine, 0.98);
}

}  // namespace
}  // namespace sotto
