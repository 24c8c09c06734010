#include "text/missed_shares.h"

#include <gtest/gtest.h>

namespace sotto {
namespace {

TaggerModel WithTable() {
  TaggerModel model;
  model.recalls = {{0.8, 0.78, 0.01}, {0.9, 0.56, 0.02}, {0.95, 0.3, 0.04}, {0.99, 0.01, 0.2}};
  return model;
}

constexpr auto kLocation = static_cast<std::size_t>(EntityType::kLocation);

TEST(MissedShares, AreWhatTheRecallThatWasAskedForLeaves) {
  EXPECT_NEAR(*MissedBy(WithTable(), 0.95)[0], 0.05, 1e-12);
  EXPECT_NEAR(*MissedBy(WithTable(), 0.96)[0], 0.01, 1e-12);
  EXPECT_FALSE(MissedBy(WithTable(), 0.999)[0]);
}

TEST(MissedShares, OfTheMostProbableLabelsAreBoundedByTheTable) {
  const MissedShares missed = MissedBy(WithTable(), {});
  for (std::size_t i = 0; i < kTaggedTypes; ++i) EXPECT_NEAR(*missed[i], 0.1, 1e-12);
  for (std::size_t i = kTaggedTypes; i < kEntityTypes; ++i) EXPECT_FALSE(missed[i]);
  EXPECT_FALSE(MissedBy(TaggerModel(), {})[0]);
}

TEST(MissedShares, ACardMayHaveThemByType) {
  TaggerModel model = WithTable();
  model.card["missed LOC"] = "0.034";
  model.card["missed PER"] = "much";
  EXPECT_NEAR(*MissedBy(model, {})[kLocation], 0.034, 1e-12);
  EXPECT_NEAR(*MissedBy(model, {})[0], 0.1, 1e-12);
  EXPECT_NEAR(*MissedBy(model, 0.95)[kLocation], 0.05, 1e-12);
  model.card["missed LOC at 0.95"] = "0.07";
  EXPECT_NEAR(*MissedBy(model, 0.95)[kLocation], 0.07, 1e-12);
  EXPECT_NEAR(*MissedBy(model, 0.93)[kLocation], 0.07, 1e-12);  // the same row of the table
  EXPECT_NEAR(*MissedBy(model, 0.97)[kLocation], 0.01, 1e-12);
}

}  // namespace
}  // namespace sotto
