#include "audio/pairing.h"

#include <gtest/gtest.h>

#include "audio/testing.h"
#include "base/error.h"
#include "base/testing.h"

namespace sotto {
namespace {

using Ids = std::vector<std::string>;

PairingRule OneSided(const char* what, bool released, bool originals) {
  return {"O", "P", what, released, originals};
}

std::string Refusal(const Ids& originals, const Ids& released, const PairingRule& rule) {
  try {
    PairById(originals, released, rule);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(PairById, PairsInTheOrderOfTheOriginals) {
  const auto pairs = PairById(Ids{"b", "a", "c"}, Ids{"a", "c", "b"}, {"O", "P"});
  ASSERT_EQ(pairs.size(), 3U);
  EXPECT_EQ(pairs[0].original, 0U);
  EXPECT_EQ(pairs[0].released, 2U);
  EXPECT_EQ(pairs[1].released, 0U);
  EXPECT_EQ(pairs[2].released, 1U);
}

TEST(PairById, CountsWhatIsOnOneSideOnlyUnlessItMayBe) {
  const Ids originals = {"a", "b", "c"}, released = {"c", "x"};
  EXPECT_EQ(Refusal(originals, released, {"O", "P"}),
            "'O' and 'P' do not hold the same utterances: 2 only in the first ('a'), 1 only in the "
            "second ('x')");
  EXPECT_EQ(Refusal(originals, released, OneSided("recordings", false, true)),
            "'O' and 'P' do not hold the same recordings: 2 only in the first ('a'), 0 only in the "
            "second");
  EXPECT_EQ(Refusal(originals, released, OneSided("utterances", true, false)),
            "'O' and 'P' do not hold the same utterances: 0 only in the first, 1 only in the "
            "second ('x')");
  const auto pairs = PairById(originals, released, OneSided("utterances", true, true));
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].original, 2U);
  EXPECT_EQ(Refusal(originals, Ids{"a", "a"}, OneSided("utterances", true, false)),
            "'P' holds 'a' twice");
}

TEST(OpenPair, TakesTwoFilesOfAnyNamesForAPair) {
  const testing::TemporaryFolder folder;
  for (const char* name : {"before.wav", "after.wav"}) {
    testing::WriteWav(folder / name, testing::SyntheticVowel(0.1, 16000));
  }
  const CorpusPair pair = OpenPair(folder / "before.wav", folder / "after.wav");
  EXPECT_EQ(pair.original.recordings[0].id, "before");
  EXPECT_EQ(pair.released.recordings[0].id, "before");
  EXPECT_EQ(pair.released.recordings[0].path, folder / "after.wav");
}

}  // namespace
}  // namespace sotto
