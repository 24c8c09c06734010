#include "text/entity_scores.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace sotto {
namespace {

using enum EntityType;

const std::vector<Token> kTokens = {{0, 2}, {3, 5}, {6, 8}, {9, 11}, {12, 14}};
const std::vector<EntityType> kTypes = {kPerson, kLocation};

TEST(EntityScores, AnEntityIsRightWhenPassageAndTypeAre) {
  const std::vector<Entity> marked = {{0, 5, kPerson}, {6, 8, kLocation}, {12, 14, kPerson}};
  const std::vector<Entity> found = {{0, 5, kPerson}, {6, 8, kPerson}, {9, 14, kPerson}};
  const auto scores = ScoreEntities(marked, found, kTokens, kTypes);
  const auto person = scores.types[static_cast<std::size_t>(kPerson)];
  EXPECT_EQ(person.marked, 2u);
  EXPECT_EQ(person.found, 3u);
  EXPECT_EQ(person.right, 1u);
  EXPECT_DOUBLE_EQ(person.Precision(), 1.0 / 3);
  EXPECT_DOUBLE_EQ(person.Recall(), 0.5);
  EXPECT_DOUBLE_EQ(person.F1(), 0.4);
  const auto total = scores.Total(kTypes);
  EXPECT_DOUBLE_EQ(total.F1(), 2.0 / 6);
  // By tokens all that was marked is covered, and one of the others.
  EXPECT_DOUBLE_EQ(scores.tokens.Recall(), 1.0);
  EXPECT_DOUBLE_EQ(scores.tokens.Masked(), 1.0);
}

TEST(EntityScores, TypesThatAreNotCountedChangeNothing) {
  const std::vector<Entity> marked = {{0, 2, kPerson}, {3, 5, kDate}};
  const std::vector<Entity> found = {{0, 2, kPerson}, {6, 8, kTime}};
  const auto scores = ScoreEntities(marked, found, kTokens, kTypes);
  EXPECT_DOUBLE_EQ(scores.Total(kTypes).F1(), 1.0);
  EXPECT_EQ(scores.tokens.entity, 1u);
  EXPECT_EQ(scores.tokens.other, 4u);
  EXPECT_EQ(scores.tokens.masked, 0u);
  EXPECT_EQ(scores.types[static_cast<std::size_t>(kDate)].marked, 0u);
}

TEST(EntityScores, NothingOutOfNothingIsNoNumber) {
  const auto scores = ScoreEntities({}, {}, kTokens, kTypes);
  EXPECT_TRUE(std::isnan(scores.Total(kTypes).F1()));
  EXPECT_TRUE(std::isnan(scores.tokens.Recall()));
  EXPECT_DOUBLE_EQ(scores.tokens.Masked(), 0.0);
}

TEST(EntityScores, SumsAreThoseOfAllSentences) {
  const std::vector<Entity> marked = {{0, 2, kPerson}};
  EntityScores sum = ScoreEntities(marked, marked, kTokens, kTypes);
  sum += ScoreEntities(marked, {}, kTokens, kTypes);
  EXPECT_DOUBLE_EQ(sum.Total(kTypes).Recall(), 0.5);
  EXPECT_DOUBLE_EQ(sum.tokens.Recall(), 0.5);
}

}  // namespace
}  // namespace sotto
