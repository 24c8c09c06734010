// What needs models (./do deps --onnx) or PocketSphinx, on real speech.
#include "utility/utility.h"

#include <gtest/gtest.h>

#include <cmath>

#include "audio/sound_file.h"
#include "base/error.h"
#include "base/files.h"
#include "base/random.h"
#include "base/tsv.h"
#include "onnx/testing.h"
#include "utility/dnsmos.h"
#include "utility/moonshine.h"
#include "utility/recogniser.h"
#include "utility/speech_detector.h"
#include "utility/text.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using testing::SharedFolder;
using testing::TemporaryFolder;
using testing::TestModels;

fs::path Evaluation() { return SharedFolder() / "data/speech/libri_eval"; }

// The manifest's rows from `first` on.
struct Spoken {
  std::string id, text;
  std::vector<float> x;
};
std::vector<Spoken> SomeSpeech(std::size_t first, std::size_t count) {
  const std::string text = ReadTextFile(Evaluation() / "manifest.tsv");
  const Tsv table = ParseTsv(text, "manifest.tsv");
  std::vector<Spoken> speech;
  for (std::size_t i = first; i < first + count; ++i) {
    const auto& row = table.rows.at(i);
    speech.push_back({std::string(row[table.Column("utt_id")]),
                      std::string(row[table.Column("text")]),
                      ReadSound(Evaluation() / row[table.Column("path")]).channels[0]});
  }
  return speech;
}

EditCounts Errors(const Recogniser& recogniser, const std::vector<Spoken>& speech) {
  EditCounts counts;
  for (const Spoken& one : speech) {
    const auto words = [](const std::string& text) {
      return SplitWords(DecodeUtf8(NormaliseTranscript(text, "text"), "text"),
                        TextNormaliser::kNone);
    };
    counts += AlignTokens(words(one.text), words(recogniser.Transcribe(one.x)));
  }
  return counts;
}

#define SOTTO_NEEDS_MOONSHINE()                             \
  SOTTO_NEEDS_MODEL("moonshine/decoder_model_merged.onnx"); \
  SOTTO_NEEDS_SHARED("data/speech/libri_eval/manifest.tsv")

TEST(Moonshine, UnderstandsReadSpeech) {
  SOTTO_NEEDS_MOONSHINE();
  const auto recogniser = OpenRecogniser("moonshine", TestModels());
  const EditCounts counts = Errors(*recogniser, SomeSpeech(0, 4));
  EXPECT_GT(counts.n, 40U);
  EXPECT_LE(counts.Rate(), 0.1);
}

TEST(Moonshine, NothingAndLittleAndSilenceAreNoFailure) {
  SOTTO_NEEDS_MOONSHINE();
  const auto recogniser = OpenRecogniser("moonshine", TestModels());
  EXPECT_EQ(recogniser->Transcribe({}), "");
  for (const std::size_t n : {1U, 1000U, 32000U}) {
    // At most 6.5 tokens a second, whatever it believes to hear.
    EXPECT_LT(recogniser->Transcribe(std::vector<float>(n, 0.0F)).size(), 200U) << n;
  }
}

TEST(Moonshine, LongRecordingsAreCutAtPausesAndLoseNoWords) {
  SOTTO_NEEDS_MOONSHINE();
  std::vector<Spoken> speech = SomeSpeech(12, 3);
  Spoken whole;
  for (const Spoken& one : speech) {
    whole.text += one.text + " ";
    whole.x.insert(whole.x.end(), one.x.begin(), one.x.end());
    whole.x.resize(whole.x.size() + 8000, 0.0F);
  }
  MoonshineOptions options;
  options.longest_s = 8.0;
  const OnnxRuntimePtr runtime = OnnxRuntime::Open(TestModels());
  const MoonshineRecogniser recogniser(runtime, TestModels(), options);
  ASSERT_GT(whole.x.size(), 16000U * 9);
  EXPECT_LE(Errors(recogniser, {whole}).Rate(), 0.15);
}

TEST(Moonshine, AModelFolderWithoutItIsOneClearLine) {
  SOTTO_NEEDS_MODEL("onnxruntime/libonnxruntime.so.1");
  const TemporaryFolder empty;
  const OnnxRuntimePtr runtime = OnnxRuntime::Open(TestModels());
  try {
    const MoonshineRecogniser recogniser(runtime, ModelFolders({empty.Path()}));
    FAIL() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "moonshine/encoder_model.onnx is in none of: " + empty.Path().string());
  }
}

// A quarter of the evaluation speech, all speakers among it. Speed is measured by sotto utility: a
// test shares its machine.
TEST(MoonshineSlow, SixtyOriginalsStayBelowTheBound) {
  SOTTO_NEEDS_MOONSHINE();
  const auto recogniser = OpenRecogniser("moonshine", TestModels());
  std::vector<Spoken> speech;
  for (std::size_t i = 0; i < 60; ++i) speech.push_back(SomeSpeech(i * 238 / 60, 1)[0]);
  EXPECT_LE(Errors(*recogniser, speech).Rate(), 0.055);
}

TEST(PocketSphinx, UnderstandsMostOfReadSpeechAndForgetsWhatItHeard) {
  SOTTO_NEEDS_SHARED("data/speech/libri_eval/manifest.tsv");
  const auto speech = SomeSpeech(1, 1);
  std::unique_ptr<Recogniser> recogniser;
  try {
    recogniser = OpenRecogniser("pocketsphinx", ModelFolders({}));
  } catch (const Error& error) {
    if (std::getenv("CI") != nullptr) FAIL() << error.what();
    GTEST_SKIP() << error.what();
  }
  const std::string first = recogniser->Transcribe(speech[0].x);
  EXPECT_LE(Errors(*recogniser, speech).Rate(), 0.5) << first;
  recogniser->Transcribe(std::vector<float>(16000, 0.1F));
  EXPECT_EQ(recogniser->Transcribe(speech[0].x), first);
}

