#include "audio/feature_pack.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "base/error.h"
#include "base/files.h"
#include "base/testing.h"

namespace sotto {
namespace {

FeaturePack Small() {
  FeaturePack pack;
  pack.state_size = 2;
  pack.embedding_size = 3;
  pack.teacher = "t";
  pack.encoder = "e";
  pack.ids = {"a", "b"};
  pack.utterances = {{{1, 2, 3, 4}, {100.0f, 0.0f}, {1, 2, 3}}, {{5, 6}, {90.0f}, {4, 5, 6}}};
  return pack;
}

SpeechPack Speech() {
  SpeechPack pack;
  pack.utterances = {{"a", "s", Gender::kFemale, 0, 320}, {"b", "s", Gender::kFemale, 320, 1}};
  pack.samples.resize(321);
  return pack;
}

TEST(FeaturePack, ComesBackAsItWas) {
  const testing::TemporaryFolder folder;
  WriteFeaturePack(folder / "f", Small());
  const FeaturePack pack = ReadFeaturePack(folder / "f");
  EXPECT_EQ(pack.ids, Small().ids);
  EXPECT_EQ(pack.utterances[0].states, Small().utterances[0].states);
  EXPECT_EQ(pack.utterances[1].f0_hz, Small().utterances[1].f0_hz);
  EXPECT_EQ(pack.utterances[1].embedding, Small().utterances[1].embedding);
  EXPECT_NO_THROW(RequireMatch(Speech(), pack));
  EXPECT_EQ(
      std::filesystem::status(folder / "f").permissions() & std::filesystem::perms::group_read,
      std::filesystem::perms::none);
}

TEST(FeaturePack, DamagedFilesAreErrors) {
  const testing::TemporaryFolder folder;
  WriteFeaturePack(folder / "f", Small());
  const std::string whole = ReadTextFile(folder / "f");
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{10}, std::size_t{40}, whole.size() - 1}) {
    std::ofstream(folder / "cut", std::ios::binary | std::ios::trunc) << whole.substr(0, length);
    EXPECT_THROW(ReadFeaturePack(folder / "cut"), Error) << length;
  }
  std::ofstream(folder / "more", std::ios::binary) << whole << "x";
  EXPECT_THROW(ReadFeaturePack(folder / "more"), Error);
  std::string huge = whole;
  huge.replace(huge.find("[\"a\",2,"), 7, "[\"a\",9,");
  std::ofstream(folder / "huge", std::ios::binary) << huge;
  EXPECT_THROW(ReadFeaturePack(folder / "huge"), Error);
}

TEST(FeaturePack, OfOtherSpeechIsAnError) {
  FeaturePack other = Small();
  other.ids[1] = "c";
  EXPECT_THROW(RequireMatch(Speech(), other), Error);
  other = Small();
  other.utterances[0].f0_hz.push_back(0.0f);
  EXPECT_THROW(RequireMatch(Speech(), other), Error);
  other = Small();
  other.utterances[0].embedding[0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(RequireMatch(Speech(), other), Error);
  other = Small();
  other.ids.pop_back();
  other.utterances.pop_back();
  EXPECT_THROW(RequireMatch(Speech(), other), Error);
}

}  // namespace
}  // namespace sotto
