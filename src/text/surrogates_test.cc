#include "text/surrogates.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/error.h"
#include "dp/seeded_bits_testing.h"

namespace sotto {
namespace {

using enum EntityType;
using testing::SeededBits;

std::string File(const std::string& rows) {
  return "sotto-surrogates\t1\nsource\ttest\nmin_count\t1\nkind\tname\tgender\tcount\ttext\n" +
         rows;
}

constexpr const char* kSmall =
    "word\tLOC\t-\t5\tLeeds\n"
    "word\tLOC\t-\t3\tNew York\n"
    "word\tLOC\t-\t2\tYork\n"
    "part\tfirst\tF\t2\tAnna\n"
    "part\tfirst\tF\t1\tMary Jane\n"
    "part\tfirst\tM\t4\tBob\n"
    "part\tfirst\t-\t1\tKim\n"
    "part\tlast\t-\t1\tReed\n"
    "part\tlast\t-\t3\tStone\n"
    "form\tPER\t-\t3\t{first}\n"
    "form\tPER\t-\t2\t{first} {last}\n"
    "form\tPER\t-\t1\tDr {last}\n"
    "part\tdigit\t-\t1\t0\n"
    "part\tdigit\t-\t1\t7\n"
    "form\tCARD\t-\t1\t4{digit}{digit}{luhn}\n"
    "form\tIBAN\t-\t1\tGB{iban} WEST 1234 5698 7{digit}{digit}{digit}\n";

TEST(Surrogates, AreDrawnByTheirShares) {
  const Surrogates surrogates = ParseSurrogates(File(kSmall), "small");
  SeededBits bits(1);
  for (const EntityType type : {kLocation, kPerson, kCard, kIban}) {
    for (const auto& condition : surrogates.Conditions(type, true, true)) {
      const auto shares = surrogates.Shares(type, condition);
      double sum = 0.0, least = 1.0;
      for (const auto& [text, share] : shares) {
        sum += share;
        least = std::min(least, share);
      }
      EXPECT_NEAR(sum, 1.0, 1e-12);
      EXPECT_NEAR(surrogates.LogLeastShare(type, condition), std::log(least), 1e-9);
      constexpr int kDraws = 20000;
      std::map<std::string, int> drawn;
      for (int i = 0; i < kDraws; ++i) ++drawn[surrogates.Draw(type, condition, bits)];
      for (const auto& [text, n] : drawn) EXPECT_TRUE(shares.contains(text)) << text;
      for (const auto& [text, share] : shares) {
        const double sigma = std::sqrt(share * (1.0 - share) * kDraws) + 0.01;
        EXPECT_LT(std::abs(drawn[text] - share * kDraws), 5.0 * sigma) << text;
      }
    }
  }
}

TEST(Surrogates, HaveTheSharesOfTheirCounts) {
  const Surrogates surrogates = ParseSurrogates(File(kSmall), "small");
  const auto places = surrogates.Shares(kLocation, {});
  EXPECT_DOUBLE_EQ(places.at("Leeds"), 0.5);
  EXPECT_DOUBLE_EQ(places.at("New York"), 0.3);
  const auto women = surrogates.Shares(kPerson, {Gender::kFemale, std::nullopt});
  EXPECT_EQ(women.size(), 6u);  // Dr Stone tells no gender
  EXPECT_NEAR(women.at("Anna"), 3.0 / 5 * 2 / 3, 1e-12);
  EXPECT_NEAR(women.at("Mary Jane Stone"), 2.0 / 5 / 3 * 3 / 4, 1e-12);
}

TEST(Surrogates, FindEachThatIsDrawnAndNoOther) {
  const Surrogates surrogates = ParseSurrogates(File(kSmall), "small");
  for (const EntityType type : {kLocation, kPerson, kCard, kIban}) {
    for (const auto& condition : surrogates.Conditions(type, true, true)) {
      for (const auto& [text, share] : surrogates.Shares(type, condition)) {
        EXPECT_EQ(surrogates.Find(type, condition, text), text);
      }
    }
  }
  EXPECT_EQ(surrogates.Find(kPerson, {}, "  mary\tJANE  stone"), "Mary Jane Stone");
  EXPECT_EQ(surrogates.Find(kPerson, {}, "Zoe Stone"), std::nullopt);
  EXPECT_EQ(surrogates.Find(kPerson, {}, "Bobb"), std::nullopt);
  EXPECT_EQ(surrogates.Find(kPerson, {}, ""), std::nullopt);
  EXPECT_EQ(surrogates.Find(kPerson, {Gender::kFemale, std::nullopt}, "bob"), std::nullopt);
  EXPECT_EQ(surrogates.Find(kCard, {}, "4071"), std::nullopt);  // of the form, but for the check
}

TEST(Surrogates, TellOnlyWhatIsAsked) {
  const Surrogates surrogates = ParseSurrogates(File(kSmall), "small");
  EXPECT_EQ(surrogates.Told(kPerson, "anna stone", false, false), SurrogateCondition{});
  const auto woman = surrogates.Told(kPerson, "anna zzz", true, false);
  EXPECT_EQ(woman.gender, Gender::kFemale);
  EXPECT_FALSE(woman.group);
  EXPECT_EQ(surrogates.Told(kPerson, "kim", true, false).gender, Gender::kUnknown);
  const auto two = surrogates.Told(kPerson, "zork quux", true, true);
  EXPECT_EQ(two.gender, Gender::kUnknown);
  EXPECT_EQ(two, surrogates.Told(kPerson, "kim reed", true, true));
  EXPECT_EQ(surrogates.Shares(kPerson, surrogates.Told(kPerson, "dr stone", true, true)).size(),
            2u);
  EXPECT_EQ(
      surrogates.Shares(kLocation, surrogates.Told(kLocation, "new york", false, true)).size(), 1u);
  // No place has five words: then any.
  EXPECT_EQ(surrogates.Told(kLocation, "a b c d e", false, true), SurrogateCondition{});
}

TEST(Surrogates, StandInAFileAsTheyWereRead) {
  EXPECT_EQ(SurrogatesText(ParseSurrogates(File(kSmall), "small")), File(kSmall));
  EXPECT_EQ(SurrogatesText(ParseSurrogates(SurrogatesText(ProgramSurrogates()), "again")),
            SurrogatesText(ProgramSurrogates()));
}

TEST(Surrogates, OfADamagedFileAreRefusedByLineWithoutAWordOfIt) {
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"", "version 1"},
      {"sotto-surrogates\t2\n", "version 1"},
      {"sotto-surrogates\t1\nsource\tx\nmin_count\t1\n", "line 4"},
      {"sotto-surrogates\t1\nsource\tx\nmin_count\t0\nkind\tname\tgender\tcount\ttext\n", "line 3"},
      {"sotto-surrogates\t1\nsource\nmin_count\t1\nkind\tname\tgender\tcount\ttext\n", "line 2"},
      {File(""), "a class needs"},
      {File("word\tPER\t-\t1\n"), "line 5: 4 fields"},
      {File("\n"), "line 5"},
      {File("werd\tPER\t-\t1\tzelda\n"), "line 5: kind"},
      {File("word\tNAME\t-\t1\tzelda\n"), "line 5: name"},
      {File("word\tPER\tf\t1\tzelda\n"), "line 5: gender"},
      {File("word\tPER\t-\t01\tzelda\n"), "line 5: count"},
      {File("word\tPER\t-\t-1\tzelda\n"), "line 5: count"},
      {File("word\tPER\t-\t0\tzelda\n"), "line 5: count"},
      {File("word\tPER\t-\t\tzelda\n"), "line 5: count"},
      {File("word\tPER\t-\t1000000000001\tzelda\n"), "line 5: count"},
      {File("word\tPER\t-\t99999999999999999999\tzelda\n"), "line 5: count"},
      {File("word\tPER\t-\t1\t\n"), "line 5: text"},
      {File("word\tPER\t-\t1\tzelda  quux\n"), "line 5: text"},
      {File("word\tPER\t-\t1\tzelda \n"), "line 5: text"},
      {File("word\tPER\t-\t1\tzelda\nword\tPER\t-\t1\tZelda\n"),
       "line 6: text: stands there twice"},
      {File("word\tPER\t-\t1\tzel\xff"
            "da\n"),
       "line 5: UTF-8"},
      {File("word\tPER\t-\t1\tzelda\x01\n"), "line 5: UTF-8"},
      {File("form\tPER\t-\t1\t{zelda}\n"), "line 5: text: a slot"},
      {File("form\tPER\t-\t1\tzelda\n"), "line 5: text of 1 pieces"},
      {File("form\tPER\t-\t1\t{zelda\n"), "line 5: text: '{'"},
      {File("form\tPER\t-\t1\tzelda}\n"), "line 5: text: '}'"},
      {File("part\tdigit\t-\t1\tzelda\nform\tCARD\t-\t1\t{luhn}{digit}\n"), "line 6: text: {luhn}"},
      {File("part\tdigit\t-\t1\tzelda\nform\tIBAN\t-\t1\t{digit}{iban}\n"), "line 6: text: {luhn}"},
      {File("part\tdigit\t-\t1\tzelda\nform\tPER\tF\t1\t{digit}\n"), "line 6: gender"},
      {File("part\tluhn\t-\t1\tzelda\n"), "line 5: name luhn"},
      {File("part\tDigit\t-\t1\tzelda\n"), "line 5: name"},
  };
  for (const auto& [text, expected] : bad) {
    try {
      ParseSurrogates(text, "pack");
      ADD_FAILURE() << expected;
    } catch (const Error& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find(expected), std::string::npos) << message;
      EXPECT_EQ(message.find("zelda"), std::string::npos) << message;
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    }
  }
}

