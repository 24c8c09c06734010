// JSON and text of results that are made up here; what real runs print is in tests/golden.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "audio/feature_pack.h"
#include "audio/speech_pack.h"
#include "base/json.h"
#include "release/anonymise.h"
#include "report/dp_figures.h"
#include "report/json_values.h"
#include "report/text_tables.h"
#include "report/verb_figures.h"
#include "speaker/score_sets.h"
#include "targets/vtln_files.h"

namespace sotto {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Printing, InfinitiesAreTextAndWhatIsNoNumberIsNull) {
  EXPECT_EQ(JsonNumber(0.25), 0.25);
  EXPECT_EQ(JsonNumber(-kInfinity), "-inf");
  EXPECT_TRUE(JsonNumber(std::nan("")).is_null());
  EXPECT_TRUE(JsonNumber(std::optional<double>()).is_null());
  const double values[] = {1.0, kInfinity};
  EXPECT_EQ(JsonNumbers(values).dump(), R"([1.0,"inf"])");
  EXPECT_EQ(JsonNumbers({}).dump(), "[]");
}

TEST(Printing, AFigureSaysOnlyWhatIsKnown) {
  Figure figure;
  figure.value = 0.5;
  figure.unit = "bit";
  EXPECT_EQ(JsonFigure(figure).size(), 3U);
  figure.attacker = "ignorant";
  figure.counts = {{"n_tar", 3}};
  figure.interval = Interval{0.25, kInfinity, 0.9};
  figure.remark = "few";
  EXPECT_EQ(JsonFigure(figure)["interval"].dump(), R"({"low":0.25,"high":"inf","level":0.9})");
  EXPECT_EQ(JsonFigure(figure)["counts"]["n_tar"], 3);
  EXPECT_EQ(JsonText({{"id", "\xff"}}), "{\n  \"id\": \"\\\\xff\"\n}\n");
}

TEST(Printing, FieldsStandInTheirOrderAndNumbersByOneRule) {
  JsonFields f;
  f("b", kInfinity)("a", std::optional<double>())("c")("x", 1)("y", std::optional<bool>(true));
  f("c")("z", "text");
  f("list", JsonList(std::vector<int>{1, 2}, [](int n) { return JsonFields()("n", n); }));
  EXPECT_EQ(f.json().dump(), R"({"b":"inf","a":null,"c":{"x":1,"y":true,"z":"text"},)"
                             R"("list":[{"n":1},{"n":2}]})");
  EXPECT_EQ(JsonFields().Text(), "{}\n");
  EXPECT_EQ(JsonList(std::vector<int>(), [](int n) { return n; }).dump(), "[]");
}

TEST(Printing, WhatIsNotFiniteIsADashInTables) {
  EXPECT_EQ(Decimal(std::nan(""), 2) + Decimal(nullptr, 1) + Decimal(kInfinity, 1), "–––");
  Figure share;
  share.value = 0.1234;
  EXPECT_EQ(Percent(&share), "12.3");
  share.interval = Interval{0.1, 0.2};
  EXPECT_EQ(Percent(share), "12.3 [10.0, 20.0]");
  EXPECT_EQ(OnlyPercent(&share), "12.3");
  EXPECT_EQ(Percent(static_cast<const Figure*>(nullptr)), "–");
}

TEST(Printing, ColumnsAreAsWideAsTheirLettersAndLinesEndWithText) {
  EXPECT_EQ(TableText({"Title", {"a", "b", "c"}, {{"é", "22", ""}, {"333", "4", "5"}}}),
            "Title\na    b   c\né    22\n333  4   5\n\n");
}

TEST(Printing, FiguresWithoutAValueAreUndefinedAndRemarksComeLast) {
  Figure known, unknown;
  known.name = "eer";
  known.value = 0.125;
  known.direction = Direction::kHigherIsMorePrivate;
  known.counts = {{"n_tar", 3}};
  unknown.name = "d";
  unknown.value = std::nan("");
  unknown.unit = "bit";
  unknown.direction = Direction::kLowerIsMorePrivate;
  unknown.remark = "no reason";
  EXPECT_EQ(FiguresText(std::vector<Figure>{known, unknown}),
            "eer       0.125       higher is more private  n_tar 3\n"
            "d     undefined  bit  lower is more private \n"
            "d: no reason\n");
}

