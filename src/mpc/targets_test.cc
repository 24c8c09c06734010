// Every kind of CPU that this one can stand in for.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include "base/random.h"
#include "mpc/dcf.h"
#include "mpc/ring.h"

namespace sotto {
namespace {

// Only one of Highway's targets, as long as it lives.
class OneTarget {
 public:
  explicit OneTarget(std::int64_t target) { Choose(target); }
  ~OneTarget() { Choose(0); }
  OneTarget(const OneTarget&) = delete;
  OneTarget& operator=(const OneTarget&) = delete;

 private:
  static void Choose(std::int64_t targets) {
    hwy::SetSupportedTargetsForTest(targets);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

struct Numbers {
  RingVector product, public_product, stream, first_key, second_key, share;
  bool operator==(const Numbers&) const = default;
};

Numbers Compute() {
  SeededRng rng(1);
  const auto random = [&](std::size_t n) {
    RingVector v(n);
    for (std::uint64_t& value : v) value = rng();
    return v;
  };
  const std::size_t rows = 13, columns = 1101, batch = 6;
  const RingMatrix w{rows, columns, random(rows * columns)};
  PublicMatrix weights{rows, columns, {}};
  for (const std::uint64_t value : w.values) {
    weights.values.push_back(static_cast<std::int16_t>(value));
  }
  const RingVector x = random(batch * columns);
  Numbers numbers{RingVector(rows * batch), RingVector(rows * batch), RingVector(333), {}, {}, {}};
  Multiply(w, x, batch, numbers.product);
  Multiply(weights, x, batch, numbers.public_product);
  const Seed seed{{1, 2, 3}}, other{{4, 5, 6}};
  ExpandSeed(seed, 9, numbers.stream);
  const DcfShape shape{35, 3, 29};
  RingVector alpha = random(29), at = random(29);
  for (RingVector* v : {&alpha, &at}) {
    for (std::uint64_t& value : *v) value >>= 29U;
  }
  const auto keys = MakeDcfKeys(shape, alpha, random(87), {seed, other}, AesBlock{7});
  numbers.share.resize(87);
  EvaluateDcf(keys[1], at, numbers.share);
  numbers.first_key = keys[0].words;
  numbers.second_key = keys[1].words;
  return numbers;
}

TEST(Targets, AllGiveTheSameNumbers) {
  const Numbers expected = Compute();
  std::int64_t rest = hwy::SupportedTargets();
  for (; rest != 0; rest &= rest - 1) {
    const std::int64_t target = rest & -rest;
    const OneTarget only(target);
    EXPECT_TRUE(Compute() == expected) << hwy::TargetName(target);
  }
}

}  // namespace
}  // namespace sotto
