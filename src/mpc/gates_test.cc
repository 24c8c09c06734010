#include "mpc/gates.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/random.h"

namespace sotto {
namespace {

RingVector Opened(const std::array<GateHalf, 2>& gate, const Shares& z) {
  return Open(HideShare(gate[0], z[0]), HideShare(gate[1], z[1]));
}

// Numbers in −2^bits + 1 … 2^bits − 1, the ends and 0 among them.
std::vector<std::int64_t> Numbers(unsigned bits, std::size_t count) {
  SeededRng rng(bits);
  const std::int64_t limit = (std::int64_t{1} << bits) - 1;
  std::vector<std::int64_t> z = {0, 1, -1, limit, -limit};
  while (z.size() < count) {
    const auto magnitude = static_cast<std::int64_t>(rng() >> (64 - bits));
    z.push_back(rng() % 2 == 0 ? magnitude : -magnitude);
  }
  return z;
}

TEST(Gates, SharesAddUpToTheSecret) {
  const std::uint64_t secret[] = {0, 1, ~std::uint64_t{0}, 12345};
  const Shares shares = Split(secret);
  EXPECT_EQ(Open(shares[0], shares[1]), RingVector(std::begin(secret), std::end(secret)));
  EXPECT_NE(Split(secret)[0], shares[0]);
}

TEST(Gates, ComparesAndRectifiesWholeRanges) {
  for (const unsigned bits : {1U, 8U, 35U, 56U, 62U}) {
    const auto z = Numbers(bits, 300);
    const Shares shares = Split(RingVector(z.begin(), z.end()));
    const auto sign = DealGate(Gate::kSign, bits, z.size());
    const auto relu = DealGate(Gate::kRelu, bits, z.size());
    const RingVector hidden = Opened(sign, shares), hidden_relu = Opened(relu, shares);
    const RingVector d = Open(SelectShares(sign[0], hidden), SelectShares(sign[1], hidden));
    const RingVector y = Open(ReluShares(relu[0], hidden_relu), ReluShares(relu[1], hidden_relu));
    for (std::size_t i = 0; i < z.size(); ++i) {
      EXPECT_EQ(d[i], z[i] >= 0 ? 1U : 0U) << z[i] << " on " << bits << " bits";
      EXPECT_EQ(static_cast<std::int64_t>(y[i]), std::max<std::int64_t>(z[i], 0));
    }
  }
}

TEST(Gates, WeightedReluGivesTheMaskOfTheWeightsToo) {
  const auto z = Numbers(35, 100);
  const Shares shares = Split(RingVector(z.begin(), z.end()));
  RingVector b(z.size());
  SeededRng rng(5);
  for (std::uint64_t& value : b) value = rng();
  const auto gate = DealGate(Gate::kWeightedRelu, 35, z.size(), b);
  const RingVector hidden = Opened(gate, shares);
  const RingVector v = Open(SelectShares(gate[0], hidden), SelectShares(gate[1], hidden));
  const std::size_t n = z.size();
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t relu = z[i] > 0 ? static_cast<std::uint64_t>(z[i]) : 0;
    EXPECT_EQ(hidden[i] * v[i] - v[n + i], relu);
    EXPECT_EQ(hidden[i] * v[2 * n + i] - v[3 * n + i], relu * b[i]);
  }
}

TEST(Gates, ALinearLayerOfTwoSecretsIsExact) {
  constexpr std::size_t kRows = 5, kColumns = 33;
  SeededRng rng(6);
  RingMatrix w{kRows, kColumns, RingVector(kRows * kColumns)};
  for (std::uint64_t& value : w.values) value = rng();
  Shares shares = Split(w.values);
  const std::array<Seed, 2> masks = {FreshSeed(), FreshSeed()};
  std::array<RingMatrix, 2> hidden;
  for (std::size_t p = 0; p < 2; ++p) {
    hidden[p] = HideMatrix({kRows, kColumns, shares[p]}, masks[p]);
  }
  for (int round = 0; round < 3; ++round) {
    RingVector x(kColumns), expected(kRows);
    for (std::uint64_t& value : x) value = rng();
    Multiply(w, x, 1, expected);
    const auto dealt = DealLinear(masks, kRows, kColumns);
    const RingVector e = HideInput(x, {dealt[0].input_mask, dealt[1].input_mask});
    Shares product;
    for (std::size_t p = 0; p < 2; ++p) {
      const SharedMatrix matrix = FinishMatrix(p == 1, hidden[p], hidden[1 - p], masks[p]);
      product[p] = ApplyLinear(matrix, e, PrepareLinear(matrix, dealt[p]));
    }
    EXPECT_EQ(Open(product[0], product[1]), expected);
  }
}

TEST(Gates, SizesThatDoNotFitAreRefused) {
  EXPECT_THROW(DealGate(Gate::kSign, 0, 1), Error);
  EXPECT_THROW(DealGate(Gate::kSign, 63, 1), Error);
  EXPECT_THROW(DealGate(Gate::kWeightedRelu, 35, 2, RingVector(1)), Error);
  const auto gate = DealGate(Gate::kSign, 35, 2);
  EXPECT_THROW(HideShare(gate[0], RingVector(3)), Error);
  EXPECT_THROW(SelectShares(gate[0], RingVector(1)), Error);
}

}  // namespace
}  // namespace sotto
