// Discrete Laplace noise from about one random word a draw, exactly.
//
// The law. Let E be exponential with mean 1. Then Pr(⌊s·E⌋ = m) = e^(−m/s) − e^(−(m+1)/s), which is
// proportional to e^(−m/s); a fair sign, with the draws of −0 thrown away, makes the two-sided law
// of samplers.h, as in Canonne, Kamath & Steinke 2020, algorithm 2.
//
// E = (j + f)/64, j whole and f in [0, 1): its density e^(−j/64)·e^(−f/64)/64 is a product, so that
// j and f are independent.
//   j: Pr(j ≥ i) = e^(−i/64). With a uniform J, j counts the i ≥ 1 with J < e^(−i/64).
//   f: uniform, kept with probability e^(−x), x = f/64, by von Neumann's coins (1951): throw coins
//      of x/1, x/2, x/3, … until one falls tails; K heads have Pr(K ≥ k) = x^k/k!, and so
//      Pr(K even) = Σ (−1)^k·x^k/k! = e^(−x). A coin of f/(64k) is three: six zero bits, a fresh
//      uniform number below f, one of k. Six random bits are zero once in 64 draws.
//
// Exactness. J, f and the fresh uniform numbers are real numbers of which only the first binary
// digits are drawn. A question to one of them (is it below a threshold, does s·(j+f)/64 reach the
// next whole number) is answered when all numbers that begin with these digits give the same
// answer; else further digits are drawn until they do. The thresholds are digits of e^(−i/64) from
// integer arithmetic with proven bounds (exp_digits.h), and all else is rational. No
// floating-point number occurs.
//
// One word of 64 bits holds the sign, the six bits of the first coin, 15 bits of J and 42 of f:
// 1.06 words a draw in the mean, where algorithm 2 takes 8.4 to 10.5 (scales of 2^40 to 2^41).
#include <array>
#include <vector>

#include "dp/exp_digits.h"
#include "dp/samplers.h"

namespace sotto {
namespace {

constexpr int kJBits = 15;
constexpr int kFBits = 42;
constexpr int kPointBits = kFBits + 6;  // behind the point of E
static_assert(1 + 6 + kJBits + kFBits == 64);

constexpr std::uint32_t kSteps = 256;  // thresholds; beyond e^−4 the law begins anew

// First digits of e^(−i/64). At 15 of them no two are alike: they are 9 or more apart.
struct Thresholds {
  static constexpr int kCellBits = 5;

  Thresholds() {
    for (std::uint32_t i = 1; i <= kSteps; ++i) {
      word[i] = ExpMinus64thDigits(i, 0);
      head[i] = static_cast<std::uint16_t>(word[i] >> (64 - kJBits));
    }
    head[0] = 1 << kJBits;
    std::uint16_t above = kSteps;
    for (std::uint32_t cell = 0; cell < start.size(); ++cell) {
      while (head[above] < (cell + 1) << kCellBits) --above;
      start[cell] = above;
    }
  }

  std::array<std::uint64_t, kSteps + 1> word{};
  std::array<std::uint16_t, kSteps + 2> head{};  // the last, 0, ends every search
  // By the first ten digits of J: the largest i whose threshold is above all such J.
  std::array<std::uint16_t, 1 << (kJBits - kCellBits)> start{};
};

const Thresholds& TheThresholds() {
  static const Thresholds thresholds;
  return thresholds;
}

// Whether J < e^(−i/64), where the first digits of both are the same.
bool FurtherDigitsAreBelow(std::uint32_t i, const Thresholds& thresholds, BitSource& bits) {
  const std::uint64_t rest = thresholds.word[i] << kJBits >> kJBits;
  std::uint64_t digits = bits.Next64() >> kJBits;
  if (digits != rest) return digits < rest;
  for (std::size_t place = 1;; ++place) {
    const std::uint64_t threshold = ExpMinus64thDigits(i, place);
    digits = bits.Next64();
    if (digits != threshold) return digits < threshold;
  }
}

// Pr(j ≥ i) = e^(−i/64), from the first digits of J. A J below e^(−4) says that j ≥ 256 and nothing
// more about j − 256, which has the law of j.
std::uint64_t CountOf64ths(std::uint64_t head, BitSource& bits) {
  const Thresholds& thresholds = TheThresholds();
  std::uint64_t before = 0;
  while (true) {
    std::uint32_t i = thresholds.start[head >> Thresholds::kCellBits];
    while (thresholds.head[i + 1] > head) ++i;
    if (i < kSteps && thresholds.head[i + 1] == head &&
        FurtherDigitsAreBelow(i + 1, thresholds, bits)) {
      ++i;
    }
    if (i < kSteps) return before + i;
    before += kSteps;
    head = bits.Next64() >> (64 - kJBits);
  }
}

// The digits of one f behind its first 42, drawn when asked for and then the same for every asker.
class FurtherDigits {
 public:
  explicit FurtherDigits(BitSource& bits) : bits_(bits) {}

