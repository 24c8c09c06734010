#include "assess/fairness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "assess/trials.h"
#include "base/error.h"
#include "base/files.h"
#include "base/testing.h"

namespace sotto {
namespace {

GroupedTrials ReadGrouped(const std::filesystem::path& path) {
  const Trials trials = ReadTrialTsv(path, {"group", true});
  return GroupTrials(trials, trials.extra, nullptr, nullptr, false).trials;
}

void ExpectNear(const nlohmann::json& expected, double value, const std::string& what) {
  if (expected.is_null()) {
    EXPECT_TRUE(std::isnan(value)) << what << " is " << value;
  } else {
    EXPECT_NEAR(value, expected.get<double>(), 1e-12) << what;
  }
}

void ExpectGolden(const std::string& name) {
  const auto folder = testing::SharedFolder() / "data/golden" / name;
  const auto values = nlohmann::json::parse(ReadTextFile(folder / "expected.json"))["values"];
  const FairnessResult result =
      FairnessMeter(ReadGrouped(folder / "trials.tsv"), FairnessOptions()).Measure();
  ASSERT_EQ(result.groups, values["groups"].get<std::vector<std::string>>());
  const std::vector<std::string> alphas = {"0", "0.25", "0.5", "0.75", "1"};
  ASSERT_EQ(result.points.size(), values["operating_points"].size());
  for (std::size_t p = 0; p < result.points.size(); ++p) {
    const FairnessPoint& point = result.points[p];
    const auto& expected = values["operating_points"][p];
    EXPECT_EQ(point.pooled_fmr_target, expected["pooled_fmr_target"]);
    EXPECT_EQ(point.threshold, expected["threshold"]);
    ExpectNear(expected["pooled_fmr"], point.pooled_fmr, "pooled_fmr");
    ExpectNear(expected["pooled_fnmr"], point.pooled_fnmr, "pooled_fnmr");
    for (std::size_t g = 0; g < result.groups.size(); ++g) {
      ExpectNear(expected["fmr"][result.groups[g]], point.fmr[g], "fmr");
      ExpectNear(expected["fnmr"][result.groups[g]], point.fnmr[g], "fnmr");
      EXPECT_EQ(result.n_tar[g], values["counts"][result.groups[g]]["target"]);
      EXPECT_EQ(result.n_non[g], values["counts"][result.groups[g]]["nontarget"]);
    }
    for (std::size_t a = 0; a < alphas.size(); ++a) {
      for (const auto& value : expected["fdr"][alphas[a]]) ExpectNear(value, point.fdr[a], "fdr");
      for (const auto& value : expected["ir"][alphas[a]]) ExpectNear(value, point.ir[a], "ir");
      for (const auto& value : expected["garbe"][alphas[a]]) {
        if (!value.is_null()) ExpectNear(value, point.garbe[a], "garbe");
      }
    }
  }
  for (std::size_t a = 0; a < alphas.size(); ++a) {
    for (const auto& value : values["auFDR_linear_fmr_minmax"][alphas[a]]) {
      ExpectNear(value, result.au_fdr_linear[a], "au_fdr_linear");
    }
    for (const auto& value : values["auFDR_log10_fmr"][alphas[a]]) {
      ExpectNear(value, result.au_fdr_log[a], "au_fdr_log");
    }
  }
}

TEST(FairnessGolden, TwoGendersMatch) {
  SOTTO_NEEDS_SHARED("data/golden/fair_asv19eval_xvec_gender");
  ExpectGolden("fair_asv19eval_xvec_gender");
}

TEST(FairnessGolden, FourGroupsMatch) {
  SOTTO_NEEDS_SHARED("data/golden/fair_mnist_oo_4groups");
  ExpectGolden("fair_mnist_oo_4groups");
}

TEST(FairnessGolden, NineNationalitiesMatch) {
  SOTTO_NEEDS_SHARED("data/golden/fair_voxsim_9nat");
  ExpectGolden("fair_voxsim_9nat");
}

// Two groups whose scores are the numbers given: targets then non-targets.
GroupedTrials TwoGroups(const std::vector<std::vector<double>>& scores) {
  GroupedTrials trials;
  trials.groups = {"a", "b"};
  for (std::size_t k = 0; k < scores.size(); ++k) {
    for (const double score : scores[k]) {
      trials.scores.push_back(score);
      trials.is_target.push_back(k % 2 == 0 ? 1 : 0);
      trials.group.push_back(static_cast<std::uint32_t>(k / 2));
    }
  }
  return trials;
}

TEST(Fairness, EqualGroupsAreFairByEveryMeasure) {
  const std::vector<double> tar = {1, 2, 3, 4};
  const std::vector<double> non = {-1, 0, 1, 2};
  const FairnessResult result =
      FairnessMeter(TwoGroups({tar, non, tar, non}), {{0.25, 0.3}, {0.0, 0.5, 1.0}}).Measure();
  for (const FairnessPoint& point : result.points) {
    for (std::size_t a = 0; a < 3; ++a) {
      EXPECT_EQ(point.fdr[a], 1.0);
      EXPECT_EQ(point.ir[a], 1.0);
      EXPECT_EQ(point.garbe[a], 0.0);
    }
  }
  EXPECT_EQ(result.points[0].threshold, 2.0);
  EXPECT_EQ(result.points[0].pooled_fmr, 0.25);
}

TEST(Fairness, InequityRateDoesNotExistWhenAGroupHasNoErrors) {
  const FairnessResult result =
      FairnessMeter(TwoGroups({{5, 6}, {-1, -2}, {1, 6}, {-1, 7}}), {{0.3}, {0.0, 1.0}}).Measure();
  EXPECT_TRUE(std::isnan(result.points[0].ir[0]));
  EXPECT_TRUE(std::isnan(result.points[0].ir[1]));
  EXPECT_EQ(result.criteria[1].metric, "ir");
  EXPECT_EQ(result.criteria[1].ffmc3_computable, 0.0);
  EXPECT_EQ(result.criteria[2].ffmc3_computable, 1.0);
}

TEST(Fairness, GarbeOfASystemWithoutErrorsIsZero) {
  const FairnessResult result =
      FairnessMeter(TwoGroups({{5, 6}, {-1, -2}, {5, 6}, {-1, -2}}), {{0.1}, {0.5}}).Measure();
  EXPECT_EQ(result.points[0].garbe[0], 0.0);
}

TEST(Fairness, RejectingEverybodyIsTheThresholdWhenNonTargetsScoreHighest) {
  const FairnessResult result =
      FairnessMeter(TwoGroups({{0, 1}, {9, 9}, {0, 1}, {9, 9}}), {{0.1}, {0.5}}).Measure();
  EXPECT_EQ(result.points[0].threshold, std::numeric_limits<double>::infinity());
  EXPECT_EQ(result.points[0].pooled_fmr, 0.0);
  EXPECT_EQ(result.points[0].pooled_fnmr, 1.0);
}

TEST(Fairness, WholeWeightsEqualRepeatedTrials) {
  const GroupedTrials once = TwoGroups({{1, 3, 5}, {0, 2}, {2, 4}, {-1, 3, 1}});
  std::vector<double> weights;
  GroupedTrials repeated;
  repeated.groups = once.groups;
  for (std::size_t i = 0; i < once.scores.size(); ++i) {
    weights.push_back(static_cast<double>(1 + i % 3));
    for (std::size_t k = 0; k < 1 + i % 3; ++k) {
      repeated.scores.push_back(once.scores[i]);
      repeated.is_target.push_back(once.is_target[i]);
      repeated.group.push_back(once.group[i]);
    }
  }
  const FairnessOptions options{{0.2, 0.5}, {0.5}};
  const FairnessResult a = FairnessMeter(once, options).Measure(weights);
  const FairnessResult b = FairnessMeter(repeated, options).Measure();
  for (std::size_t p = 0; p < 2; ++p) {
    EXPECT_EQ(a.points[p].threshold, b.points[p].threshold);
    EXPECT_DOUBLE_EQ(a.points[p].fdr[0], b.points[p].fdr[0]);
    EXPECT_DOUBLE_EQ(a.points[p].garbe[0], b.points[p].garbe[0]);
  }
}

TEST(Fairness, RefusesOneGroupGroupsWithoutImpostorsAndBadTargets) {
  GroupedTrials one = TwoGroups({{1}, {0}});
  one.groups = {"a"};
  EXPECT_THROW(FairnessMeter(one, FairnessOptions()), Error);
  EXPECT_THROW(FairnessMeter(TwoGroups({{1}, {0}, {1}}), FairnessOptions()), Error);
  EXPECT_THROW(FairnessMeter(TwoGroups({{1}, {0}, {1}, {0}}), {{0.5, 0.1}, {0.5}}), Error);
  EXPECT_THROW(FairnessMeter(TwoGroups({{1}, {0}, {1}, {0}}), {{0.5}, {1.5}}), Error);
}

TEST(Gini, IsOneWhenOneGroupBearsAllErrors) {
  EXPECT_DOUBLE_EQ(GiniOfRates(std::vector<double>{0.0, 0.0, 0.3}), 1.0);
  EXPECT_DOUBLE_EQ(GiniOfRates(std::vector<double>{0.2, 0.2}), 0.0);
}

TEST(GroupTrials, LeavesOutImpostorsFromOtherGroupsUnlessAsked) {
  const Trials trials = ParseTrialTsv(
      "label\tscore\tenrol_group\ttest_group\n"
      "target\t3\tf\tf\nnontarget\t1\tf\tm\nnontarget\t0\tf\tf\n"
      "target\t3\tm\tm\nnontarget\t1\tm\tm\n",
      "t");
  const auto grouped =
      GroupTrials(trials, trials.enrol_group, &trials.enrol_group, &trials.test_group, false);
  EXPECT_EQ(grouped.trials.scores.size(), 4U);
  EXPECT_EQ(grouped.n_cross_group, 1U);
  EXPECT_EQ(grouped.trials.groups, (std::vector<std::string>{"f", "m"}));
  const auto all =
      GroupTrials(trials, trials.enrol_group, &trials.enrol_group, &trials.test_group, true);
  EXPECT_EQ(all.trials.scores.size(), 5U);
}

}  // namespace
}  // namespace sotto
