// What needs no model: text, pauses, prosody, pairs, guards of the decoder.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "audio/testing.h"
#include "base/error.h"
#include "base/files.h"
#include "base/testing.h"
#include "utility/dnsmos.h"
#include "utility/moonshine.h"
#include "utility/paired_utterances.h"
#include "utility/prosody.h"
#include "utility/speech_detector.h"
#include "utility/text.h"
#include "utility/utility.h"
#include "utility/voice_distinctiveness.h"

namespace sotto {
namespace {

using testing::SyntheticVowel;
using testing::TemporaryFolder;
using testing::WriteWav;

std::string Plain(const std::string& text) { return NormaliseTranscript(text, "test"); }

TEST(NormaliseTranscript, WhatRecognisersAndReferencesWriteBecomesTheSame) {
  EXPECT_EQ(Plain("Mr. Brown, the well-known “poet”, said: ‘No!’"),
            Plain("MISTER BROWN THE WELL KNOWN POET SAID NO"));
  EXPECT_EQ(Plain("It's 21 pounds."), "it's twenty one pounds");
  EXPECT_EQ(Plain("In 1887 and 1905, on the 21st"),
            "in eighteen eighty seven and nineteen oh five on the twenty first");
  EXPECT_EQ(Plain("1,200 men; $5 & 30%"),
            "one thousand two hundred men five dollars and thirty percent");
  EXPECT_EQ(Plain("the 1880s"), "the eighteen eighties");
  EXPECT_EQ(Plain("Colour of the THEATRE"), Plain("color of the theater"));
  EXPECT_EQ(Plain("the hour of four"), "the hour of four");
  EXPECT_EQ(Plain("don’t"), "don't");
  EXPECT_EQ(Plain("\"'There's a whale!'\""), "there's a whale");
  EXPECT_EQ(Plain("  \t"), "");
}

TEST(NormaliseTranscript, NormalisingTwiceChangesNothing) {
  for (const char* text : {"Mrs. O'Neil owes £3,000,000,017 - or 2% (the 12th)!", "naïve façade",
                           "colour's hue", "1999 20th 0", "&"}) {
    EXPECT_EQ(Plain(Plain(text)), Plain(text)) << text;
  }
}

TEST(NormaliseTranscript, TextThatIsNotUtf8IsAnErrorThatNamesItsPlace) {
  EXPECT_THROW(NormaliseTranscript("\xFF", "here"), Error);
}

TEST(NumberWords, NumbersAreSpokenWithoutAnd) {
  EXPECT_EQ(NumberWords(0), "zero");
  EXPECT_EQ(NumberWords(19), "nineteen");
  EXPECT_EQ(NumberWords(40), "forty");
  EXPECT_EQ(NumberWords(105), "one hundred five");
  EXPECT_EQ(NumberWords(2000017), "two million seventeen");
}

TEST(TokenTable, BytesBlanksAndControlAreUnderstood) {
  const auto pieces =
      ParseTokenTable("<unk>\n<s>\n</s>\n<0x41>\n\xE2\x96\x81the\nab\n\r", "tokens.txt");
  EXPECT_EQ(pieces, (std::vector<std::string>{"", "", "", "A", " the", "ab", "\r"}));
  EXPECT_THROW(ParseTokenTable("a\nb", "tokens.txt"), Error);
}

TEST(RepeatedTail, AModelThatRepeatsItselfIsFoundOut) {
  using Tokens = std::vector<std::int64_t>;
  EXPECT_EQ(RepeatedTail(Tokens{}), 0U);
  EXPECT_EQ(RepeatedTail(Tokens{5, 5, 5, 5, 5, 5, 5}), 0U);  // seven times may be said
  EXPECT_EQ(RepeatedTail(Tokens{1, 5, 5, 5, 5, 5, 5, 5, 5}), 7U);
  EXPECT_EQ(RepeatedTail(Tokens{9, 1, 2, 3, 1, 2, 3, 1, 2, 3}), 0U);
  const Tokens phrase = {9, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3};
  const std::size_t tail = RepeatedTail(phrase);
  EXPECT_EQ(Tokens(phrase.begin(), phrase.end() - static_cast<std::ptrdiff_t>(tail)),
            (Tokens{9, 1, 2, 3}));
}

TEST(PauseRatio, OnlyLongSilenceBetweenSpeechCounts) {
  EXPECT_FALSE(PauseRatio(std::vector<float>(20, 0.1F)));
  std::vector<float> p(40, 0.9F);
  EXPECT_EQ(PauseRatio(p), 0.0);
  std::fill(p.begin(), p.begin() + 10, 0.0F);       // before the first speech
  std::fill(p.begin() + 12, p.begin() + 18, 0.0F);  // 6 windows: a stop, no pause
  EXPECT_EQ(PauseRatio(p), 0.0);
  std::fill(p.begin() + 20, p.begin() + 30, 0.0F);
  EXPECT_DOUBLE_EQ(PauseRatio(p).value(), 10.0 / 30.0);
}

TEST(CutAtPauses, PiecesCoverEverythingAndMeetInThePause) {
  constexpr std::size_t kWindow = SpeechDetector::kWindow;
  std::vector<float> p(100, 0.9F);
  std::fill(p.begin() + 30, p.begin() + 40, 0.1F);
  const auto pieces = CutAtPauses(p, 100 * kWindow, 50 * kWindow);
  ASSERT_GE(pieces.size(), 2U);
  EXPECT_EQ(pieces.front().first, 0U);
  EXPECT_EQ(pieces.back().second, 100 * kWindow);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    EXPECT_LT(pieces[i].first, pieces[i].second);
    EXPECT_LE(pieces[i].second - pieces[i].first, 50 * kWindow);
    EXPECT_EQ(pieces[i].first, i == 0 ? 0 : pieces[i - 1].second);
  }
  EXPECT_GT(pieces[0].second, 32 * kWindow);
  EXPECT_LT(pieces[0].second, 38 * kWindow);
}

TEST(CutAtPauses, WithoutAPauseTheLeastProbableSpeechIsCut) {
  std::vector<float> p(100, 0.9F);
  p[44] = 0.6F;
  const auto pieces = CutAtPauses(p, 100 * SpeechDetector::kWindow, 50 * SpeechDetector::kWindow);
  EXPECT_EQ(pieces[0].second / SpeechDetector::kWindow, 44U);
}

TEST(DnsMos, TheMappingIsThePublishedPolynomial) {
  const DnsMos mapped = MapDnsMos(4.0, 4.0, 3.5);
  EXPECT_NEAR(mapped.sig, 3.545038, 1e-6);
  EXPECT_NEAR(mapped.bak, 3.933873, 1e-6);
  EXPECT_NEAR(mapped.ovr, 3.121282, 1e-6);
}

TEST(Prosody, ARecordingComparedWithItselfHasLostNothing) {
  const std::vector<float> x = SyntheticVowel(3.0, 16000);
  const Prosody prosody = MeasureProsody(x, nullptr);
  const ProsodyComparison same = CompareProsody(prosody, prosody);
  EXPECT_EQ(same.voicing_agreement, 1.0);
  EXPECT_NEAR(same.energy_correlation, 1.0, 1e-9);
  EXPECT_EQ(same.level_change_db, 0.0);
  EXPECT_EQ(same.duration_ratio, 1.0);
  EXPECT_FALSE(prosody.pause_ratio);
  EXPECT_NEAR(prosody.speaking_rate, 3.0, 0.7);  // the rhythm of the signal: three a second
}

TEST(Prosody, ADelayedMelodyIsFoundWithinFiftyMilliseconds) {
  Prosody original, delayed;
  for (int t = 0; t < 200; ++t) {
    original.f0.push_back(120.0 + 30.0 * std::sin(0.3 * t));
    delayed.f0.push_back(180.0 + 20.0 * std::sin(0.3 * (t - 4)));
  }
  original.energy_db = delayed.energy_db = original.f0;
  const ProsodyComparison change = CompareProsody(original, delayed);
  EXPECT_LT(change.pitch_correlation, 0.5);
  EXPECT_NEAR(change.pitch_correlation_lagged, 1.0, 1e-9);
  for (double& f0 : delayed.f0) f0 = 0.0;
  const ProsodyComparison mute = CompareProsody(original, delayed);
  EXPECT_TRUE(std::isnan(mute.pitch_correlation));
  EXPECT_TRUE(std::isnan(mute.pitch_correlation_lagged));
  EXPECT_EQ(mute.voicing_agreement, 0.0);
}

TEST(Prosody, HalfTheAmplitudeIsSixDecibelsLess) {
  const std::vector<float> x = SyntheticVowel(2.0, 16000);
  std::vector<float> half = x;
  for (float& sample : half) sample *= 0.5F;
  const ProsodyComparison change =
      CompareProsody(MeasureProsody(x, nullptr), MeasureProsody(half, nullptr));
  EXPECT_NEAR(change.level_change_db, -6.02, 0.05);
  EXPECT_GT(change.energy_correlation, 0.999);
}

TEST(Prosody, SilenceHasNothingToCompare) {
  const Prosody silent = MeasureProsody(std::vector<float>(16000, 0.0F), nullptr);
  EXPECT_EQ(silent.speaking_rate, 0.0);
  const ProsodyComparison change = CompareProsody(silent, silent);
  EXPECT_TRUE(std::isnan(change.pitch_correlation));
  EXPECT_TRUE(std::isnan(change.energy_correlation));
  EXPECT_TRUE(std::isnan(change.level_change_db));
}

TEST(Pearson, KnownValues) {
  const std::vector<double> a = {1, 2, 3}, b = {2, 4, 6}, c = {3, 2, 1}, flat = {1, 1, 1};
  EXPECT_NEAR(PearsonCorrelation(a, b), 1.0, 1e-12);
  EXPECT_NEAR(PearsonCorrelation(a, c), -1.0, 1e-12);
  EXPECT_TRUE(std::isnan(PearsonCorrelation(a, flat)));
}

void WriteCorpus(const std::filesystem::path& folder, const std::string& rows) {
  MakeFolder(folder);
  for (const char* name : {"a1", "a2", "b1", "b2"}) {
    WriteWav((folder / name).replace_extension(".wav"), SyntheticVowel(0.5, 16000));
  }
  WriteFileAtomically(folder / "manifest.tsv", "utt_id\tpath\tspeaker\tgender\ttext\n" + rows);
}

constexpr const char* kRows =
    "a1\ta1.wav\ta\tF\tone\na2\ta2.wav\ta\tF\ttwo\nb1\tb1.wav\tb\tM\tthree\nb2\tb2.wav\tb\t\t"
    "four\n";

TEST(PairUtterances, PairsByIdWithTextAndGender) {
  const TemporaryFolder folder;
  WriteCorpus(folder / "o", kRows);
  WriteCorpus(folder / "p",
              "b1\tb1.wav\tb\tM\t\na1\ta1.wav\ta\tF\t\nb2\tb2.wav\tb\tM\t\na2\ta2.wav\ta\tF\t\n");
  const auto pairs = PairUtterances(folder / "o", folder / "p");
  ASSERT_EQ(pairs.size(), 4U);
  EXPECT_EQ(pairs[2].id, "b1");
  EXPECT_EQ(pairs[2].text, "three");
  EXPECT_EQ(pairs[0].gender, Gender::kFemale);
  EXPECT_EQ(pairs[1].original.path, folder / "o/a2.wav");
  EXPECT_EQ(pairs[1].released.path, folder / "p/a2.wav");
  // The first of each speaker come first.
  const auto two = PairUtterances(folder / "o", folder / "p", 2);
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(two[0].id, "a1");
  EXPECT_EQ(two[1].id, "b1");
}

TEST(PairUtterances, IdsOnOneSideOnlyAreCountedOnBoth) {
  const TemporaryFolder folder;
  WriteCorpus(folder / "o", kRows);
  WriteCorpus(folder / "p", "a1\ta1.wav\ta\tF\tx\nc\ta2.wav\ta\tF\tx\nb1\tb1.wav\tb\tM\tx\n");
  try {
    PairUtterances(folder / "o", folder / "p");
    FAIL() << "paired";
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("2 only in the first ('a2'), 1 only in the second ('c')"),
              std::string::npos)
        << message;
  }
}

