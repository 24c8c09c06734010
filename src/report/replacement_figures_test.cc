#include "report/replacement_figures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/json.h"

namespace sotto {
namespace {

ReplacementStudy Study() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  ReplacementStudy study;
  study.corpora = {"slurp"};
  study.training = 100;
  study.test = 20;
  study.taggers = {"CRF"};
  study.missed = 0.125;
  ReplacementStudy::Class c;
  c.entities = 8;
  c.words = 4;
  c.log_least_share = std::log(0.125);
  c.missed = 0.125;
  study.classes = {c};
  TaggingFigures figures;
  figures.all = {20, 20, 15};
  figures.corpora = {figures.all};
  figures.f1_of_seeds = {0.74, 0.76};
  figures.f1 = Interval{0.7, 0.8};
  for (const auto& [p, eps] :
       {std::pair(Chance{0, 1}, kInfinity), std::pair(Chance{1, 2}, 2.197)}) {
    ReplacementRow row;
    row.p = p;
    row.epsilon.eps = eps;
    row.epsilon.classes.resize(1);
    row.epsilon.classes[0].eps = eps;
    row.taggers = {figures};
    study.rows.push_back(row);
  }
  ReplacementRow placeholder;
  placeholder.epsilon.classes.resize(1);
  placeholder.taggers = {figures};
  study.rows.push_back(placeholder);
  return study;
}

TEST(ReplacementFigures, ThePublishedRowStandsBesideOurs) {
  const auto json = ParseJson(ReplacementJson(Study()));
  ASSERT_EQ(json["published"].size(), 4U);
  EXPECT_EQ(json["published"][0]["eps"], "inf");
  EXPECT_EQ(json["published"][1]["eps"], 8.95);
  EXPECT_EQ(json["published"][2]["eps"], 6.75);
  EXPECT_EQ(json["published"][3]["eps"], 0.0);
  EXPECT_NEAR(json["published"][2]["f1"].get<double>(), 0.817, 1e-12);
  EXPECT_NEAR(json["rows"][1]["published"]["f1"].get<double>(), 0.864, 1e-12);
  EXPECT_TRUE(json["rows"][2]["published"].is_null());
  EXPECT_EQ(json["rows"][0]["eps"], "inf");
  EXPECT_EQ(json["rows"][1]["taggers"][0]["f1"], 0.75);
  EXPECT_EQ(json["rows"][1]["missed"], 0.125);
  EXPECT_EQ(json["least_share_published"], kPublishedLeastShare);
}

TEST(ReplacementFigures, TheTableBeginsWithWhatIsMissed) {
  const std::string text = ReplacementText(Study(), "page.html");
  const std::size_t missed = text.find("missed: eps ∞"), found = text.find("eps of the found");
  ASSERT_NE(missed, std::string::npos);
  EXPECT_LT(missed, found);
  for (const char* said : {"12.5 %", "86.4", "8.95", "75.0 [70.0, 80.0]", "placeholders",
                           "Verbmobil", "without BERT", "BiLSTM-CRF was not trained"}) {
    EXPECT_NE(text.find(said), std::string::npos) << said;
  }
}

TEST(ReplacementFigures, CsvHasALineForEachRowAndTagger) {
  const std::string csv = ReplacementCsv(Study());
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 4);
  EXPECT_NE(csv.find("surrogates,0,0.125,inf"), std::string::npos) << csv;
}

TEST(ReplacementFigures, ThePageDrawsBothCurves) {
  const AssessPage page = ReplacementPage(Study());
  ASSERT_EQ(page.plots.size(), 1U);
  ASSERT_EQ(page.plots[0].series.size(), 2U);
  EXPECT_EQ(page.plots[0].series[0].x, (std::vector<double>{0.0, 0.5}));
  EXPECT_EQ(page.plots[0].series[1].x.size(), 4U);
  EXPECT_NE(RenderAssessPage(page).find("Table 4"), std::string::npos);
}

}  // namespace
}  // namespace sotto