TEST(DpFigures, ATableIsInTheJsonOrNamedThere) {
  TableReleaseOptions options;
  options.mechanism = TableMechanism::kRandomisedResponse;
  options.columns = {"sex"};
  options.id_column = "who";
  options.max_contributions = 1;
  options.categories = {"F", "M"};
  options.eps = 1.0;
  TableRelease release;
  release.columns = {{"sex", {}, {}, 0.0, {0.25, 0.75}}};
  release.categories = options.categories;
  release.table.header = {"sex"};
  release.table.rows = {{"F"}, {"M"}};
  const auto json = ParseJson(TableReleaseJson(release, options, ""));
  EXPECT_EQ(json["mechanism"], "rr");
  EXPECT_FALSE(json["unit"].contains("lower"));
  EXPECT_EQ(json["columns"][0]["estimated_shares"]["M"], 0.75);
  EXPECT_EQ(json["table"]["rows"][1][0], "M");
  const auto elsewhere = ParseJson(TableReleaseJson(release, options, "noisy.csv"));
  EXPECT_EQ(elsewhere["out"], "noisy.csv");
  EXPECT_FALSE(elsewhere.contains("table"));
  EXPECT_EQ(TableReleaseText(release), "sex\nF\nM\n");
  release.table = {};
  release.columns = {{"age", 40.125, {}, 2.0, {}}, {"sex", {}, "F", 0.0, {}}};
  EXPECT_EQ(TableReleaseText(release), "age\t40.125\nsex\tF\n");
}

TEST(VerbFigures, AnonymiseSaysWhatTheDrawsCost) {
  AnonymiseReport report;
  report.done = report.recordings = 2;
  report.failures = {{"a", "no sound"}};
  EXPECT_FALSE(ParseJson(PrintedRun(report, 3, true)).contains("voice_ind"));
  report.target_draws = 4;
  report.target_eps = 0.5;
  const auto json = ParseJson(PrintedRun(report, 3, true));
  EXPECT_EQ(json["voice_ind"]["eps_per_speaker"], 2.0);
  EXPECT_EQ(json["failures"][0]["reason"], "no sound");
  EXPECT_EQ(json["times_real_time"], 0.0);  // no time was measured
  EXPECT_NE(PrintedRun(report, 1, false).find("with 1 job\nincomplete"), std::string::npos);
  report.complete = true;
  EXPECT_EQ(PrintedRun(report, 2, false).find("incomplete"), std::string::npos);
}

TEST(VerbFigures, ScoresAreListedWhereNoFileHoldsThem) {
  SetScores scores;
  scores.model_ids = {"a"};
  scores.trial_ids = {"x", "y"};
  scores.scores.resize(1, 2);
  scores.scores << 0.5F, -1.0F;
  scores.pairs = {{0, 1}};
  ScoreSetOptions options;
  options.by = ModelOf::kUtterance;
  const auto json = ParseJson(PrintedScores(scores, options, "", true));
  EXPECT_EQ(json["by"], "utterance");
  EXPECT_EQ(json["trials"].dump(), R"([["a","y",-1.0]])");
  EXPECT_EQ(ParseJson(PrintedScores(scores, options, "f", true))["file"], "f");
}

TEST(VerbFigures, GendersOfAPoolAreCounted) {
  BuiltPool built;
  built.pool.voices.resize(3);
  built.pool.voices[0].gender = built.pool.voices[1].gender = Gender::kFemale;
  built.failures = {{"x", "too short"}};
  const auto json = ParseJson(PrintedPool(built, 99, "p", true));
  EXPECT_EQ(json["female"], 2);
  EXPECT_EQ(json["male"], 0);
  EXPECT_EQ(PrintedPool(built, 99, "p", false),
            "3 voices (2 female, 0 male), left out 1: 99 bytes in p\n");
  VoiceProfile profile;
  profile.voices.resize(1);
  EXPECT_EQ(ParseJson(PrintedProfile(profile, built.pool, "f", true))["voices"][0]["gender"], "?");
}

TEST(VerbFigures, AFeaturePackIsTimed) {
  SpeechPack pack;
  pack.samples.resize(static_cast<std::size_t>(pack.rate_hz) * 2);
  pack.utterances.resize(1);
  EXPECT_EQ(PackText(pack), "1 utterances, 0.00 h");
  EXPECT_EQ(PrintedFeaturePack(pack, {}, 0.5, "f", false),
            "f: 1 utterances, 0.00 h in 0.5 s (4 x real time)\n");
  EXPECT_EQ(ParseJson(PrintedFeaturePack(pack, {}, 0.5, "f", true))["audio_seconds"], 2.0);
}

}  // namespace
}  // namespace sotto