TEST(RecogniserChoice, NamesAndNumbers) {
  EXPECT_EQ(RecogniserChoice::Parse("moonshine").limit, 0U);
  EXPECT_EQ(RecogniserChoice::Parse("pocketsphinx:60").limit, 60U);
  for (const char* bad : {"", "whisper", "moonshine:", "moonshine:0", "moonshine:-1",
                          "moonshine:1x", "moonshine:99999999999999999999"}) {
    EXPECT_THROW(RecogniserChoice::Parse(bad), Error) << bad;
  }
}

TEST(VoiceDistinctiveness, EqualVoicesAreZeroDecibelsAndMergedVoicesAreLess) {
  std::vector<std::vector<float>> voices, merged;
  std::vector<std::string> speakers;
  SeededRng rng(3);
  for (int s = 0; s < 6; ++s) {
    for (int u = 0; u < 5; ++u) {
      std::vector<float> v(6), m(6);
      for (std::size_t k = 0; k < 6; ++k) {
        const double noise = 0.1 * rng.Gaussian();
        v[k] = static_cast<float>((static_cast<int>(k) == s ? 1.0 : 0.0) + noise);
        m[k] = static_cast<float>(1.0 + rng.Gaussian());
      }
      voices.push_back(v);
      merged.push_back(m);
      speakers.emplace_back(1, static_cast<char>('a' + s));
    }
  }
  IntervalOptions intervals;
  intervals.resamples = 0;
  EXPECT_NEAR(MeasureVoiceDistinctiveness(voices, voices, speakers, intervals).value, 0.0, 1e-9);
  EXPECT_LT(MeasureVoiceDistinctiveness(voices, merged, speakers, intervals).value, -6.0);
  const Figure alone =
      MeasureVoiceDistinctiveness(std::span(voices).first(1), std::span(voices).first(1),
                                  std::span(speakers).first(1), intervals);
  EXPECT_TRUE(std::isnan(alone.value));
  EXPECT_NE(alone.remark.find("two speakers"), std::string::npos);
}

}  // namespace
}  // namespace sotto
