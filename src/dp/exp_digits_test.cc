#include "dp/exp_digits.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sotto {
namespace {

// From a decimal library of 120 places.
TEST(ExpDigits, AreThoseOfAnotherLibraryToTheLastOf256) {
  const std::uint64_t first[] = {0xfc07f55ff77d2493, 0xe885eeaa756ad523, 0x135569ad22bfc4bf,
                                 0xd6fe09972fc98660};
  const std::uint64_t one[] = {0x5e2d58d8b3bcdf1a, 0xbadec7829054f90d, 0xda9805aab56c7733,
                               0x3024b9d0a507daed};
  const std::uint64_t last[] = {0x04b0556e084f3d1d, 0xfa2bc04cb0ab88f5, 0x28f9435387c7dd33,
                                0x793561a4b342b9b4};
  for (std::size_t place = 0; place < 4; ++place) {
    EXPECT_EQ(ExpMinus64thDigits(1, place), first[place]);
    EXPECT_EQ(ExpMinus64thDigits(64, place), one[place]);
    EXPECT_EQ(ExpMinus64thDigits(256, place), last[place]);
  }
}

TEST(ExpDigits, OfEveryThresholdAgreeWithFloatingPointAndLieNineApartAt15Digits) {
  std::uint64_t above = std::uint64_t{1} << 15;
  for (std::uint32_t i = 1; i <= 256; ++i) {
    const std::uint64_t digits = ExpMinus64thDigits(i, 0);
    EXPECT_NEAR(std::ldexp(static_cast<double>(digits), -64), std::exp(i / -64.0), 1e-16) << i;
    EXPECT_GE(above - (digits >> 49), 9U) << i;
    above = digits >> 49;
  }
}

}  // namespace
}  // namespace sotto
