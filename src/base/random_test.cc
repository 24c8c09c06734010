#include "base/random.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/testing.h"

namespace sotto {
namespace {

double Correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const double n = static_cast<double>(a.size());
  double ma = 0, mb = 0, saa = 0, sbb = 0, sab = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ma += a[i] / n;
    mb += b[i] / n;
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    saa += (a[i] - ma) * (a[i] - ma);
    sbb += (b[i] - mb) * (b[i] - mb);
    sab += (a[i] - ma) * (b[i] - mb);
  }
  return sab / std::sqrt(saa * sbb);
}

TEST(Key, DrawsOfTwoKeysAreIndependentAndUniform) {
  const Key first = Key::FromSystem();
  const Key second = Key::FromSystem();
  std::vector<double> a, b;
  double below_half = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string id = std::to_string(i);
    a.push_back(first.Uniform({"alpha", id}));
    b.push_back(second.Uniform({"alpha", id}));
    below_half += a.back() < 0.5 ? 1 : 0;
  }
  // 5 standard deviations of each statistic under independence: 5/sqrt(20000) = 0.035.
  EXPECT_LT(std::abs(Correlation(a, b)), 0.035);
  EXPECT_NEAR(below_half / 20000, 0.5, 0.018);
}

TEST(Key, FieldsAreLengthPrefixed) {
  const Key key = Key::FromExperimentSeed(1);
  EXPECT_NE(key.Hash({"ab", "c"}), key.Hash({"a", "bc"}));
  EXPECT_NE(key.Hash({"ab"}), key.Hash({"ab", ""}));
  EXPECT_EQ(key.Hash({"ab", "c"}), key.Hash({"ab", "c"}));
}

TEST(Key, FileIsPrivateAndRoundTrips) {
  const testing::TemporaryFolder folder;
  const Key key = Key::FromSystem();
  key.WriteFile(folder / "key");
  struct stat info {};
  ASSERT_EQ(::stat((folder / "key").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  EXPECT_EQ(Key::FromFile(folder / "key").Hash({"x"}), key.Hash({"x"}));
  EXPECT_THROW(key.WriteFile(folder / "key"), Error);
}

TEST(Key, RefusesFilesThatAreNoKeys) {
  const testing::TemporaryFolder folder;
  for (const char* content : {"", "abc", "zz", "0123456789"}) {
    WriteFileAtomically(folder / "key", content);
    EXPECT_THROW(Key::FromFile(folder / "key"), Error);
  }
  EXPECT_THROW(Key::FromFile(folder / "absent"), Error);
}

TEST(Key, SeededKeysAreMarkedAsExperiments) {
  EXPECT_TRUE(Key::FromExperimentSeed(7).IsExperiment());
  EXPECT_FALSE(Key::FromSystem().IsExperiment());
  EXPECT_EQ(Key::FromExperimentSeed(7).Hex(), Key::FromExperimentSeed(7).Hex());
  EXPECT_NE(Key::FromExperimentSeed(7).Hex(), Key::FromExperimentSeed(8).Hex());
}

TEST(SeededRng, GaussianHasUnitVariance) {
  SeededRng rng(3);
  double sum = 0, squares = 0;
  for (int i = 0; i < 100000; ++i) {
    const double x = rng.Gaussian();
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / 100000, 0.0, 0.016);
  EXPECT_NEAR(squares / 100000, 1.0, 0.025);
}

TEST(KeyedGaussian, IsStandardNormalAndTheKeysAlone) {
  const Key key = Key::FromExperimentSeed(3);
  KeyedGaussian first(key), again(key), other(Key::FromExperimentSeed(4));
  constexpr int kDraws = 20000;
  double sum = 0.0, squares = 0.0, product = 0.0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = first();
    EXPECT_EQ(x, again());
    product += x * other();
    sum += x;
    squares += x * x;
  }
  // Five standard deviations of each mean.
  EXPECT_NEAR(sum / kDraws, 0.0, 5.0 / std::sqrt(kDraws));
  EXPECT_NEAR(squares / kDraws, 1.0, 5.0 * std::sqrt(2.0 / kDraws));
  EXPECT_NEAR(product / kDraws, 0.0, 5.0 / std::sqrt(kDraws));
}

}  // namespace
}  // namespace sotto
