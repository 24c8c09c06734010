#include "text/entity.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace sotto {
namespace {

using enum EntityType;

TEST(EntityTypes, AreReadByNameInAnyCase) {
  for (std::size_t i = 0; i < kEntityTypes; ++i) {
    const auto type = static_cast<EntityType>(i);
    EXPECT_EQ(ParseEntityType(EntityName(type)), type);
  }
  EXPECT_EQ(ParseEntityType("iban"), kIban);
  try {
    ParseEntityType("COLOUR");
    FAIL() << "COLOUR is no type";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("PER, LOC, ORG"), std::string::npos);
  }
}

TEST(OverlappingEntities, TheLongestStaysAndNothingIsUncovered) {
  const auto kept =
      WithoutOverlap({{4, 9, kPerson, 0.9}, {0, 6, kLocation, 0.99}, {20, 22, kDate}});
  const std::vector<Entity> expected = {
      {0, 6, kLocation, 0.99}, {6, 9, kPerson, 0.9}, {20, 22, kDate}};
  EXPECT_EQ(kept, expected);
}

TEST(OverlappingEntities, ALongOneGoesAroundNothingThatItHolds) {
  const std::vector<Entity> expected = {{0, 30, kLocation, 0.5}};
  EXPECT_EQ(WithoutOverlap({{3, 5, kNumber}, {10, 20, kPerson}, {0, 30, kLocation, 0.5}}),
            expected);
}

TEST(OverlappingEntities, OfTheSamePassageTheMoreConfidentThenTheFirstTypeStays) {
  const std::vector<Entity> confident = {{0, 5, kPhone, 0.8}};
  EXPECT_EQ(WithoutOverlap({{0, 5, kPerson, 0.7}, {0, 5, kPhone, 0.8}}), confident);
  const std::vector<Entity> first = {{0, 5, kPerson, 0.8}};
  EXPECT_EQ(WithoutOverlap({{0, 5, kPhone, 0.8}, {0, 5, kPerson, 0.8}}), first);
}

TEST(OverlappingEntities, APieceMayStickOutOnBothSides) {
  const auto kept = WithoutOverlap({{5, 9, kPerson}, {0, 5, kDate}, {9, 14, kDate}, {3, 8, kTime}});
  const std::vector<Entity> expected = {
      {0, 5, kDate}, {5, 8, kTime}, {8, 9, kPerson}, {9, 14, kDate}};
  std::size_t covered = 0;
  for (const auto& entity : kept) covered += entity.end - entity.begin;
  EXPECT_EQ(covered, 14u);
  EXPECT_EQ(kept.size(), expected.size());
}

}  // namespace
}  // namespace sotto
