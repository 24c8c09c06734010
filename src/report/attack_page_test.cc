#include "report/attack_page.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "assess/verify.h"
#include "base/error.h"
#include "report/evaluation_report.h"

namespace sotto {
namespace {

LadderRow Row(Attacker attacker, const std::string& impostors, int l, double eer) {
  LadderRow row;
  row.attacker = attacker;
  row.backend = "cosine";
  row.impostors = impostors;
  row.l = l;
  row.ran = eer >= 0.0;
  if (!row.ran) {
    row.reason = "it needs <the key>";
    return row;
  }
  Figure figure;
  figure.name = "eer";
  figure.value = eer;
  figure.interval = Interval{eer - 0.05, eer + 0.05, 0.95};
  row.figures = {figure};
  return row;
}

LadderResult SomeResult() {
  LadderResult result;
  result.rows = {Row(Attacker::kIgnorant, "all", 1, 0.45),
                 Row(Attacker::kIgnorant, "same_gender", 1, 0.48),
                 Row(Attacker::kIgnorant, "all", 3, 0.41),
                 Row(Attacker::kIgnorant, "same_gender", 3, 0.46),
                 Row(Attacker::kInformed, "all", 0, -1.0),
                 Row(Attacker::kLazyInformed, "all", 1, 0.2),
                 Row(Attacker::kLazyInformed, "same_gender", 1, 0.25)};
  result.worst = 5;
  result.worst_trials.scores = {2.0, 1.0, 0.5, 0.0, -1.0};
  result.worst_trials.is_target = {1, 1, 0, 1, 0};
  result.curve = {{100, 5.0, 0.4}, {200, 3.0, 0.3}};
  result.map = {{"u1", "ann", Gender::kFemale, false, 0.0, 0.0},
                {"u1", "ann", Gender::kFemale, true, 1.0, 1.0},
                {"u2", "bob", Gender::kMale, false, 0.5, 0.0},
                {"u2", "bob", Gender::kMale, true, 1.0, 0.5}};
  result.notes = {"a <note>"};
  return result;
}

TEST(AttackPage, TheWorstAttackerComesFirstAndThoseNotRunLast) {
  const PageTable table = LadderTable(SomeResult());
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(table.rows[0][0], "lazy-informed");
  EXPECT_EQ(table.rows[0][3], "20.0 [15.0, 25.0]");
  EXPECT_EQ(table.rows[0][4], "25.0 [20.0, 30.0]");
  EXPECT_EQ(table.rows[1][0], "ignorant");
  EXPECT_EQ(table.rows[1][2], "3");  // the lowest over l
  EXPECT_EQ(table.rows[2][3], "not run");
}

TEST(AttackPage, ShowsCurveAndMapAndEscapes) {
  const std::string html = RenderAssessPage(AttackPage(SomeResult(), "<o> and <p>"));
  for (const char* id :
       {"eer-by-l", "training-eer", "map-original", "map-protected", "map-gender"}) {
    EXPECT_NE(html.find(std::string("id=\"") + id + "\""), std::string::npos) << id;
  }
  EXPECT_EQ(html.find("<the key>"), std::string::npos);
  EXPECT_EQ(html.find("<note>"), std::string::npos);
  EXPECT_EQ(html.find("anonymous"), std::string::npos);
  LadderResult none = SomeResult();
  none.rows = {Row(Attacker::kInformed, "all", 0, -1.0)};
  none.worst = LadderResult::kNone;
  none.map.clear();
  none.curve.clear();
  EXPECT_EQ(RenderAssessPage(AttackPage(none, "")).find("map-gender"), std::string::npos);
}

// The row of an attacker whose scores are completely separated.
LadderRow Separated(int targets) {
  Trials trials;
  for (int i = 0; i < 2 * targets; ++i) {
    trials.scores.push_back((i % 2 == 0 ? 3.0 : -3.0) + 0.01 * i);
    trials.is_target.push_back(i % 2 == 0 ? 1 : 0);
  }
  VerifyOptions options;
  options.resamples = 0;
  LadderRow row = Row(Attacker::kIgnorant, "all", 1, 0.0);
  row.figures = Verify(trials, MakeLevels(trials), options).figures;
  return row;
}

TEST(AttackPage, SeparatedScoresAreFullyLinkableOnTablesAndPage) {
  for (const int targets : {5, 10, 19, 20, 100}) {
    LadderResult result = SomeResult();
    result.rows = {Separated(targets)};
    result.unprotected = {Separated(targets)};
    result.worst = 0;
    EXPECT_EQ(LadderTable(result).rows[0][5], "1.000") << targets;
    for (const auto& row : AllRowsTable(result).rows) EXPECT_EQ(row[7], "1.000") << targets;
    const std::string html = RenderAssessPage(AttackPage(result, ""));
    EXPECT_NE(html.find("\"name\">d_sys_unbiased"), std::string::npos);
    EXPECT_EQ(html.find("\"name\">d_sys<"), std::string::npos);
    EXPECT_EQ(html.find("\"name\">d_sys "), std::string::npos);
    // Through a file of an evaluation and back the tables are the same.
    const StepForm<CellAttack> form = EvaluationSteps().attack;
    const LadderResult again = form.read(form.write({result, {}, {}}), "a").ladder;
    EXPECT_EQ(LadderTable(again).rows, LadderTable(result).rows);
    EXPECT_EQ(again.rows[0].Find("d_sys")->counts, result.rows[0].Find("d_sys")->counts);
  }
}

TEST(EvaluationSteps, WhatIsNoResultIsRefusedWithItsName) {
  for (const char* text : {"{", "{}", "[]", R"({"ladder": {"rows": [{"attacker": "nobody"}]}})"}) {
    try {
      EvaluationSteps().attack.read(text, "cell/attack");
      FAIL() << text;
    } catch (const Error& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("cell/attack: ")) << error.what();
    }
  }
}

TEST(AttackPage, SaysThatNoEpsilonCoversWhatWasMeasured) {
  EXPECT_EQ(LadderJson(SomeResult()).json()["measured"], "measured, not covered by epsilon");
  const std::string html = RenderAssessPage(AttackPage(SomeResult(), ""));
  EXPECT_NE(html.find("Measured, not covered by ε"), std::string::npos);
}

}  // namespace
}  // namespace sotto
