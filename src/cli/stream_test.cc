// stream and anonymise --streaming with method neural, run as a user would.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>

#include "audio/sound_file.h"
#include "audio/testing.h"
#include "base/files.h"
#include "base/testing.h"
#include "nn/net_testing.h"
#include "voice/neural_testing.h"

namespace sotto {
namespace {

struct Outcome {
  int code = -1;
  std::string output;
};

Outcome Sotto(const std::string& arguments) {
  Outcome outcome;
  std::FILE* pipe = ::popen(fmt::format("( {} {} ) 2>&1", SOTTO_BINARY, arguments).c_str(), "r");
  std::array<char, 4096> buffer;
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    outcome.output.append(buffer.data(), n);
  }
  const int status = ::pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

bool Has(const Outcome& outcome, const std::string& text) {
  return outcome.output.find(text) != std::string::npos;
}

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
  says(2, "--strategy random", "draws once for a stream");
}

}  // namespace
}  // namespace sotto
