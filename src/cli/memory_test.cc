// The vocoder methods work through a file in blocks, encoders in windows: a long one takes no more
// memory than a short.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "audio/sound_file.h"
#include "audio/testing.h"
#include "base/files.h"
#include "base/testing.h"
#include "cli/testing.h"
#include "nn/safetensors.h"
#include "onnx/testing.h"
#include "speaker/default_encoder.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;

// Three seconds of a vowel and one of silence, again and again.
void WriteMinutes(const fs::path& path, double minutes) {
  auto piece = testing::SyntheticVowel(3.0, 16000, 130.0);
  piece.resize(64000, 0.0F);
  SoundWriter writer(path, SoundFormat{});
  for (int i = 0; i < std::lround(15.0 * minutes); ++i) writer.Write(piece);
  writer.Close();
}

// The most memory (kB) the program held while it ran with these arguments.
long PeakMemory(const std::vector<std::string>& arguments) {
  const testing::Outcome outcome = testing::Sotto(arguments, {}, 800.0);
  EXPECT_EQ(outcome.code, 0) << outcome.Text();
  return outcome.peak_kilobytes;
}

TEST(MemorySlow, DoesNotGrowWithTheFile) {
  const testing::TemporaryFolder folder;
  const fs::path brief = folder.Path() / "brief.wav", lengthy = folder.Path() / "lengthy.wav";
  WriteMinutes(brief, 3);
  WriteMinutes(lengthy, 12);
  for (const std::string method : {"voicemask", "vtln", "neural"}) {
    const auto peak = [&](const fs::path& in) {
      return static_cast<double>(
          PeakMemory({"anonymise", in, folder.Path() / (method + in.filename().string()),
                      "--method", method}));
    };
    const double small = peak(brief), large = peak(lengthy);
    EXPECT_LT(large, 1.3 * small) << method << ": " << small << " and " << large << " kB";
    RecordProperty(method + "_kb", std::to_string(std::lround(large)));
  }
}

constexpr long kMostKb = 400'000'000 / 1024;  // of a job, whatever the length

// When they were heard at once, six minutes took 1.7 GB, two and a half 0.75.
TEST(MemorySlow, EmbeddingDoesNotGrowWithTheFile) {
  const testing::TemporaryFolder folder;
  fs::create_directories(folder / "in/s");
  WriteMinutes(folder / "in/s/lengthy.wav", 6);
  const long embed = PeakMemory({"embed", folder / "in", folder / "out", "--jobs", "1"});
  EXPECT_LT(embed, kMostKb);
  RecordProperty("embed_kb", std::to_string(embed));
  WriteMinutes(folder / "a.wav", 3);
  const long verify = PeakMemory({"verify", folder / "a.wav", folder / "a.wav"});
  EXPECT_LT(verify, kMostKb);
  RecordProperty("verify_kb", std::to_string(verify));
}

// A corpus with one recording of more than two minutes, at the middle of which the transformer and
// 60 s in an encoder are in memory at a time; and what an attack on its release takes. It hears the
// long one as it is, as it was released, and as the attacker protects it.
class AttackMemorySlow : public ::testing::Test {
 protected:
  AttackMemorySlow() {
    fs::create_directories(folder_ / "in");
    WriteMinutes(folder_ / "in/a1.wav", 2.2);
    testing::WriteWav(folder_ / "in/a2.wav", testing::SyntheticVowel(3.0, 16000, 130.0));
    testing::WriteWav(folder_ / "in/b1.wav", testing::SyntheticVowel(3.0, 16000, 190.0));
    testing::WriteWav(folder_ / "in/b2.wav", testing::SyntheticVowel(2.0, 16000, 190.0));
    WriteFileAtomically(folder_ / "in/manifest.tsv",
                        "utt_id\tpath\tspeaker\tgender\na1\ta1.wav\ta\tM\na2\ta2.wav\ta\tM\n"
                        "b1\tb1.wav\tb\tM\nb2\tb2.wav\tb\tM\n");
  }

  void Protect(std::vector<std::string> method) {
    std::vector<std::string> command = {"anonymise", folder_ / "in", folder_ / "out", "--seed",
                                        "1",         "--method"};
    command.insert(command.end(), method.begin(), method.end());
    PeakMemory(command);
  }

  // The program's own encoder, which says that it was retrained on such a release.
  std::string RetrainedEncoder() {
    TensorFile file = ParseTensorFile(kDefaultEncoderBytes, "default");
    file.metadata["sotto.attacker"] =
        R"({"base": "", "run": )" + ReadTextFile(folder_ / "out/sotto-run.json") + "}";
    const fs::path path = folder_ / "retrained.safetensors";
    WriteTensorFile(path, file, StoredAs::kInt8);
    return path;
  }

  void ExpectBounded(const std::vector<std::string>& more = {}) {
    std::vector<std::string> command = {"attack",
                                        "--original",
                                        folder_ / "in",
                                        "--protected",
                                        folder_ / "out",
                                        "--cache",
                                        "none",
                                        "--jobs",
                                        "1",
                                        "--bootstrap",
                                        "0",
                                        "-L",
                                        "1"};
    command.insert(command.end(), more.begin(), more.end());
    const long attack = PeakMemory(command);
    EXPECT_LT(attack, kMostKb);
    RecordProperty("attack_kb", std::to_string(attack));
  }

  const testing::TemporaryFolder folder_;
};

TEST_F(AttackMemorySlow, Mcadams) {
  Protect({"mcadams"});
  ExpectBounded();
}

TEST_F(AttackMemorySlow, NeuralWithTwoEncoders) {
  Protect({"neural"});
  ExpectBounded({"--attacker-encoder", RetrainedEncoder()});
}

TEST_F(AttackMemorySlow, NeuralWithMoonshineAndTwoEncoders) {
  SOTTO_NEEDS_MODEL("moonshine/encoder_model.onnx");
  Protect({"neural", "--content", "moonshine"});
  ExpectBounded({"--attacker-encoder", RetrainedEncoder()});
}

}  // namespace
}  // namespace sotto