TEST(SpeechDetector, FindsSpeechBetweenSilence) {
  SOTTO_NEEDS_MOONSHINE();
  const SpeechDetector detector(OnnxRuntime::Open(TestModels()), TestModels());
  std::vector<float> x(32000, 0.0F);
  const auto speech = SomeSpeech(0, 1)[0].x;
  x.insert(x.end(), speech.begin(), speech.end());
  x.resize(x.size() + 32000, 0.0F);
  const auto p = detector.Probabilities(x);
  ASSERT_EQ(p.size(), (x.size() + 511) / 512);
  const auto share = [&](double from_s, double to_s) {
    std::size_t speech_windows = 0, windows = 0;
    for (auto w = static_cast<std::size_t>(from_s / 0.032);
         w < static_cast<std::size_t>(to_s / 0.032); ++w, ++windows) {
      speech_windows += p[w] >= 0.5F ? 1 : 0;
    }
    return static_cast<double>(speech_windows) / static_cast<double>(windows);
  };
  EXPECT_LT(share(0.0, 1.9), 0.02);
  EXPECT_GT(share(2.5, 2.0 + static_cast<double>(speech.size()) / 16000 - 0.5), 0.8);
}

TEST(DnsMos, NoiseCostsQuality) {
  SOTTO_NEEDS_MODEL("dnsmos/sig_bak_ovr.onnx");
  SOTTO_NEEDS_SHARED("data/speech/libri_eval/manifest.tsv");
  const DnsMosJudge judge(OnnxRuntime::Open(TestModels()), TestModels());
  std::vector<float> x = SomeSpeech(1, 1)[0].x;
  const DnsMos clean = judge.Judge(x);
  EXPECT_GT(clean.ovr, 2.5);
  EXPECT_LT(clean.ovr, 4.5);
  SeededRng rng(1);
  for (float& sample : x) sample += 0.03F * static_cast<float>(rng.Gaussian());
  const DnsMos noisy = judge.Judge(x);
  EXPECT_LT(noisy.ovr, clean.ovr - 0.5);
  EXPECT_LT(noisy.bak, clean.bak - 1.0);
  EXPECT_THROW(judge.Judge({}), Error);
}

// Two utterances of two speakers, and a copy: the same sound in noise.
void WriteSides(const fs::path& folder, double noise) {
  SeededRng rng(2);
  std::string rows = "utt_id\tpath\tspeaker\tgender\ttext\n";
  MakeFolder(folder);
  for (const std::size_t first : {2U, 14U}) {
    const Spoken one = SomeSpeech(first, 1)[0];
    Sound sound;
    sound.channels = {one.x};
    for (float& sample : sound.channels[0]) sample += static_cast<float>(noise * rng.Gaussian());
    WriteSound(folder / (one.id + ".wav"), sound);
    const std::string speaker = one.id.substr(0, one.id.find('-'));
    rows += one.id + "\t" + one.id + ".wav\t" + speaker + "\t" + (first == 2 ? "M" : "F") + "\t" +
            one.text + "\n";
  }
  WriteFileAtomically(folder / "manifest.tsv", rows);
}

TEST(Utility, WithModelsNoiseCostsWordsAndQuality) {
  SOTTO_NEEDS_MOONSHINE();
  SOTTO_NEEDS_MODEL("dnsmos/sig_bak_ovr.onnx");
  const TemporaryFolder folder;
  WriteSides(folder / "o", 0.0);
  WriteSides(folder / "p", 0.05);
  UtilityOptions options;
  options.original = folder / "o";
  options.released = folder / "p";
  options.models = *TestModels().Find("dnsmos/sig_bak_ovr.onnx");
  options.models = options.models.parent_path().parent_path();
  options.recognisers = {RecogniserChoice::Parse("moonshine")};
  options.jobs = 2;
  options.intervals.resamples = 50;
  const UtilityResult result = MeasureUtility(options);
  const RecogniserJudgement& judgement = result.recognisers[0];
  EXPECT_EQ(judgement.reason, "");
  EXPECT_FALSE(judgement.shares_model_with_method);  // no run record: not known
  EXPECT_EQ(judgement.heard.size(), 2U);
  EXPECT_LT(judgement.original.words.Rate(), 0.2);
  EXPECT_GT(judgement.released.words.Rate(), judgement.original.words.Rate());
  ASSERT_TRUE(judgement.wer_released);
  EXPECT_LE(judgement.wer_released->low, judgement.released.words.Rate());
  EXPECT_GE(judgement.wer_released->high, judgement.released.words.Rate());
  const auto figure = [&](Measure measure) {
    return result.figures[static_cast<std::size_t>(measure)].value;
  };
  EXPECT_LT(figure(Measure::kOvrReleased), figure(Measure::kOvrOriginal));
  EXPECT_EQ(figure(Measure::kDurationRatio), 1.0);
  EXPECT_TRUE(std::isfinite(figure(Measure::kPauseRatioOriginal)));
  // Groups are the whole when they are all there is.
  const UtilitySummary all = Summarise(result, {0, 1});
  EXPECT_EQ(all.recognisers[0].words_released.Errors(), judgement.released.words.Errors());
  EXPECT_DOUBLE_EQ(all.means[0], figure(Measure::kPitchCorrelation));
}

}  // namespace
}  // namespace sotto
