// The quick sampler against the formula, against the printed algorithm, and, with bits laid out by
// hand, in the comparisons that chance reaches once in 10^5 to 10^30 draws.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "base/error.h"
#include "dp/falsify_testing.h"
#include "dp/mechanisms.h"
#include "dp/plain_laplace_testing.h"
#include "dp/samplers.h"

namespace sotto {
namespace {

using testing::FalsifyDp;
using testing::NeighbourPair;
using testing::PlainDiscreteLaplace;
using testing::SeededBits;

constexpr auto kLargeScale = static_cast<std::uint64_t>(1.3 * 0x1p40);

std::vector<double> Draws(std::uint64_t scale, std::size_t n, std::uint64_t seed) {
  SeededBits bits(seed);
  std::vector<double> draws(n);
  for (double& z : draws) z = static_cast<double>(DiscreteLaplace(scale, bits));
  return draws;
}

std::vector<double> PlainDraws(std::uint64_t scale, std::size_t n, std::uint64_t seed) {
  SeededBits bits(seed);
  std::vector<double> draws(n);
  for (double& z : draws) z = static_cast<double>(PlainDiscreteLaplace(scale, bits));
  return draws;
}

// Pearson's statistic in deviations of its distribution.
double ChiSquareDeviations(std::span<const double> found, std::span<const double> expected) {
  double statistic = 0.0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    statistic += (found[i] - expected[i]) * (found[i] - expected[i]) / expected[i];
  }
  const auto degrees = static_cast<double>(found.size()) - 1.0;
  return (statistic - degrees) / std::sqrt(2.0 * degrees);
}

// Counts of −reach … reach, and of what is below and above.
std::vector<double> Histogram(std::span<const double> draws, double reach) {
  std::vector<double> counts(static_cast<std::size_t>(2 * reach) + 3, 0.0);
  for (const double z : draws) {
    counts[static_cast<std::size_t>(std::clamp(z, -reach - 1, reach + 1) + reach + 1)] += 1.0;
  }
  return counts;
}

// The largest distance of two distribution functions.
double KolmogorovSmirnov(std::vector<double> a, std::vector<double> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  double distance = 0.0;
  std::size_t j = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    while (j < b.size() && b[j] <= a[i]) ++j;
    distance = std::max(distance, std::abs(static_cast<double>(i + 1) / a.size() -
                                           static_cast<double>(j) / b.size()));
  }
  return distance;
}

TEST(DiscreteLaplace, HasTheProbabilitiesOfTheFormulaAtSmallScales) {
  constexpr std::size_t kDraws = 2000000;
  for (const std::uint64_t scale : {1, 2, 3, 7, 100}) {
    const auto draws = Draws(scale, kDraws, scale);
    const double q = std::exp(-1.0 / static_cast<double>(scale));
    const double reach = std::floor(9.0 * static_cast<double>(scale));
    std::vector<double> expected;
    for (double z = -reach; z <= reach; ++z) {
      expected.push_back(kDraws * (1.0 - q) / (1.0 + q) * std::pow(q, std::abs(z)));
    }
    const double tail = kDraws * std::pow(q, reach + 1.0) / (1.0 + q);
    expected.insert(expected.begin(), tail);
    expected.push_back(tail);
    EXPECT_LT(std::abs(ChiSquareDeviations(Histogram(draws, reach), expected)), 4.0) << scale;
  }
}

TEST(DiscreteLaplace, HasTheLawOfTheMechanismsScale) {
  constexpr std::size_t kDraws = 4000000;
  const auto draws = Draws(kLargeScale, kDraws, 5);
  const auto scale = static_cast<double>(kLargeScale);
  std::vector<double> sorted = draws;
  std::sort(sorted.begin(), sorted.end());
  double distance = 0.0;
  for (std::size_t i = 0; i < kDraws; ++i) {
    const double x = sorted[i] / scale;
    const double below = x < 0 ? 0.5 * std::exp(x) : 1.0 - 0.5 * std::exp(-x);
    distance = std::max(distance, std::abs(below - (static_cast<double>(i) + 0.5) / kDraws));
  }
  EXPECT_LT(distance * std::sqrt(kDraws), 1.95);  // a true law exceeds it once in a thousand times

  // Both sides alike, also far out: sign and tails in deviations.
  const auto beyond = [&](double from, double to) {
    return static_cast<double>(
        std::count_if(draws.begin(), draws.end(), [&](double z) { return z > from && z < to; }));
  };
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double far : {0.0, 1.0, 4.0, 5.0, 8.0, 10.0}) {
    const double mean = 0.5 * kDraws * std::exp(-far);
    EXPECT_NEAR(beyond(far * scale, infinity), mean, 4.0 * std::sqrt(mean)) << far;
    EXPECT_NEAR(beyond(-infinity, -far * scale), mean, 4.0 * std::sqrt(mean)) << far;
  }
}

