#include "text/replacement.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/error.h"
#include "text/check_digits.h"
#include "text/replacement_epsilon.h"

namespace sotto {
namespace {

using enum EntityType;

Key TestKey(std::uint64_t seed) { return Key::ForExperiment(ExperimentKey(seed)); }

// The passages of these words, in order.
std::vector<Entity> Marked(
    std::string_view text,
    std::initializer_list<std::pair<std::string_view, EntityType>> passages) {
  std::vector<Entity> entities;
  std::size_t from = 0;
  for (const auto& [passage, type] : passages) {
    const auto at = text.find(passage, from);
    entities.push_back({at, at + passage.size(), type});
    from = at + passage.size();
  }
  return entities;
}

constexpr std::string_view kCall = "call anna at noon from leeds";
std::vector<Entity> OfCall() {
  return Marked(kCall, {{"anna", kPerson}, {"noon", kTime}, {"leeds", kLocation}});
}

ReplacedText ReplaceCall(const ReplacementOptions& options, std::uint64_t seed = 1,
                         const TextPlace& place = {}) {
  return Replacer(ProgramSurrogates(), options, TestKey(seed)).Replace(kCall, OfCall(), place);
}

TEST(Replacement, WithPlaceholdersLeavesNoEntity) {
  ReplacementOptions options;
  options.with = ReplaceWith::kPlaceholder;
  const ReplacedText replaced = ReplaceCall(options);
  EXPECT_EQ(replaced.text, "call [PER] at [TIME] from [LOC]");
  ASSERT_EQ(replaced.entities.size(), 3u);
  for (const Entity& entity : replaced.entities) {
    EXPECT_EQ(replaced.text.substr(entity.begin, entity.end - entity.begin),
              "[" + std::string(EntityName(entity.type)) + "]");
  }
  EXPECT_EQ(replaced.counts[0], 1u);
  EXPECT_EQ(replaced.counts[1], 1u);
  EXPECT_EQ(replaced.counts[2], 0u);
  for (const auto& draw : replaced.draws) EXPECT_EQ(draw.eps, 0.0);
}

TEST(Replacement, LeavesTypesThatAreNotAskedFor) {
  ReplacementOptions options;
  options.with = ReplaceWith::kPlaceholder;
  options.types = {};
  options.types[static_cast<std::size_t>(kLocation)] = true;
  const ReplacedText replaced = ReplaceCall(options);
  EXPECT_EQ(replaced.text, "call anna at noon from [LOC]");
  EXPECT_EQ(replaced.counts[0], 0u);
  EXPECT_EQ(replaced.entities.size(), 1u);
}

TEST(Replacement, PutsSurrogatesOfTheTypeWhereTheEntitiesWere) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const ReplacedText replaced = ReplaceCall({}, seed);
    ASSERT_EQ(replaced.entities.size(), 3u);
    for (const Entity& entity : replaced.entities) {
      const auto written = replaced.text.substr(entity.begin, entity.end - entity.begin);
      EXPECT_TRUE(ProgramSurrogates().Find(entity.type, {}, written)) << written;
      // The words around are a transcript's, so these are too.
      EXPECT_EQ(written.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), std::string::npos) << written;
    }
    EXPECT_EQ(replaced.text.substr(0, 5), "call ");
  }
}

TEST(Replacement, KeepsEverythingWithProbabilityZero) {
  ReplacementOptions options;
  options.p = Chance::Parse("0", "p");
  const ReplacedText replaced = ReplaceCall(options);
  EXPECT_EQ(replaced.text, kCall);
  EXPECT_TRUE(std::isinf(replaced.draws[0].eps));
}

TEST(Replacement, KeepsAnEntityWithProbabilityOneMinusP) {
  ReplacementOptions options;
  options.p = Chance::Parse("0.75", "p");
  int kept = 0;
  constexpr int kDraws = 4000;
  for (std::uint64_t seed = 0; seed < kDraws; ++seed) {
    kept += ReplaceCall(options, seed).text.find("leeds") != std::string::npos ? 1 : 0;
  }
  EXPECT_LT(std::abs(kept - kDraws / 4), 150);  // 5.5 deviations
}

TEST(Replacement, NeverKeepsWhatIsNoSurrogate) {
  ReplacementOptions options;
  options.p = Chance::Parse("0.1", "p");
  const std::string_view text = "i am zorquina quuxfield";
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Replacer replacer(ProgramSurrogates(), options, TestKey(seed));
    const auto replaced =
        replacer.Replace(text, Marked(text, {{"zorquina quuxfield", kPerson}}), {});
    EXPECT_EQ(replaced.text.find("quux"), std::string::npos);
  }
}