TEST(Surrogates, OfAClassWithoutAnyAreAnError) {
  const Surrogates surrogates = ParseSurrogates(File("word\tLOC\t-\t1\tLeeds\n"), "small");
  SeededBits bits(1);
  EXPECT_THROW(surrogates.Draw(kPerson, {}, bits), Error);
  EXPECT_THROW(surrogates.Require(kPerson), Error);
  EXPECT_TRUE(surrogates.Has(kLocation));
}

TEST(ProgramSurrogates, HaveEveryClassAndAreSmall) {
  const Surrogates& surrogates = ProgramSurrogates();
  EXPECT_LE(SurrogatesText(surrogates).size(), 300'000u);
  SeededBits bits(1);
  for (std::size_t i = 0; i < kEntityTypes; ++i) {
    const auto type = static_cast<EntityType>(i);
    for (const auto& condition : surrogates.Conditions(type, true, true)) {
      for (int k = 0; k < 20; ++k) {
        const std::string drawn = surrogates.Draw(type, condition, bits);
        EXPECT_TRUE(surrogates.Find(type, condition, drawn)) << EntityName(type) << " " << drawn;
      }
    }
  }
  EXPECT_EQ(surrogates.Told(kPerson, "emma", true, false).gender, Gender::kFemale);
  EXPECT_EQ(surrogates.Told(kPerson, "john smith", true, false).gender, Gender::kMale);
}

}  // namespace
}  // namespace sotto
