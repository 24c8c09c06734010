#include "assess/similarity.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/testing.h"
#include "base/tsv.h"

namespace sotto {
namespace {

SegmentComparisons Read(const std::filesystem::path& path) {
  return ParseSegmentComparisons(ReadTextFile(path), path.filename());
}

void ExpectFiles(const SimilarityView& view, const std::filesystem::path& folder,
                 const std::string& name) {
  const std::string matrix_text = ReadTextFile(folder / ("matrix_" + name + ".tsv"));
  const Tsv matrix = ParseTsv(matrix_text, name);
  ASSERT_EQ(matrix.rows.size(), view.data.speakers.size());
  for (std::size_t i = 0; i < matrix.rows.size(); ++i) {
    EXPECT_EQ(matrix.rows[i][0], view.data.speakers[i]);
    for (std::size_t j = 0; j < matrix.rows.size(); ++j) {
      const double expected = ParseNumber(matrix.rows[i][j + 1], name);
      // The reference adds a ramp of up to 1e-6 to its LLRs.
      EXPECT_NEAR(view.sigmoid_of_mean.At(i, j), expected, 1e-6 * expected);
    }
  }
  const std::string llr_text = ReadTextFile(folder / ("calibrated_" + name + ".tsv"));
  const Tsv llrs = ParseTsv(llr_text, name);
  ASSERT_EQ(llrs.rows.size(), view.llrs.size());
  for (std::size_t i = 0; i < llrs.rows.size(); ++i) {
    EXPECT_NEAR(view.llrs[i], ParseNumber(llrs.rows[i][2], name), 1e-6);
  }
}

TEST(SimilarityGolden, MatricesAndFiguresMatch) {
  SOTTO_NEEDS_SHARED("data/golden/sim_mnist");
  const auto folder = testing::SharedFolder() / "data/golden/sim_mnist";
  const SimilarityResult result = MeasureSimilarity(
      Read(folder / "osp_osp.tsv"), Read(folder / "osp_psp.tsv"), Read(folder / "psp_psp.tsv"));
  const auto all = nlohmann::json::parse(ReadTextFile(folder / "expected.json"))["values"];
  const auto& values = all["VPC2020/2022 scripts (PAV-Laplace calibrated LLRs)"];
  const auto expect = [](double value, const nlohmann::json& expected) {
    EXPECT_NEAR(value, expected.get<double>(), 1e-6 * std::abs(expected.get<double>()));
  };
  expect(result.sigmoid_of_mean.d_diag_oo, values["ddiag"]["osp_osp"]);
  expect(result.sigmoid_of_mean.d_diag_op, values["ddiag"]["osp_psp"]);
  expect(result.sigmoid_of_mean.d_diag_pp, values["ddiag"]["psp_psp"]);
  expect(result.sigmoid_of_mean.deid, values["deid"]);
  expect(result.sigmoid_of_mean.g_vd_db, values["gvd_db"]);
  ExpectFiles(result.oo, folder, "osp_osp");
  ExpectFiles(result.op, folder, "osp_psp");
  ExpectFiles(result.pp, folder, "psp_psp");
}

// Three speakers with two segments each; `same` and `other` are the scores.
std::string Comparisons(double same, double other) {
  std::string text = "seg_a\tseg_b\tscore\tspk_a\tspk_b\n";
  const std::string names = "abc";
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = i + 1; j < 6; ++j) {
      const char a = names[i / 2];
      const char b = names[j / 2];
      text +=
          fmt::format("{}{}\t{}{}\t{}\t{}\t{}\n", a, i % 2, b, j % 2, a == b ? same : other, a, b);
    }
  }
  return text;
}

SegmentComparisons Parse(const std::string& text) { return ParseSegmentComparisons(text, "t"); }

TEST(Similarity, NoProtectionGivesZeroDeidAndZeroGain) {
  const std::string text = Comparisons(1, 0);
  const SimilarityResult result = MeasureSimilarity(Parse(text), Parse(text), Parse(text));
  EXPECT_DOUBLE_EQ(result.sigmoid_of_mean.deid, 0.0);
  EXPECT_DOUBLE_EQ(result.sigmoid_of_mean.g_vd_db, 0.0);
  EXPECT_DOUBLE_EQ(result.geometric.deid, 0.0);
  EXPECT_DOUBLE_EQ(result.d_ece_op_oo, 0.0);
  EXPECT_DOUBLE_EQ(result.cllr_min_op_oo, 0.0);
  EXPECT_DOUBLE_EQ(result.g_d_ece_db, 0.0);
  EXPECT_DOUBLE_EQ(result.g_cllr_min_db, 0.0);
}

