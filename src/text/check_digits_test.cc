#include "text/check_digits.h"

#include <gtest/gtest.h>

namespace sotto {
namespace {

TEST(CheckDigits, OfPublishedExamplesAreRight) {
  EXPECT_TRUE(HasLuhn("79927398713"));  // the example of the patent
  EXPECT_TRUE(HasLuhn("4111 1111-1111 1111"));
  EXPECT_FALSE(HasLuhn("4111 1111 1111 1112"));
  EXPECT_FALSE(HasLuhn("none"));
  EXPECT_TRUE(HasIban("GB82 WEST 1234 5698 7654 32"));  // ISO 13616's
  EXPECT_TRUE(HasIban("de89370400440532013000"));
  EXPECT_FALSE(HasIban("GB82 WEST 1234 5698 7654 33"));
  EXPECT_FALSE(HasIban("GB82"));
}

TEST(CheckDigits, AreMadeRight) {
  EXPECT_EQ(WithLuhn("7992739871x"), "7992739875x");  // the last digit there is
  EXPECT_EQ(WithLuhn("79927398710"), "79927398713");
  EXPECT_EQ(WithIban("GB00 WEST 1234 5698 7654 32"), "GB82 WEST 1234 5698 7654 32");
  EXPECT_EQ(WithIban("nothing"), "nothing");
  for (int i = 0; i < 1000; ++i) {
    const std::string digits = std::to_string(7919 * i + 100000);
    EXPECT_TRUE(HasLuhn(WithLuhn(digits)));
    EXPECT_TRUE(HasIban(WithIban("FR00ABCDE" + digits)));
  }
}

}  // namespace
}  // namespace sotto
