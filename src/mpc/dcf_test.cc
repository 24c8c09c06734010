#include "mpc/dcf.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"

namespace sotto {
namespace {

struct Case {
  DcfShape shape;
  RingVector alpha, beta;
  std::array<DcfKeys, 2> keys;

  Case(const DcfShape& shape_, SeededRng& rng) : shape(shape_) {
    for (std::size_t i = 0; i < shape.count; ++i) alpha.push_back(rng() >> (64 - shape.bits));
    for (std::size_t i = 0; i < shape.count * shape.values; ++i) beta.push_back(rng());
  }
  void Make(AesPath path) {
    keys = MakeDcfKeys(shape, alpha, beta, {FreshSeed(), FreshSeed()}, FreshSeed(), path);
  }
  // Both shares together are β where x < α and 0 elsewhere.
  void Expect(const RingVector& x, AesPath path = AesPath::kAuto) const {
    RingVector first(beta.size()), second(beta.size());
    EvaluateDcf(keys[0], x, first, path);
    EvaluateDcf(keys[1], x, second, path);
    for (std::size_t i = 0; i < beta.size(); ++i) {
      const std::size_t c = i % shape.count;
      ASSERT_EQ(first[i] + second[i], x[c] < alpha[c] ? beta[i] : 0)
          << "x " << x[c] << ", alpha " << alpha[c] << ", value " << i / shape.count;
    }
  }
};

TEST(Dcf, IsExactOnWholeSmallDomains) {
  SeededRng rng(1);
  for (const unsigned bits : {1U, 2U, 5U}) {
    for (const unsigned values : {1U, 2U, 3U, 4U}) {
      const std::size_t size = std::size_t{1} << bits;
      Case one({bits, values, size * size}, rng);
      RingVector x;
      for (std::size_t i = 0; i < size * size; ++i) {
        one.alpha[i] = i / size;
        x.push_back(i % size);
      }
      for (const AesPath path : {AesPath::kAuto, AesPath::kPortable}) {
        one.Make(path);
        one.Expect(x, path);
      }
    }
  }
}

TEST(Dcf, IsExactOn35BitsAroundAlphaAndAnywhere) {
  SeededRng rng(2);
  for (const unsigned bits : {35U, 56U}) {
    Case one({bits, 4, 1001}, rng);
    one.Make(AesPath::kAuto);
    const std::uint64_t top = (std::uint64_t{1} << bits) - 1;
    for (const int offset : {-1, 0, 1}) {
      RingVector x;
      for (const std::uint64_t alpha : one.alpha) {
        x.push_back((alpha + static_cast<std::uint64_t>(offset)) & top);
      }
      one.Expect(x);
    }
    one.Expect(RingVector(1001, 0));
    one.Expect(RingVector(1001, top));
    RingVector x;
    for (std::size_t i = 0; i < 1001; ++i) x.push_back(rng() & top);
    one.Expect(x);
  }
}

TEST(Dcf, BothPathsGiveTheSameKeysAndShares) {
  if (!HasAesInstructions()) GTEST_SKIP() << "no AES instructions on this machine";
  SeededRng rng(3);
  for (const unsigned values : {1U, 2U, 4U}) {
    const Case one({35, values, 37}, rng);
    const std::array<Seed, 2> roots = {FreshSeed(), FreshSeed()};
    const AesBlock cipher = FreshSeed();
    const auto fast = MakeDcfKeys(one.shape, one.alpha, one.beta, roots, cipher);
    const auto portable =
        MakeDcfKeys(one.shape, one.alpha, one.beta, roots, cipher, AesPath::kPortable);
    RingVector x, a(one.beta.size()), b(one.beta.size());
    for (std::size_t i = 0; i < 37; ++i) x.push_back(rng() >> 29U);
    for (std::size_t p = 0; p < 2; ++p) {
      EXPECT_EQ(fast[p].words, portable[p].words);
      EvaluateDcf(fast[p], x, a);
      EvaluateDcf(fast[p], x, b, AesPath::kPortable);
      EXPECT_EQ(a, b);
    }
  }
}

TEST(Dcf, AKeyOf35BitsAndFourValuesTakesLessThan1800BytesAComparison) {
  EXPECT_LT((DcfShape{35, 4, 1024}.KeyWords() * 8), 1800U * 1024U);
}

}  // namespace
}  // namespace sotto