  std::uint64_t operator[](std::size_t place) {
    while (words_.size() <= place) words_.push_back(bits_.Next64());
    return words_[place];
  }

 private:
  BitSource& bits_;
  std::vector<std::uint64_t> words_;  // empty in all but one draw of a hundred
};

// Whether a fresh uniform number is below f.
bool FreshIsBelow(std::uint64_t head, FurtherDigits& further, BitSource& bits) {
  std::uint64_t fresh = bits.Next64() >> (64 - kFBits);
  if (fresh != head) return fresh < head;
  for (std::size_t place = 0;; ++place) {
    fresh = bits.Next64();
    if (fresh != further[place]) return fresh < further[place];
  }
}

// True with probability e^(−f/64); `six` are the bits of the first coin.
bool KeepF(std::uint64_t six, std::uint64_t head, FurtherDigits& further, BitSource& bits) {
  std::uint64_t heads = 0;
  while (six == 0 && FreshIsBelow(head, further, bits) && bits.Below(heads + 1) == 0) {
    ++heads;
    six = bits.Next64() >> 58;
  }
  return heads % 2 == 0;
}

// Whether 0.further ≥ n/d, n < d ≤ 2^48: by the digits of n/d, which long division gives.
bool ReachesRatio(FurtherDigits& further, std::uint64_t n, std::uint64_t d) {
  for (std::size_t place = 0;; ++place) {
    const Uint128 shifted = static_cast<Uint128>(n) << 64;
    const auto digits = static_cast<std::uint64_t>(shifted / d);
    n = static_cast<std::uint64_t>(shifted % d);
    if (further[place] != digits) return further[place] > digits;
  }
}

}  // namespace

Int128 DiscreteLaplace(std::uint64_t scale, BitSource& bits) {
  while (true) {
    const std::uint64_t word = bits.Next64();
    const bool negative = word >> 63 != 0;
    const std::uint64_t six = word >> 57 & 63;
    const std::uint64_t f = word & ((std::uint64_t{1} << kFBits) - 1);
    FurtherDigits further(bits);
    if (!KeepF(six, f, further, bits)) continue;
    const std::uint64_t j = CountOf64ths(word >> kFBits & ((1 << kJBits) - 1), bits);
    // scale·E = (known + scale·0.further)/2^48, and the last term is below one. A product beyond
    // 128 bits would take 2^30 rounds of CountOf64ths, each with probability e^−4.
    const Uint128 known = static_cast<Uint128>(scale) * ((static_cast<Uint128>(j) << kFBits) | f);
    auto magnitude = static_cast<Int128>(known >> kPointBits);
    const std::uint64_t to_next =
        (std::uint64_t{1} << kPointBits) -
        (static_cast<std::uint64_t>(known) & ((std::uint64_t{1} << kPointBits) - 1));
    if (to_next < scale && ReachesRatio(further, to_next, scale)) ++magnitude;
    if (negative && magnitude == 0) continue;  // zero must not count twice
    return negative ? -magnitude : magnitude;
  }
}

}  // namespace sotto
