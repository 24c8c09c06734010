#include "report/hiding_page.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "base/csv.h"
#include "base/json.h"
#include "report/hiding_figures.h"
#include "speaker/affine_hider.h"

namespace sotto {
namespace {

Resampled Rate(double value) { return {value, Interval{value - 0.01, value + 0.01, 0.95}, {}}; }

std::vector<AttackerAuc> Attackers(double auc) {
  std::vector<AttackerAuc> all;
  for (const AttributeClassifier classifier : kAttributeClassifiers) {
    all.push_back({classifier, Rate(auc)});
    auc -= 0.02;
  }
  return all;
}

HidingPart Part(const std::string& name, double eer, double auc) {
  HidingPart part;
  part.name = name;
  part.speakers = 40;
  part.utility.pairs = part.utility.templates = part.utility.same_category = Rate(eer);
  part.utility.by_category = {Rate(eer), Rate(eer + 0.01)};
  part.utility.garbe = Rate(0.3);
  part.pairs_ratio = part.templates_ratio = Rate(eer / 0.05);
  part.privacy = {Attackers(auc), Attackers(auc + 0.1), Attackers(auc + 0.2)};
  return part;
}

std::shared_ptr<const Hider> Nothing() {
  HiderHeader header{"gender-aae", {}, {{"gender", {"F", "M"}}}, "by hand"};
  return std::make_shared<AffineHider>(
      header, std::vector<AffineMap>{{Eigen::MatrixXf::Identity(2, 2), Eigen::VectorXf::Zero(2)}});
}

// Unprotected; an auto-encoder trained with noise, without and with it at use; one trained with
// none; a defence that changes the dimension.
HidingStudy Study() {
  HidingStudy study;
  study.attribute = "gender";
  study.categories = {"F", "M"};
  const auto add = [&](const std::string& name, std::optional<double> eps_train,
                       std::optional<double> eps, double eer, double auc) -> HidingRow& {
    HidingRow row;
    row.defence.name = name;
    row.defence.eps_train = eps_train;
    row.defence.eps = eps;
    if (name != "unprotected") row.defence.hider = Nothing();
    if (eps) row.auc_ceiling = 0.9999997;
    row.all_noised = eps.has_value();
    for (const char* part : {"all", "one", "two"}) row.parts.push_back(Part(part, eer, auc));
    study.rows.push_back(std::move(row));
    return study.rows.back();
  };
  const double inf = std::numeric_limits<double>::infinity();
  add("unprotected", {}, {}, 0.05, 0.7);
  add("gender-aae (eps-train 15)", 15.0, {}, 0.1, 0.6);
  add("gender-aae (eps-train 15)", 15.0, 15.0, 0.4, 0.3);
  HidingRow& point = add("gender-aae (eps-train 15)", 15.0, 35.0, 0.2, 0.55);
  point.defence.only_curve = true;
  for (HidingPart& part : point.parts) part.privacy.in_domain.clear();
  add("gender-aae (eps-train inf)", inf, {}, 0.06, 0.7);
  for (HidingPart& part : add("ive", {}, {}, 0.07, 0.7).parts) part.privacy.uninformed.clear();
  return study;
}

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(HidingPage, EveryAttackerHasAName) {
  const PageTable table = HidingTable(Study(), 0);
  ASSERT_EQ(table.rows.size(), 5U);  // points of curves are no lines
  EXPECT_TRUE(Has(table.title, "low is good"));
  EXPECT_EQ(table.rows[0][1], "5.0 [4.0, 6.0]");
  EXPECT_EQ(table.rows[1][4], "0.60 [0.59, 0.61] knn3");
  // 0.3 down to 0.22, whose sign the attacker turns.
  EXPECT_EQ(table.rows[2][4], "0.78 [0.77, 0.79] quadratic turned");
  EXPECT_EQ(table.rows[4][4], "not applicable");
  EXPECT_EQ(table.rows[4][5], "0.80 [0.79, 0.81] knn3");
}

TEST(HidingPage, CeilingsOfLargeEpsilonsAreNotRoundedToOne) {
  const PageTable details = HidingDetails(Study(), 1);
  EXPECT_EQ(details.rows[1][2], "1: nothing is guaranteed");
  EXPECT_EQ(details.rows[2][2], "1 − 3e-07");
}

TEST(HidingPage, DrawsThePublishedPointsBesideOurs) {
  const AssessPage page = HidingPage(Study(), "tested");
  ASSERT_EQ(page.plots.size(), 4U);
  const auto series = [&](std::size_t plot, const std::string& name) -> PlotSeries {
    for (const PlotSeries& one : page.plots[plot].series) {
      if (one.name == name) return one;
    }
    ADD_FAILURE() << "no series " << name;
    return {};
  };
  const PlotSeries eer = series(0, "published, no noise at use");
  // Trained without noise: at the edge, twice the largest.
  ASSERT_EQ(eer.x, (std::vector<double>{30.0, 15.0}));
  EXPECT_EQ(eer.y, (std::vector<double>{0.0186, 0.081}));
  EXPECT_EQ(series(1, "published, no noise at use").y, (std::vector<double>{0.9845, 0.55, 0.76}));
  EXPECT_EQ(series(0, "published, unprotected").y, (std::vector<double>{0.011}));
  EXPECT_EQ(series(0, "no noise at use").x, (std::vector<double>{15.0, 30.0}));
  EXPECT_EQ(series(0, "no noise at use").y, (std::vector<double>{0.1, 0.06}));
  EXPECT_EQ(series(0, "eps at use = eps-train").y, (std::vector<double>{0.4}));
  EXPECT_EQ(series(2, "eps-train 15").x, (std::vector<double>{15.0, 35.0, 70.0}));
  EXPECT_EQ(series(2, "published, eps-train 15").x, (std::vector<double>{70.0, 15.0, 35.0}));
  // The net is the second of five.
  EXPECT_DOUBLE_EQ(series(3, "eps-train 15, uninformed net").y[0], 0.28);
  EXPECT_DOUBLE_EQ(series(3, "eps-train 15, best informed").y[1], 0.65);
  for (const Plot& plot : page.plots) {
    for (const PlotSeries& one : plot.series) {
      for (const double x : one.x) EXPECT_TRUE(std::isfinite(x)) << plot.id << ' ' << one.name;
    }
  }
}

TEST(HidingPage, NeverCallsAVoiceprintAnonymous) {
  const std::string html = RenderAssessPage(HidingPage(Study(), "tested"));
  EXPECT_FALSE(Has(html, "nonymous"));
  EXPECT_FALSE(Has(HidingText(Study(), "page.html"), "nonymous"));
  EXPECT_TRUE(Has(html, "not covered by ε"));
}

TEST(HidingFigures, StandInJsonAndCsv) {
  const auto json = ParseJson(HidingJson(Study()));
  ASSERT_EQ(json["rows"].size(), 6U);
  EXPECT_EQ(json["rows"][2]["eps_train"], 15.0);
  EXPECT_EQ(json["rows"][4]["eps_train"], "inf");
  EXPECT_TRUE(json["rows"][0]["eps"].is_null());
  const auto& part = json["rows"][5]["parts"][2];
  EXPECT_EQ(part["part"], "two");
  EXPECT_TRUE(part["auc_uninformed"].is_null());
  EXPECT_TRUE(part["best_uninformed"].is_null());
  EXPECT_EQ(part["best_informed"]["classifier"], "knn3");
  EXPECT_NEAR(part["auc_informed"]["mlp"]["value"], 0.78, 1e-12);
  EXPECT_NEAR(part["eer_by_category"]["M"]["value"], 0.08, 1e-12);
  EXPECT_EQ(json["rows"][2]["parts"][0]["best_uninformed"]["turned"], true);
  EXPECT_EQ(json["published"].size(), 8U);

  const CsvTable csv = ParseCsv(HidingCsv(Study()), "hiding.csv");
  ASSERT_EQ(csv.rows.size(), 18U);
  const auto at = [&](std::size_t row, const char* column) {
    return csv.rows[row][csv.Column(column, "hiding.csv")];
  };
  EXPECT_EQ(at(15, "defence"), "ive");
  EXPECT_EQ(at(15, "best_uninformed"), "not applicable");
  EXPECT_EQ(at(15, "auc_uninformed"), "");
  EXPECT_EQ(at(12, "eps_train"), "inf");
  EXPECT_EQ(at(7, "part"), "one");
  EXPECT_EQ(std::stod(at(7, "eer_pairs")), 0.4);
}

}  // namespace
}  // namespace sotto
