// train features, voices, content and synth, run as a user would.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "audio/feature_pack.h"
#include "base/testing.h"
#include "cli/testing.h"

namespace sotto {
namespace {

using testing::Outcome;
using testing::Sotto;

// Twelve female and twelve male speakers, whose features are made up.
void WriteMadeUp(const std::filesystem::path& pack_file, const std::filesystem::path& features_file,
                 bool with_genders) {
  SpeechPack pack;
  FeaturePack features;
  features.state_size = 2;
  features.embedding_size = 4;
  for (int i = 0; i < 24; ++i) {
    const std::string id = fmt::format("u{}", i);
    pack.utterances.push_back({id, fmt::format("s{}", i),
                               !with_genders ? Gender::kUnknown
                               : i % 2 == 0  ? Gender::kFemale
                                             : Gender::kMale,
                               pack.samples.size(), 320});
    pack.samples.resize(pack.samples.size() + 320);
    features.ids.push_back(id);
    const auto x = static_cast<float>(i);
    features.utterances.push_back({{0, 0},
                                   {100.0f + x, 110.0f},
                                   {1.0f, x / 24.0f, x * x / 576.0f, i % 3 == 0 ? 0.2f : 0.0f}});
  }
  WriteSpeechPack(pack_file, pack);
  WriteFeaturePack(features_file, features);
}

TEST(TrainNeural, MakesAPoolOfVoices) {
  const testing::TemporaryFolder folder;
  const auto at = [&](const char* name) { return (folder / name).string(); };
  WriteMadeUp(folder / "p", folder / "f", true);
  const Outcome made =
      Sotto(fmt::format("train voices {} --features {} -o {} --json", at("p"), at("f"), at("v")));
  ASSERT_EQ(made.code, 0) << made.output;
  EXPECT_NE(made.output.find("\"female\": 12"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(folder / "v"));
  WriteMadeUp(folder / "p", folder / "f", false);
  const Outcome unknown =
      Sotto(fmt::format("train voices {} --features {} -o {}", at("p"), at("f"), at("w")));
  EXPECT_EQ(unknown.code, 1);
  EXPECT_NE(unknown.output.find("24 have no gender"), std::string::npos) << unknown.output;
  EXPECT_FALSE(std::filesystem::exists(folder / "w"));
}

TEST(TrainNeural, SaysWhatIsWrongInOneLine) {
  const testing::TemporaryFolder folder;
  const auto at = [&](const char* name) { return (folder / name).string(); };
  std::ofstream(folder / "no-pack") << "nothing";
  EXPECT_EQ(Sotto(fmt::format("train features {} -o {}", at("no-pack"), at("f"))).code, 1);
  EXPECT_EQ(Sotto("train features").code, 2);
  const Outcome voices =
      Sotto(fmt::format("train voices {} --features {} -o {}", at("no-pack"), at("x"), at("v")));
  EXPECT_EQ(voices.code, 1);
  EXPECT_NE(voices.output.find("is not a speech pack"), std::string::npos) << voices.output;
  WriteMadeUp(folder / "p", folder / "f", true);
  const Outcome adain = Sotto(fmt::format("train voices {} --features {} --adain {} -o {}", at("p"),
                                          at("f"), at("no-pack"), at("v")));
  EXPECT_EQ(adain.code, 1);
  EXPECT_NE(adain.output.find("no-pack"), std::string::npos) << adain.output;
}

TEST(TrainNeural, PassesFlagsToTheTrainingProgram) {
  const Outcome flags = Sotto("train content --flags");
  if (flags.output.find("no training program") != std::string::npos) {
    GTEST_SKIP() << "built without libtorch";
  }
  EXPECT_EQ(flags.code, 0);
  EXPECT_NE(flags.output.find("--bottleneck"), std::string::npos);
  EXPECT_EQ(Sotto("train synth --no-such-flag").code, 2);
  EXPECT_NE(Sotto("train adain --flags").output.find("--content-noise"), std::string::npos);
}

}  // namespace
}  // namespace sotto