TEST(Replacement, WritesWhatStaysAsASurrogateIsWritten) {
  const Surrogates two = ParseSurrogates(
      "sotto-surrogates\t1\nsource\ttwo\nmin_count\t1\nkind\tname\tgender\tcount\ttext\n"
      "word\tPER\t-\t1\tJohn Smith\nword\tPER\t-\t1\tAnna Stone\n",
      "two");
  ReplacementOptions options;
  options.types = {};
  options.types[0] = true;
  options.p = Chance::Parse("0.01", "p");
  const std::string_view text = "call  JOHN   smith now";
  std::map<std::string, int> written;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Replacer replacer(two, options, TestKey(seed));
    ++written[replacer.Replace(text, Marked(text, {{"JOHN   smith", kPerson}}), {}).text];
  }
  EXPECT_GT(written["call  john smith now"], 40);
}

TEST(Replacement, OfOneEntityIsTheSameInADialogueAndAnotherInTheNext) {
  const Replacer replacer(ProgramSurrogates(), {}, TestKey(1));
  const std::string_view first = "Ask Anna Stone.", second = "ANNA  STONE AND LEEDS";
  std::size_t same = 0;
  for (int i = 0; i < 20; ++i) {
    const std::string dialogue = "d" + std::to_string(i), next = "e" + std::to_string(i);
    const auto a = replacer.Replace(first, Marked(first, {{"Anna Stone", kPerson}}), {dialogue, 0});
    const auto b = replacer.Replace(
        second, Marked(second, {{"ANNA  STONE", kPerson}, {"LEEDS", kLocation}}), {dialogue, 7});
    const auto c = replacer.Replace(first, Marked(first, {{"Anna Stone", kPerson}}), {next, 0});
    const auto text_of = [](const ReplacedText& t) {
      return t.text.substr(t.entities[0].begin, t.entities[0].end - t.entities[0].begin);
    };
    EXPECT_EQ(NormalisedEntity(text_of(a)), NormalisedEntity(text_of(b)));
    EXPECT_EQ(a.draws[0].id, b.draws[0].id);
    EXPECT_NE(a.draws[0].id, c.draws[0].id);
    EXPECT_EQ(b.text.find_first_of("abcdefghijklmnopqrstuvwxyz"), std::string::npos) << b.text;
    same += a.text == c.text ? 1 : 0;
  }
  EXPECT_LE(same, 1u);
}

TEST(Replacement, IsDrawnAnewForEachMentionWhereAsked) {
  ReplacementOptions options;
  options.consistent = false;
  const Replacer replacer(ProgramSurrogates(), options, TestKey(1));
  const std::string_view text = "leeds leeds leeds";
  const auto entities =
      Marked(text, {{"leeds", kLocation}, {"leeds", kLocation}, {"leeds", kLocation}});
  const auto a = replacer.Replace(text, entities, {"d", 0});
  const auto b = replacer.Replace(text, entities, {"d", 1});
  EXPECT_NE(a.text, b.text);
  EXPECT_EQ(a.text, replacer.Replace(text, entities, {"d", 0}).text);
  std::set<std::uint64_t> ids;
  for (const auto& draw : a.draws) ids.insert(draw.id);
  for (const auto& draw : b.draws) ids.insert(draw.id);
  EXPECT_EQ(ids.size(), 6u);
}

TEST(Replacement, KeepsTheGenderWhereAsked) {
  ReplacementOptions options;
  options.keep_gender = true;
  const std::string_view text = "emma and john";
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Replacer replacer(ProgramSurrogates(), options, TestKey(seed));
    const auto t =
        replacer.Replace(text, Marked(text, {{"emma", kPerson}, {"john", kPerson}}), {}).text;
    const auto middle = t.find(" and ");
    const auto gender = [&](const std::string& name) {
      return ProgramSurrogates().Told(kPerson, name, true, false).gender;
    };
    EXPECT_EQ(gender(t.substr(0, middle)), Gender::kFemale) << t;
    EXPECT_EQ(gender(t.substr(middle + 5)), Gender::kMale) << t;
  }
}

