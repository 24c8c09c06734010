#include "report/words_figures.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "attack/word_published.h"
#include "base/csv.h"

namespace sotto {
namespace {

// One row that ran and one that did not.
WordStudy Study() {
  WordStudy study;
  WordCorpus corpus;
  corpus.name = "talk";
  corpus.expected = "chance";
  corpus.notes = {"age: nobody tells"};
  corpus.attributes.resize(1);
  corpus.attributes[0].name = "gender";
  corpus.attributes[0].classes = {"male", "female"};
  study.corpora = {corpus};
  study.sizes = {{30, 90, 500, 77, {{20, 10}}}};
  WordRow ran;
  ran.classifier = WordClassifier::kCnn;
  ran.protocol.upsampling = Upsampling::kBefore;
  ran.larger = 0.5;
  ran.best = 0.75;
  for (const char* name : {"accuracy", "balanced_accuracy", "f1_macro", "f1_positive"}) {
    Figure& figure = ran.figures.emplace_back();
    figure.name = name;
    figure.value = 0.625;
    figure.interval = {{0.55, 0.7, 0.95}};
    figure.counts = {{"speakers", 12}, {"n_0", 20}, {"n_1", 20}};
  }
  WordRow not_run;
  not_run.reason = "too few";
  study.rows = {ran, not_run};
  return study;
}

TEST(WordsFigures, PublishedFiguresStandBesideTheirClassifier) {
  EXPECT_EQ(FindPublished(WordClassifier::kSvmLinear, Upsampling::kNone, "gender")->f1, 0.63);
  EXPECT_EQ(FindPublished(WordClassifier::kSvmGaussian, Upsampling::kAfter, "age")->f1, 0.77);
  EXPECT_EQ(FindPublished(WordClassifier::kCnn, Upsampling::kBefore, "age")->accuracy, 0.968);
  EXPECT_EQ(FindPublished(WordClassifier::kCnn, Upsampling::kNone, "accent"), nullptr);
}

TEST(WordsFigures, TheTextHoldsBothTablesAndSaysWhatIsToBeExpected) {
  const std::string text = WordsText(Study());
  for (const char* part :
       {"table 13", "913", "279", "table 14", "89.3 / 89.3", "62.5 [55.0, 70.0]", "75.0",
        "talk: expected: chance", "talk: age: nobody tells", "not run: too few", "not run",
        "an experiment", "seed 1", "F1 female %", "measured, not covered by epsilon"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
}

TEST(WordsFigures, JsonHoldsRowsWithIntervals) {
  const auto json = nlohmann::json::parse(WordsJson(Study()));
  EXPECT_EQ(json["corpora"][0]["classes"]["gender"]["female"], 10);
  ASSERT_EQ(json["rows"].size(), 2U);
  const auto& row = json["rows"][0];
  EXPECT_EQ(row["figures"]["f1_macro"]["value"], 0.625);
  EXPECT_EQ(row["figures"]["f1_macro"]["interval"]["low"], 0.55);
  EXPECT_EQ(row["published"]["accuracy"], 0.893);
  EXPECT_EQ(row["above_chance"], true);
  EXPECT_EQ(json["rows"][1]["status"], "not run");
  EXPECT_EQ(json["rows"][1]["above_chance"], false);
  EXPECT_EQ(json["published"].size(), 4U);
  EXPECT_EQ(json["experiment"], true);
}

TEST(WordsFigures, CsvHasALineForEachRow) {
  const CsvTable table = ParseCsv(WordsCsv(Study()), "csv");
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0][table.Column("f1_macro_high", "csv")], "0.7");
  EXPECT_EQ(table.rows[0][table.Column("upsampled", "csv")], "before");
  EXPECT_EQ(table.rows[0][table.Column("published_f1", "csv")], "0.893");
  EXPECT_EQ(table.rows[1][table.Column("accuracy", "csv")], "");
  EXPECT_EQ(table.rows[1][table.Column("status", "csv")], "not run");
}

TEST(WordsFigures, ThePageHoldsTheSameTables) {
  const AssessPage page = WordsPage(Study());
  EXPECT_EQ(page.tables.size(), 2U);
  EXPECT_EQ(page.tables[1].header.size(), page.tables[1].rows[0].size());
  EXPECT_EQ(page.tables[1].header.size(), page.tables[1].rows[1].size());
  EXPECT_EQ(page.tables[0].header.size(), page.tables[0].rows[1].size());
}

}  // namespace
}  // namespace sotto
