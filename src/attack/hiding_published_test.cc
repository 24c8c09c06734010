#include "attack/hiding_published.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace sotto {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(PublishedGenderAae, TellsRatesThatCanBe) {
  ASSERT_FALSE(PublishedGenderAae().empty());
  for (const PublishedHiding& point : PublishedGenderAae()) {
    EXPECT_FALSE(point.what.empty());
    const double eer = point.eer.value_or(0.25), auc = point.auc.value_or(0.0);
    EXPECT_TRUE(eer > 0.0 && eer < 0.5) << point.what << ' ' << eer;
    EXPECT_TRUE(auc >= 0.5 && auc <= 1.0) << point.what << ' ' << auc;
    EXPECT_GT(point.eps_train.value_or(kInf), 0.0) << point.what;
    // Noise at use is finite, and that of a net trained with noise.
    if (!point.eps) continue;
    EXPECT_TRUE(*point.eps > 0.0 && *point.eps < kInf) << point.what;
    EXPECT_LT(point.eps_train.value_or(kInf), kInf) << point.what;
  }
}

TEST(PublishedGenderAae, BeginsUnprotectedWhereAttackersReadMostAndErrorsAreFewest) {
  const auto& points = PublishedGenderAae();
  const PublishedHiding& unprotected = points.front();
  ASSERT_TRUE(unprotected.eer && unprotected.auc);
  EXPECT_EQ(std::count_if(points.begin(), points.end(),
                          [](const auto& point) { return !point.eps_train.has_value(); }),
            1);
  EXPECT_FALSE(unprotected.eps_train.has_value());
  for (const PublishedHiding& point : points) {
    EXPECT_LE(point.auc, unprotected.auc) << point.what;
    EXPECT_GE(point.eer.value_or(0.5), *unprotected.eer) << point.what;
  }
}

TEST(PublishedGenderAae, MoreNoiseAtUseHidesNoLessAndCostsNoLess) {
  int compared = 0;
  for (const PublishedHiding& a : PublishedGenderAae()) {
    for (const PublishedHiding& b : PublishedGenderAae()) {
      if (!a.eps_train || a.eps_train != b.eps_train) continue;
      if (a.eps.value_or(kInf) >= b.eps.value_or(kInf)) continue;
      ++compared;
      EXPECT_LE(a.auc, b.auc) << *a.eps_train << ' ' << a.what << ", " << b.what;
      EXPECT_GE(a.eer.value_or(0.5), b.eer.value_or(0.0)) << a.what << ", " << b.what;
    }
  }
  EXPECT_GT(compared, 0);
}

}  // namespace
}  // namespace sotto