TEST(Similarity, ConstantScoresHideEverybody) {
  const SimilarityResult result = MeasureSimilarity(
      Parse(Comparisons(1, 0)), Parse(Comparisons(0, 0)), Parse(Comparisons(1, 0)));
  EXPECT_NEAR(result.sigmoid_of_mean.deid, 1.0, 1e-12);
  EXPECT_NEAR(result.d_ece_op_oo, 1.0, 1e-12);
  EXPECT_NEAR(result.cllr_min_op_oo, 1.0, 1e-12);
}

TEST(Similarity, BothDefinitionsAgreeWhenAPairHasOneLlrAndGeometricIsLowerOtherwise) {
  const SegmentComparisons data = Parse(
      "seg_a\tseg_b\tscore\tspk_a\tspk_b\n"
      "a0\ta1\t1\ta\ta\nb0\tb1\t1\tb\tb\na0\tb0\t0\ta\tb\na1\tb0\t0\tb\ta\n");
  const std::vector<double> llrs = {2, 3, -1, 1};
  const auto mean = MakeSimilarityMatrix(data, llrs, SimilarityMean::kSigmoidOfMean, "t");
  const auto geometric = MakeSimilarityMatrix(data, llrs, SimilarityMean::kGeometric, "t");
  EXPECT_DOUBLE_EQ(mean.At(0, 0), geometric.At(0, 0));
  EXPECT_DOUBLE_EQ(mean.At(0, 1), 0.5);  // in either order: LLRs −1 and 1
  EXPECT_DOUBLE_EQ(mean.At(1, 0), 0.5);
  const double sigma = 1.0 / (1.0 + std::exp(-1.0));
  EXPECT_DOUBLE_EQ(geometric.At(0, 1), std::sqrt(sigma * (1.0 - sigma)));
}

TEST(Similarity, ComparisonsOfASegmentWithItselfAreRemoved) {
  const std::string text = Comparisons(1, 0) + "a0\ta0\t99\ta\ta\n";
  EXPECT_EQ(Parse(text).n_identical_removed, 1U);
  EXPECT_EQ(Parse(text).scores.size(), Parse(Comparisons(1, 0)).scores.size());
}

TEST(Similarity, RepeatedRowsCountOnceAndContradictionsAreRefused) {
  EXPECT_EQ(Parse(Comparisons(1, 0) + "a0\ta1\t1\ta\ta\n").scores.size(), 15U);
  EXPECT_THROW(Parse(Comparisons(1, 0) + "a0\ta1\t2\ta\ta\n"), Error);
}

TEST(Similarity, RefusesAMissingPairAndOtherSpeakers) {
  const std::string missing =
      "seg_a\tseg_b\tscore\tspk_a\tspk_b\na0\ta1\t1\ta\ta\na0\tb0\t0\ta\tb\n";
  EXPECT_THROW(MakeSimilarityView(Parse(missing), "t"), Error);
  const std::string two =
      "seg_a\tseg_b\tscore\tspk_a\tspk_b\na0\ta1\t1\ta\ta\nb0\tb1\t1\tb\tb\na0\tb0\t0\ta\tb\n";
  EXPECT_THROW(MeasureSimilarity(Parse(Comparisons(1, 0)), Parse(two), Parse(two)), Error);
}

TEST(Similarity, IdentityMatrixHasFullDominanceAndAUniformOneNone) {
  EXPECT_DOUBLE_EQ((SimilarityMatrix{2, {1, 0, 0, 1}}).DiagonalDominance(), 1.0);
  EXPECT_DOUBLE_EQ((SimilarityMatrix{2, {0, 1, 1, 0}}).DiagonalDominance(), 1.0);
  EXPECT_DOUBLE_EQ((SimilarityMatrix{2, {0.4, 0.4, 0.4, 0.4}}).DiagonalDominance(), 0.0);
}

}  // namespace
}  // namespace sotto
