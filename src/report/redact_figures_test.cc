#include "report/redact_figures.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/json.h"

namespace sotto {
namespace {

RedactReport Report() {
  RedactReport report;
  report.version = "1.0";
  report.format = TextFormat::kCtm;
  report.options.with = ReplaceWith::kSurrogate;
  report.options.p = Chance::Parse("0.9", "p");
  report.options.types = {};
  report.options.types[0] = report.options.types[1] = report.options.types[5] = true;
  report.has_own_words = true;
  report.totals.counts[0] = 3;
  report.totals.own_words = 2;
  report.totals.tokens = 40;
  report.totals.draws = 2;
  report.totals.total_eps = 13.5;
  report.epsilon.classes = {{EntityType::kPerson, 0.9, -8.0, 6.75, 0.04, 7.0},
                            {EntityType::kLocation, 0.9, -8.0, 6.0, 0.04, 6.5},
                            {EntityType::kEmail, 1.0, -8.0, 0.0, std::nullopt, std::nullopt}};
  report.epsilon.eps = 6.75;
  return report;
}

TEST(RedactFigures, TheSummarySaysWhatIsNotProtected) {
  EXPECT_EQ(RedactSummary(Report()),
            "5 found in 40 tokens: 3 PER, 2 WORD; replaced by surrogates with probability 0.9\n"
            "what is missed stands as it was said (epsilon ∞); on held-out text 4.0 % of PER, LOC "
            "are missed; found: epsilon 6.75 each, 13.50 if all were one person's\n");
  RedactReport report;
  report.options.with = ReplaceWith::kPlaceholder;
  EXPECT_EQ(RedactSummary(report),
            "0 found in 0 tokens; replaced by placeholders\n"
            "what is missed stands as it was said (epsilon ∞); on held-out text the share is not "
            "known; found: epsilon 0.00 each\n");
}

TEST(RedactFigures, TheRecordHasTheHonestReadingFirst) {
  const auto record = ParseOrderedJson(RedactRecord(Report()));
  EXPECT_EQ(record["format"], "ctm");
  EXPECT_EQ(record["types"], (std::vector<std::string>{"PER", "LOC", "EMAIL"}));
  EXPECT_EQ(record["found"], ParseOrderedJson(R"({"PER":3,"LOC":0,"EMAIL":0,"WORD":2})"));
  std::vector<std::string> names;
  for (const auto& [name, value] : record["epsilon"].items()) names.push_back(name);
  EXPECT_EQ(names,
            (std::vector<std::string>{
                "what_the_finder_misses", "share_missed_on_held_out_text", "share_missed_is_of",
                "of_each_entity_found", "largest", "draws", "if_all_entities_were_one_persons",
                "the_sources_reading", "the_sources_largest", "told_whatever_epsilon_is"}));
  EXPECT_EQ(record["epsilon"]["share_missed_on_held_out_text"]["PER"], 0.04);
  EXPECT_TRUE(record["epsilon"]["share_missed_on_held_out_text"]["EMAIL"].is_null());
  EXPECT_EQ(RedactRecord(Report(), /*one_line=*/true).find('\n'),
            RedactRecord(Report(), /*one_line=*/true).size() - 1);
}

TEST(RedactFigures, AnInfiniteEpsilonIsWrittenAsOne) {
  RedactReport report = Report();
  report.epsilon.eps = report.totals.total_eps = std::numeric_limits<double>::infinity();
  EXPECT_EQ(ParseJson(RedactRecord(report))["epsilon"]["largest"], "inf");
  EXPECT_NE(RedactSummary(report).find("epsilon ∞ each, ∞ if all"), std::string::npos);
}

}  // namespace
}  // namespace sotto
