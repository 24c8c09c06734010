#include "text/surrogate_counts.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace sotto {
namespace {

using enum EntityType;

TEST(SurrogateCounts, LeaveOutWhatFewPeopleSaid) {
  SurrogateCounts counts;
  for (int who = 0; who < 6; ++who) counts.Add(kPerson, "Anna", std::to_string(who));
  // One person's name, said a hundred times by that person.
  for (int i = 0; i < 100; ++i) counts.Add(kPerson, "Zelda Quux", "7");
  for (int who = 0; who < 4; ++who) counts.Add(kLocation, "Leeds", std::to_string(who));
  const Surrogates built = counts.Build(kDefaultMinPeople, "test");
  EXPECT_EQ(built.Shares(kPerson, {}), (std::map<std::string, double>{{"Anna", 1.0}}));
  EXPECT_FALSE(built.Has(kLocation));
  EXPECT_EQ(built.MinCount(), kDefaultMinPeople);
  const auto of = counts.Summary(kDefaultMinPeople)[0];
  EXPECT_EQ(of.entities, 106u);
  EXPECT_EQ(of.words, 2u);
  EXPECT_EQ(of.kept_entities, 6u);
  EXPECT_EQ(of.kept_words, 1u);
  EXPECT_EQ(counts.Build(1, "test").Shares(kPerson, {}).size(), 2u);
  EXPECT_THROW(counts.Build(7, "test"), Error);
  EXPECT_THROW(counts.Build(0, "test"), Error);
}

TEST(SurrogateCounts, AreRelativeFrequencies) {
  SurrogateCounts counts;
  for (int i = 0; i < 3; ++i) counts.Add(kLocation, "Leeds", std::to_string(i));
  counts.Add(kLocation, "New  York", "0");
  const auto shares = counts.Build(1, "test").Shares(kLocation, {});
  EXPECT_DOUBLE_EQ(shares.at("Leeds"), 0.75);
  EXPECT_DOUBLE_EQ(shares.at("New York"), 0.25);
}

TEST(SurrogateCounts, TakeTheWritingThatIsUsedMost) {
  SurrogateCounts counts;
  for (const char* writing : {"JOHN", "John", "john", "John"}) counts.Add(kPerson, writing, "a");
  const Surrogates built = counts.Build(1, "test", &ProgramSurrogates());
  EXPECT_EQ(built.Shares(kPerson, {}), (std::map<std::string, double>{{"John", 1.0}}));
  EXPECT_EQ(built.Told(kPerson, "john", true, false).gender, Gender::kMale);
}

TEST(SurrogateCounts, AreFilledWithAnothersClasses) {
  SurrogateCounts counts;
  counts.Add(kPerson, "Zelda", "a");
  const Surrogates built = counts.Build(1, "test", nullptr, &ProgramSurrogates());
  EXPECT_EQ(built.Shares(kPerson, {}).size(), 1u);
  for (std::size_t i = 0; i < kEntityTypes; ++i) {
    EXPECT_TRUE(built.Has(static_cast<EntityType>(i)));
  }
}

TEST(SurrogateCounts, LeaveOutWhatNoFileMayHold) {
  SurrogateCounts counts;
  counts.Add(kPerson, "Zel\xff", "a");
  counts.Add(kPerson, "Zel\x01", "a");
  counts.Add(kPerson, "  ", "a");
  counts.Add(kPerson, std::string(201, 'z'), "a");
  counts.Add(kPerson, "Anna\nMaria", "a");  // one blank
  EXPECT_EQ(counts.Summary(1)[0].unfit, 4u);
  const Surrogates built = counts.Build(1, "test");
  EXPECT_TRUE(built.Find(kPerson, {}, "anna maria"));
  EXPECT_EQ(SurrogatesText(ParseSurrogates(SurrogatesText(built), "again")), SurrogatesText(built));
}

}  // namespace
}  // namespace sotto
