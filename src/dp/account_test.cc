#include "dp/account.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace sotto {
namespace {

TEST(Account, EveryRuleIsAskedThatCanAnswer) {
  const Account plain = MakeAccount(PrivacyEvent::SubsampledGaussian(1.0, 4.0, 3), 1e-5);
  EXPECT_TRUE(plain.sequential && plain.advanced && plain.rho && plain.concentrated && plain.gdp);
  EXPECT_DOUBLE_EQ(plain.gdp->mu, std::sqrt(3.0) / 4.0);
  EXPECT_EQ(plain.Epsilon(), std::min(plain.pld.eps, plain.rdp.eps));
  const Account sampled = MakeAccount(PrivacyEvent::SubsampledGaussian(0.1, 4.0, 3), 1e-5);
  EXPECT_TRUE(!sampled.sequential && !sampled.rho && sampled.gdp);
  EXPECT_LT(sampled.Epsilon(), plain.Epsilon());
  EXPECT_FALSE(MakeAccount(PrivacyEvent::Laplace(0.1), 1e-5).gdp);
  EXPECT_THROW(MakeAccount(PrivacyEvent::Laplace(0.1), 0.0), Error);
}

TEST(NoiseFor, GivesTheWishedEpsilon) {
  const WishedNoise both = NoiseFor({1.0, 1e-5, 1.0, 2, 3.0, false});
  EXPECT_TRUE(both.exact);
  EXPECT_DOUBLE_EQ(*both.laplace_scale, 6.0);
  EXPECT_NEAR(MakeAccount(PrivacyEvent::SubsampledGaussian(1.0, *both.gaussian, 2), 1e-5).pld.eps,
              1.0, 0.01);
  EXPECT_FALSE(NoiseFor({1.0}).gaussian);
  const WishedNoise sampled = NoiseFor({1.0, 1e-5, 0.5});
  EXPECT_TRUE(sampled.gaussian && !sampled.exact && !sampled.laplace_scale);
  EXPECT_THROW(NoiseFor({-1.0}), Error);
}

}  // namespace
}  // namespace sotto