// Where in a 64th of the scale the magnitude lies has the density of e^(−f/64): the mean is 0.0013
// below a half, nine deviations. Its last digits are uniform but for 2^−34.
TEST(DiscreteLaplace, IsExponentialWithinA64thAndUniformInTheLastDigits) {
  constexpr std::size_t kDraws = 4000000;
  const auto draws = Draws(kLargeScale, kDraws, 6);
  double sum = 0.0;
  std::vector<double> last(64, 0.0);
  for (const double z : draws) {
    const double e = 64.0 * (std::abs(z) + 0.5) / static_cast<double>(kLargeScale);
    sum += e - std::floor(e);
    last[static_cast<std::size_t>(std::fmod(std::abs(z), 64.0))] += 1.0;
  }
  const double r = std::exp(-1.0 / 64.0);
  const double mean = 64.0 - r / (1.0 - r);
  const double deviation = std::sqrt(1.0 / 12.0 / kDraws);
  EXPECT_NEAR(sum / kDraws, mean, 4.0 * deviation);
  EXPECT_GT(0.5 - mean, 8.0 * deviation);  // so that a forgotten coin would be seen
  EXPECT_LT(std::abs(ChiSquareDeviations(last, std::vector<double>(64, kDraws / 64.0))), 4.0);
}

TEST(DiscreteLaplace, HasTheLawOfThePrintedAlgorithm) {
  constexpr std::size_t kDraws = 1000000;
  for (const std::uint64_t scale : {1, 5}) {
    const double reach = 6.0 * static_cast<double>(scale);
    const auto found = Histogram(Draws(scale, kDraws, 7), reach);
    const auto oracle = Histogram(PlainDraws(scale, kDraws, 8), reach);
    // Half of what both together have is what each should have; the difference varies twice as
    // much as a count against a known mean would.
    std::vector<double> middle, shifted;
    for (std::size_t i = 0; i < found.size(); ++i) {
      middle.push_back(0.5 * (found[i] + oracle[i]));
      shifted.push_back(middle[i] + std::sqrt(0.5) * (found[i] - oracle[i]));
    }
    EXPECT_LT(std::abs(ChiSquareDeviations(shifted, middle)), 4.0) << scale;
  }
  const double distance =
      KolmogorovSmirnov(Draws(kLargeScale, kDraws, 9), PlainDraws(kLargeScale, kDraws, 10));
  EXPECT_LT(distance * std::sqrt(kDraws / 2.0), 1.95);
}

// Bits as they are given; whoever draws more than that fails.
class ScriptedBits final : public BitSource {
 public:
  explicit ScriptedBits(std::vector<std::uint64_t> words) : words_(std::move(words)) {}
  std::uint64_t Next64() override {
    if (next_ == words_.size()) ADD_FAILURE() << "draws more than " << next_ << " words";
    return next_ < words_.size() ? words_[next_++] : ~std::uint64_t{0};
  }
  bool Spent() const { return next_ == words_.size(); }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t next_ = 0;
};

// The draw from these words, of which each must be used.
std::int64_t DrawOf(std::uint64_t scale, std::vector<std::uint64_t> words) {
  ScriptedBits bits(std::move(words));
  const Int128 z = DiscreteLaplace(scale, bits);
  EXPECT_TRUE(bits.Spent());
  return static_cast<std::int64_t>(z);
}

std::uint64_t FirstWord(bool negative, std::uint64_t six, std::uint64_t j, std::uint64_t f) {
  return static_cast<std::uint64_t>(negative) << 63 | six << 57 | j << 42 | f;
}

constexpr std::uint64_t kWhole = std::uint64_t{1} << 48;  // of this scale j and f are read off
constexpr std::uint64_t kF = 0x123456789ab;
std::uint64_t JF(std::uint64_t j, std::uint64_t f) { return j << 42 | f; }
// The first digits of a J halfway between two thresholds: of this j.
std::uint64_t HeadFor(int j) {
  return static_cast<std::uint64_t>(std::exp(-(j + 0.5) / 64.0) * 0x1p15);
}

