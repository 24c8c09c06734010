#include "utility/compare.h"

#include <gtest/gtest.h>

#include "audio/testing.h"
#include "base/error.h"
#include "base/testing.h"

namespace sotto {
namespace {

using testing::SyntheticVowel;
using testing::TemporaryFolder;
using testing::WriteWav;

TEST(CompareCorpora, PairsByIdAndRefusesOtherLengthsAndGaps) {
  const TemporaryFolder folder;
  const auto x = SyntheticVowel(1.0, 16000);
  auto half = x;
  for (float& v : half) v *= 0.5F;
  WriteWav(folder / "o/s/1.wav", x);
  WriteWav(folder / "p/s/1.wav", half);
  const auto pairs = CompareCorpora(folder / "o", folder / "p", 1);
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_NEAR(pairs[0].level_change_db, -6.02, 0.1);
  EXPECT_NEAR(*ChangePercent(pairs[0].before.median_f0_hz, pairs[0].after.median_f0_hz), 0.0, 0.5);
  half.pop_back();
  WriteWav(folder / "p/s/1.wav", half);
  EXPECT_THROW(CompareCorpora(folder / "o", folder / "p", 1), Error);
  WriteWav(folder / "o/s/2.wav", x);
  EXPECT_THROW(CompareCorpora(folder / "o", folder / "p", 1), Error);
}

}  // namespace
}  // namespace sotto