TEST(Replacement, KeepsTheFormWhereAsked) {
  ReplacementOptions options;
  options.keep_format = true;
  const std::string_view text = "Emma Stone, JOHN, at half past six: +44 20 7946 0958, 79927398713";
  const auto entities = Marked(text, {{"Emma Stone", kPerson},
                                      {"JOHN", kPerson},
                                      {"half past six", kTime},
                                      {"+44 20 7946 0958", kPhone},
                                      {"79927398713", kCard}});
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Replacer replacer(ProgramSurrogates(), options, TestKey(seed));
    const auto replaced = replacer.Replace(text, entities, {});
    const auto part = [&](std::size_t i) {
      const Entity& e = replaced.entities[i];
      return replaced.text.substr(e.begin, e.end - e.begin);
    };
    EXPECT_NE(part(0).find(' '), std::string::npos);
    EXPECT_EQ(part(0), InCase(part(0), LetterCase::kTitle));
    EXPECT_EQ(part(1), UpperCase(part(1)));
    EXPECT_EQ(part(2).substr(0, 10), "half past ");
    EXPECT_EQ(part(3).size(), 16u);
    EXPECT_EQ(part(3)[0], '+');
    EXPECT_TRUE(HasLuhn(part(4)));
  }
}

TEST(Replacement, TellsNothingOfTheWritingOfAnEntityUnlessAsked) {
  const Replacer replacer(ProgramSurrogates(), {}, TestKey(1));
  // All that differs is the entity, and its draw is the same by its normalised form.
  const std::string_view a = "Call John now.", b = "Call JOHN now.";
  EXPECT_EQ(replacer.Replace(a, Marked(a, {{"John", kPerson}}), {}).text,
            replacer.Replace(b, Marked(b, {{"JOHN", kPerson}}), {}).text);
}

TEST(Replacement, RefusesWhatItCannotDo) {
  const Surrogates places = ParseSurrogates(
      "sotto-surrogates\t1\nsource\tplaces\nmin_count\t1\nkind\tname\tgender\tcount\ttext\n"
      "word\tLOC\t-\t1\tLeeds\n",
      "places");
  EXPECT_THROW(Replacer(places, {}, TestKey(1)), Error);  // no person
  ReplacementOptions options;
  options.types = {};
  options.types[static_cast<std::size_t>(kLocation)] = true;
  EXPECT_NO_THROW(Replacer(places, options, TestKey(1)));
  options.p = {3, 2};
  EXPECT_THROW(Replacer(places, options, TestKey(1)), Error);
  const Replacer replacer(ProgramSurrogates(), {}, TestKey(1));
  for (const std::vector<Entity>& entities : {std::vector<Entity>{{0, 99, kPerson}},
                                              {{3, 3, kPerson}},
                                              {{4, 2, kPerson}},
                                              {{0, 3, kPerson}, {2, 4, kPerson}},
                                              {{3, 5, kPerson}, {0, 2, kPerson}}}) {
    try {
      replacer.Replace("zelda quux", entities, {});
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find("zel"), std::string::npos);
    }
  }
}

TEST(Replacement, TakesAnyBytes) {
  const Replacer replacer(ProgramSurrogates(), {}, TestKey(1));
  const std::string text("\xff\xfe\0 \xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d \xf0\x9f\x98\x80", 17);
  const auto replaced = replacer.Replace(text, {{4, 12, kPerson}}, {});
  EXPECT_EQ(replaced.text.substr(0, 4), text.substr(0, 4));
  EXPECT_EQ(replaced.text.substr(replaced.text.size() - 5), text.substr(12));
  EXPECT_EQ(replacer.Replace("", {}, {}).text, "");
}

TEST(Replacement, OfAnEntityOfAMegabyteTakesNoLongTime) {
  const std::string text(1'000'000, 'a');
  ReplacementOptions options;
  options.keep_format = options.keep_gender = true;
  options.p = {1, 2};
  const Replacer replacer(ProgramSurrogates(), options, TestKey(1));
  for (const EntityType type : {kPerson, kDate, kNumber}) {
    EXPECT_NE(replacer.Replace(text, {{0, text.size(), type}}, {}).text, text);
  }
}

TEST(Chance, IsReadExactly) {
  EXPECT_EQ(Chance::Parse("0.9", "p"), (Chance{9, 10}));
  EXPECT_EQ(Chance::Parse("9/10", "p"), (Chance{9, 10}));
  EXPECT_EQ(Chance::Parse("1", "p"), (Chance{1, 1}));
  EXPECT_EQ(Chance::Parse("1.000", "p"), (Chance{1, 1}));
  EXPECT_EQ(Chance::Parse(".5", "p"), (Chance{1, 2}));
  EXPECT_EQ(Chance::Parse("0", "p"), (Chance{0, 1}));
  for (const char* bad : {"", ".", "-0.1", "1.1", "2", "nan", "inf", "0.5x", "1e-3", "1/0", "0/0",
                          "3/2", "0.1234567890123456", " 1", "1/2/3", "/2", "0x1"}) {
    EXPECT_THROW(Chance::Parse(bad, "p"), Error) << bad;
  }
}

}  // namespace
}  // namespace sotto