TEST(DiscreteLaplace, CountsEvery64thFromOneWord) {
  for (int j = 0; j < 256; ++j) {
    const auto expected = static_cast<std::int64_t>(JF(static_cast<std::uint64_t>(j), kF));
    EXPECT_EQ(DrawOf(kWhole, {FirstWord(false, 1, HeadFor(j), kF)}), expected) << j;
    EXPECT_EQ(DrawOf(kWhole, {FirstWord(true, 63, HeadFor(j), kF)}), -expected) << j;
  }
  // Beyond e^−4 it begins anew, as often as need be.
  EXPECT_EQ(DrawOf(kWhole, {FirstWord(false, 1, 0, kF), 0, HeadFor(17) << 49}),
            static_cast<std::int64_t>(JF(2 * 256 + 17, kF)));
}

TEST(DiscreteLaplace, ComparesWithAThresholdDownToTheDigitThatDecides) {
  const std::uint64_t one[] = {0x5e2d58d8b3bcdf1a, 0xbadec7829054f90d, 0xda9805aab56c7733};  // 1/e
  const std::uint64_t head = FirstWord(false, 1, one[0] >> 49, kF);
  const auto below = static_cast<std::int64_t>(JF(64, kF));
  const auto above = static_cast<std::int64_t>(JF(63, kF));
  const std::uint64_t rest = one[0] << 15;
  constexpr std::uint64_t kLastRest = 1 << 15;  // of the 49 digits that complete the first word
  EXPECT_EQ(DrawOf(kWhole, {head, rest - kLastRest}), below);
  EXPECT_EQ(DrawOf(kWhole, {head, rest + kLastRest}), above);
  EXPECT_EQ(DrawOf(kWhole, {head, rest, one[1] - 1}), below);
  EXPECT_EQ(DrawOf(kWhole, {head, rest, one[1] + 1}), above);
  EXPECT_EQ(DrawOf(kWhole, {head, rest, one[1], one[2] - 1}), below);
  EXPECT_EQ(DrawOf(kWhole, {head, rest, one[1], one[2] + 1}), above);
}

TEST(DiscreteLaplace, ThrowsVonNeumannsCoinsToTheEnd) {
  const std::uint64_t first = FirstWord(false, 0, HeadFor(2), kF);
  const auto kept = static_cast<std::int64_t>(JF(2, kF));
  const std::uint64_t below = (kF - 1) << 22, above = (kF + 1) << 22, equal = kF << 22;
  constexpr std::uint64_t kNotSix = std::uint64_t{1} << 58;
  constexpr std::uint64_t kTop = std::uint64_t{1} << 63;
  const std::uint64_t again = FirstWord(false, 1, HeadFor(3), 5);
  const auto anew = static_cast<std::int64_t>(JF(3, 5));
  EXPECT_EQ(DrawOf(kWhole, {first, above}), kept);                         // no heads
  EXPECT_EQ(DrawOf(kWhole, {first, below, kNotSix, again}), anew);         // one: thrown away
  EXPECT_EQ(DrawOf(kWhole, {first, below, 0, above, again}), anew);        // the second from f
  EXPECT_EQ(DrawOf(kWhole, {first, below, 0, below, kTop, again}), anew);  // and from its half
  EXPECT_EQ(DrawOf(kWhole, {first, below, 0, below, 0, kNotSix}), kept);   // two heads
  // A tie with f looks at the digits behind: fresh ones first, then those of f.
  EXPECT_EQ(DrawOf(kWhole, {first, equal, 7, 8, kNotSix, again}), anew);
  EXPECT_EQ(DrawOf(kWhole, {first, equal, 8, 7}), kept);
  EXPECT_EQ(DrawOf(kWhole, {first, equal, 8, 8, 2, 1}), kept);
}

// At scale 3 and these digits, 3·E is 1 − 2^−48·(1 − 3·rest): a rest from a third on reaches 1.
TEST(DiscreteLaplace, ReachesTheNextWholeNumberExactlyWhereTheProductDoes) {
  constexpr std::uint64_t kThird = 0x5555555555555555;
  const std::uint64_t n = kWhole / 3;
  const std::uint64_t f = n & ((std::uint64_t{1} << 42) - 1);
  const std::uint64_t first = FirstWord(false, 1, HeadFor(static_cast<int>(n >> 42)), f);
  EXPECT_EQ(DrawOf(3, {first, kThird - 1}), 0);
  EXPECT_EQ(DrawOf(3, {first, kThird + 1}), 1);
  EXPECT_EQ(DrawOf(3, {first, kThird, kThird, kThird - 1}), 0);
  EXPECT_EQ(DrawOf(3, {first, kThird, kThird, kThird + 1}), 1);
  // The digits that a coin has looked at are those that count here.
  const std::uint64_t coin = FirstWord(false, 0, HeadFor(static_cast<int>(n >> 42)), f);
  EXPECT_EQ(DrawOf(3, {coin, f << 22, kThird + 9, kThird + 8}), 1);
  EXPECT_EQ(DrawOf(3, {coin, f << 22, kThird + 9, kThird - 8}), 0);
  // Minus zero is drawn anew, minus one is not.
  const std::uint64_t minus = first | std::uint64_t{1} << 63;
  EXPECT_EQ(DrawOf(3, {minus, kThird - 1, first, kThird + 1}), 1);
  EXPECT_EQ(DrawOf(3, {minus, kThird + 1}), -1);
}

