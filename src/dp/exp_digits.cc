#include "dp/exp_digits.h"

#include <utility>
#include <vector>

namespace sotto {
namespace {

// A fixed-point number: the whole part, then 32 binary digits an entry.
using Fixed = std::vector<std::uint32_t>;

// 1 − x·m/d, with x·m/d rounded down or up to a last place; 0 where that is below 0.
Fixed OneMinusRatio(const Fixed& x, std::uint32_t m, std::uint32_t d, bool ratio_up) {
  Fixed ratio(x.size());
  std::uint64_t carry = 0;
  for (std::size_t k = x.size(); k-- > 0;) {
    carry += static_cast<std::uint64_t>(x[k]) * m;
    ratio[k] = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
  std::uint64_t rest = 0;
  for (std::uint32_t& digits : ratio) {
    rest = (rest << 32) | digits;
    digits = static_cast<std::uint32_t>(rest / d);
    rest %= d;
  }
  std::uint64_t borrow = ratio_up && rest != 0 ? 1 : 0;
  for (std::size_t k = x.size(); k-- > 0;) {
    const std::uint64_t one = k == 0 ? 1 : 0;
    const std::uint64_t difference = one - ratio[k] - borrow;
    ratio[k] = static_cast<std::uint32_t>(difference);
    borrow = difference >> 63;
  }
  return borrow == 0 ? ratio : Fixed(x.size(), 0);
}

// Bounds of e^(−x), x = i/64 ≤ 4, by h(k−1) = 1 − (x/k)·h(k). The number sought is h(0), and
// h(k) = k·∫₀¹ (1−t)^(k−1)·e^(−xt) dt for k ≥ 1 lies in [0, 1]: so it is bracketed from the start,
// and stays so, because every step is rounded outwards.
std::pair<Fixed, Fixed> Bracket(std::uint32_t i, std::size_t words) {
  Fixed low(words + 1, 0);
  Fixed high = low;
  high[0] = 1;
  // 4^n/n! is below 2^(−32·words) for n = 16·words, words ≥ 3: less than the rounding.
  for (auto k = static_cast<std::uint32_t>(16 * words); k > 0; --k) {
    Fixed next_low = OneMinusRatio(high, i, 64 * k, /*ratio_up=*/true);
    high = OneMinusRatio(low, i, 64 * k, /*ratio_up=*/false);
    low = std::move(next_low);
  }
  return {std::move(low), std::move(high)};
}

std::uint64_t DigitsAt(const Fixed& x, std::size_t place) {
  return (static_cast<std::uint64_t>(x[1 + 2 * place]) << 32) | x[2 + 2 * place];
}

}  // namespace

std::uint64_t ExpMinus64thDigits(std::uint32_t i, std::size_t place) {
  // Between bounds that agree down to these digits there is but one answer. The number is
  // irrational, so that some precision makes them agree.
  for (std::size_t words = 2 * place + 3;; words *= 2) {
    const auto [low, high] = Bracket(i, words);
    bool agree = low[0] == high[0];
    for (std::size_t k = 0; k <= place; ++k) agree = agree && DigitsAt(low, k) == DigitsAt(high, k);
    if (agree) return DigitsAt(low, place);
  }
}

}  // namespace sotto
