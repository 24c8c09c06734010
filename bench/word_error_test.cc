#include "word_error.h"

#include <gtest/gtest.h>

namespace sotto {
namespace {

using Words = std::vector<std::string>;

TEST(WordErrors, CountsInsertionsDeletionsAndReplacements) {
  EXPECT_EQ(WordErrors({}, {}), 0U);
  EXPECT_EQ(WordErrors({"a", "b"}, {}), 2U);
  EXPECT_EQ(WordErrors({}, {"a"}), 1U);
  EXPECT_EQ(WordErrors({"the", "cat", "sat"}, {"the", "cat", "sat"}), 0U);
  EXPECT_EQ(WordErrors({"the", "cat", "sat"}, {"a", "cat", "sat"}), 1U);
  EXPECT_EQ(WordErrors({"the", "cat", "sat"}, {"cat", "sat", "down"}), 2U);
  EXPECT_EQ(WordErrors({"a", "b", "c", "d"}, {"b", "c", "x", "d"}), 2U);
}

}  // namespace
}  // namespace sotto