TEST(DiscreteLaplace, SurvivesFalsificationInAWholeLatent) {
  constexpr std::size_t kSize = 8;
  std::vector<double> a(kSize, 0.0), b(kSize, 0.0), c(kSize, 1e-3), d(kSize, -1e-3);
  a[3] = 1.0;
  b[3] = -1.0;
  c[0] = 7.0;
  const std::vector<NeighbourPair> pairs = {{a, b, 1.0}, {c, d, 1.0}};
  const auto release = [&](double sensitivity) {
    const LaplaceMechanism laplace(1.0, sensitivity, kSize);
    return FalsifyDp(
        [laplace](std::span<const double> x, BitSource& bits) {
          std::vector<double> latent = ClipL1(x, 1.0);
          Budget budget;
          laplace.ReleaseInPlace(latent, budget, bits);
          return latent;
        },
        pairs);
  };
  const auto whole = release(ClippedSensitivity(1.0, Neighbours::kReplaceOne));
  EXPECT_FALSE(whole.rejected) << whole.event << ' ' << whole.eps_lower;
  EXPECT_GT(whole.eps_lower, 0.7);
  EXPECT_TRUE(release(1.0).rejected);
}

// The sampler without the digits of f: what it reaches tells the neighbours apart.
TEST(DiscreteLaplace, WithoutItsLastDigitsWouldBeFalsified) {
  const NoiseGrid grid = NoiseGrid::ForScale(1.0);
  const auto result = FalsifyDp(
      [&](std::span<const double> x, BitSource& bits) {
        const Int128 coarse = Int128{1} << 34;  // a 64th of the scale
        return std::vector{
            grid.Value(grid.Round(x[0]) + DiscreteLaplace(1 << 20, bits) / (1 << 14) * coarse)};
      },
      std::vector<NeighbourPair>{{{0.0}, {0.3}, 1.0}});
  EXPECT_TRUE(result.rejected);
}

TEST(Mechanisms, ReleasingInPlaceIsReleasing) {
  const LaplaceMechanism laplace(0.7, 2.0, 3);
  const std::vector<double> values = {0.25, -1e5, 1e13};
  SeededBits bits(21), same(21);
  Budget budget, own;
  std::vector<double> latent = values;
  laplace.ReleaseInPlace(latent, own, same);
  EXPECT_EQ(latent, laplace.Release(values, budget, bits));
  EXPECT_EQ(own.Events()[0].count, budget.Events()[0].count);
  std::vector<double> two = {1.0, 2.0};
  EXPECT_THROW(laplace.ReleaseInPlace(two, own, same), Error);
}

// Both ways through NoiseGrid, the short and the long number, meet without a step.
TEST(NoiseGrid, RoundsAndReturnsValuesOfEverySizeAsLdexpDoes) {
  for (const double scale : {1e-250, 3e-7, 1.0, 2.44, 1e250}) {
    const NoiseGrid grid = NoiseGrid::ForScale(scale);
    for (const double units : {0.5, 1.5, -2.5, 0x1p52 + 1, 0x1.fffffffffffffp61, 0x1p62, -0x1p62,
                               0x1p63, 0x1.8p90, -0x1.23456789abcdep119}) {
      const double value = std::ldexp(units, grid.exponent);
      const auto rounded = static_cast<Int128>(std::nearbyint(units));
      EXPECT_TRUE(grid.Round(value) == rounded) << scale << ' ' << units;
      EXPECT_EQ(grid.Value(rounded), std::ldexp(std::nearbyint(units), grid.exponent));
    }
    // A sum of more than 53 digits, below and above 2^63: rounded to nearest, as the long one is.
    for (const Int128 sum : {(Int128{1} << 60) + 385, (Int128{1} << 70) + 12345}) {
      EXPECT_EQ(grid.Value(sum), std::ldexp(static_cast<double>(sum), grid.exponent));
    }
  }
}

}  // namespace
}  // namespace sotto
