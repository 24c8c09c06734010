// stream and anonymise --streaming with method neural, run as a user would.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "audio/sound_file.h"
#include "audio/testing.h"
#include "base/files.h"
#include "base/testing.h"
#include "cli/testing.h"
#include "nn/net_testing.h"
#include "voice/neural_testing.h"

namespace sotto {
namespace {

using testing::Has;
using testing::Outcome;
using testing::Sotto;

// Small untrained nets that look one content frame and one frame ahead, or much further.
void WriteSmallNets(const std::filesystem::path& folder, bool far) {
  ContentOptions content;
  content.bottleneck = 6;
  content.stem_ahead = 1;
  content.body = {16, 32, 2, 5, {1, 4}, {far ? 4 : 0}};
  SynthOptions synth;
  synth.content = 6;
  synth.embedding = 8;
  synth.condition = 4;
  synth.body = {16, 32, 2, 5, {1}, {1, 0}};
  testing::WriteNets(folder, NeuralModels(RandomContent(content), RandomSynth(synth)));
}

TEST(NeuralStream, GivesAsManySamplesAsCameAndStatesItsLatency) {
  const testing::TemporaryFolder folder, nets;
  WriteSmallNets(nets.Path(), false);
  const auto x = testing::SyntheticVowel(1.0, 16000);
  testing::WriteWav(folder / "x.wav", x);
  const std::string wav = (folder / "x.wav").string(), with = "--neural " + nets.Path().string();
  const std::string sound = ReadTextFile(wav), raw = (folder / "x.raw").string();
  WriteFileAtomically(raw, sound.substr(sound.size() - 2 * x.size()));
  for (const std::string strategy :
       {"--strategy const", "--strategy perm --speaker me", "--strategy random"}) {
    const Outcome outcome = Sotto(fmt::format("stream --method neural {} {} --channels 2 < {} > {}",
                                              with, strategy, raw, raw + ".out"));
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    EXPECT_TRUE(Has(outcome, "latency 154.9 ms")) << outcome.output;  // 640 + 160 + 1680 − 1
    EXPECT_EQ(std::filesystem::file_size(raw + ".out"), 2 * x.size());
  }
  // The same path over files: the record says so.
  const std::string out = (folder / "out").string(), in = (folder / "in").string();
  std::filesystem::create_directories(folder / "in/speaker");
  std::filesystem::copy(wav, folder / "in/speaker/x.wav");
  const Outcome files = Sotto(fmt::format(
      "anonymise {} {} --method neural --streaming {} --strategy random", in, out, with));
  EXPECT_EQ(files.code, 0) << files.output;
  EXPECT_NE(ReadTextFile(folder / "out/sotto-run.json").find("\"streaming\": true"),
            std::string::npos);
  EXPECT_EQ(ReadSound(folder / "out/speaker/x.wav").channels[0].size(), x.size());
}

TEST(NeuralStream, SaysInOneLineWhatIsNotPossible) {
  const testing::TemporaryFolder nets;
  WriteSmallNets(nets.Path(), true);
  const std::string with = "--neural " + nets.Path().string();
  const auto says = [](int code, const std::string& arguments, const std::string& text) {
    const Outcome outcome = Sotto("stream " + arguments + " < /dev/null");
    EXPECT_EQ(outcome.code, code) << arguments;
    EXPECT_TRUE(Has(outcome, text)) << outcome.output;
    EXPECT_EQ(std::count(outcome.output.begin(), outcome.output.end(), '\n'), code);
  };
  says(1, "--method neural " + with, "look too far ahead for a stream");
  says(1, "--method neural --target-gender other " + with, "--target-gender");
  // Bad usage has a second line, which points to --help.
  says(2, "--method neural --strategy perm " + with, "--speaker ID");
  says(2, "--method neural --content moonshine " + with, "whole recordings");
  says(2, "--method adain", "works on files");
  says(2, "--method mcadams --strategy random", "draws once for a stream");
  says(2, "--method neural --strategy random --target voice-ind --eps 2", "voice-ind");
}

// Vowels with silences of 0.8 s between them.
std::vector<float> WithPauses(int pauses) {
  std::vector<float> x;
  for (int i = 0; i <= pauses; ++i) {
    if (i > 0) x.resize(x.size() + 12800);
    const std::vector<float> vowel = testing::SyntheticVowel(0.6, 16000, 110.0 + 7.0 * i);
    x.insert(x.end(), vowel.begin(), vowel.end());
  }
  return x;
}

TEST(NeuralStream, ABoundOnDrawsByTheSourceIsDeclaredAndPublishedInsteadOfTheirCount) {
  const testing::TemporaryFolder folder;
  testing::WriteWav(folder / "in/anna/1.wav", WithPauses(4));
  testing::WriteWav(folder / "in/anna/2.wav", WithPauses(2));
  testing::WriteWav(folder / "plain/anna/1.wav", WithPauses(0));
  testing::WriteWav(folder / "plain/anna/2.wav", WithPauses(0));
  const auto anonymise = [&](const std::string& in, const std::string& out,
                             const std::string& flags) {
    return Sotto(fmt::format("anonymise {} {} --target voice-ind --eps 0.5 --seed 1 {}",
                             (folder / in).string(), (folder / out).string(), flags));
  };
  const Outcome undeclared = anonymise("in", "out", "--streaming");  // random by default
  EXPECT_EQ(undeclared.code, 2);
  EXPECT_TRUE(Has(undeclared, "--max-draws N")) << undeclared.output;
  EXPECT_EQ(anonymise("in", "out", "--streaming --max-draws 0").code, 2);
  EXPECT_EQ(anonymise("in", "out", "--streaming --max-draws 3 --strategy perm").code, 2);
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));

  const Outcome declared = anonymise("in", "out", "--streaming --max-draws 3");
  ASSERT_EQ(declared.code, 0) << declared.output;
  EXPECT_TRUE(Has(declared, "at most 3 draws")) << declared.output;
  const std::string record = ReadTextFile(folder / "out/sotto-run.json");
  const auto json = nlohmann::json::parse(record);
  EXPECT_EQ(json["max_draws"], 3);
  EXPECT_EQ(json["voice_ind"]["draws_per_speaker_at_most"], 6);
  EXPECT_EQ(json["voice_ind"]["eps_per_speaker"], 3.0);
  // Speech without a pause leaves the same record.
  ASSERT_EQ(anonymise("plain", "out2", "--streaming --max-draws 3").code, 0);
  EXPECT_EQ(ReadTextFile(folder / "out2/sotto-run.json"), record);
}

}  // namespace
}  // namespace sotto
