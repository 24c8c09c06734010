#include "assess/similarity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "assess/numeric.h"
#include "assess/pav.h"
#include "assess/score_table.h"
#include "assess/verification.h"
#include "assess/zebra.h"
#include "base/error.h"

namespace sotto {

std::vector<std::uint8_t> SegmentComparisons::IsTarget() const {
  std::vector<std::uint8_t> is_target(scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) is_target[i] = spk_a[i] == spk_b[i] ? 1 : 0;
  return is_target;
}

SegmentComparisons ParseSegmentComparisons(std::string_view text, const std::string& where) {
  const ScoreTable table(text, where, {"seg_a", "seg_b", "score", "spk_a", "spk_b"});
  std::set<std::string_view> names;
  for (std::size_t row = 0; row < table.Rows(); ++row) {
    names.insert(table.Text("spk_a", row));
    names.insert(table.Text("spk_b", row));
  }
  SegmentComparisons out;
  out.speakers.assign(names.begin(), names.end());
  const auto index = [&](std::string_view name) {
    const auto found = std::lower_bound(out.speakers.begin(), out.speakers.end(), name);
    return static_cast<std::uint32_t>(found - out.speakers.begin());
  };
  std::map<std::pair<std::string_view, std::string_view>, double> seen;
  for (std::size_t row = 0; row < table.Rows(); ++row) {
    const std::string_view a = table.Text("seg_a", row);
    const std::string_view b = table.Text("seg_b", row);
    const double score = table.Score("score", row);
    if (a == b) {
      ++out.n_identical_removed;
      continue;
    }
    const auto [first, fresh] = seen.emplace(std::pair(a, b), score);
    if (!fresh) {
      if (first->second == score) continue;
      throw Error(fmt::format("{}: segments '{}' and '{}' were given before with score {}",
                              table.At(row), a, b, first->second));
    }
    out.scores.push_back(score);
    out.spk_a.push_back(index(table.Text("spk_a", row)));
    out.spk_b.push_back(index(table.Text("spk_b", row)));
  }
  return out;
}

double SimilarityMatrix::DiagonalDominance() const {
  return WeightedDiagonalDominance(*this, std::vector<double>(n, 1.0));
}

double WeightedDiagonalDominance(const SimilarityMatrix& matrix, std::span<const double> weights) {
  double diagonal = 0.0;
  double diagonal_weight = 0.0;
  double rest = 0.0;
  double rest_weight = 0.0;
  for (std::size_t i = 0; i < matrix.n; ++i) {
    diagonal += weights[i] * matrix.At(i, i);
    diagonal_weight += weights[i];
    for (std::size_t j = 0; j < matrix.n; ++j) {
      if (i == j) continue;
      rest += weights[i] * weights[j] * matrix.At(i, j);
      rest_weight += weights[i] * weights[j];
    }
  }
  // A bootstrap that drew one speaker only has nobody to confuse them with.
  if (rest_weight == 0.0) return std::numeric_limits<double>::quiet_NaN();
  return std::abs(diagonal / diagonal_weight - rest / rest_weight);
}

SimilarityMatrix MakeSimilarityMatrix(const SegmentComparisons& data, std::span<const double> llrs,
                                      SimilarityMean mean, const std::string& where) {
  const std::size_t n = data.speakers.size();
  if (n < 2) throw Error(fmt::format("{}: needs at least two speakers, found {}", where, n));
  SimilarityMatrix matrix{n, std::vector<double>(n * n)};
  std::vector<double> counts(n * n);
  for (std::size_t k = 0; k < llrs.size(); ++k) {
    const auto [i, j] = std::minmax(data.spk_a[k], data.spk_b[k]);
    // ln σ(l) = −softplus(−l)
    matrix.values[i * n + j] += mean == SimilarityMean::kGeometric ? -Softplus(-llrs[k]) : llrs[k];
    counts[i * n + j] += 1.0;
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i; j < n; ++j) {
      const double count = counts[i * n + j];
      if (count == 0.0) {
        throw Error(fmt::format("{}: no comparison of speaker '{}' with '{}'", where,
                                data.speakers[i], data.speakers[j]));
      }
      const double average = matrix.values[i * n + j] / count;
      const double value =
          mean == SimilarityMean::kGeometric ? std::exp(average) : Sigmoid(average);
      matrix.values[i * n + j] = matrix.values[j * n + i] = value;
    }
  }
  return matrix;
}

SimilarityView MakeSimilarityView(SegmentComparisons data, const std::string& where) {
  SimilarityView view;
  const auto is_target = data.IsTarget();
  view.n_tar = static_cast<std::size_t>(std::count(is_target.begin(), is_target.end(), 1));
  view.n_non = is_target.size() - view.n_tar;
  view.llrs = PavLlrs(data.scores, is_target, PavRule::kLaplace);
  view.sigmoid_of_mean =
      MakeSimilarityMatrix(data, view.llrs, SimilarityMean::kSigmoidOfMean, where);
  view.geometric = MakeSimilarityMatrix(data, view.llrs, SimilarityMean::kGeometric, where);
  const Pav pav = FitPav(MakeLevels(data.scores, is_target));
  view.d_ece_bits = ExpectedDisclosure(pav);
  view.cllr_min = CllrMin(pav);
  view.data = std::move(data);
  return view;
}

SimilarityFigures CombineDominance(double oo, double op, double pp) {
  // Voices that cannot be told apart before protection leave nothing to measure against.
  return {oo, op, pp, 1.0 - op / oo, 10.0 * std::log10(pp / oo)};
}

SimilarityResult MeasureSimilarity(SegmentComparisons oo, SegmentComparisons op,
                                   SegmentComparisons pp) {
  if (oo.speakers != op.speakers || oo.speakers != pp.speakers) {
    throw Error(fmt::format(
        "the comparisons OO, OP and PP hold {}, {} and {} speakers; they must be the same",
        oo.speakers.size(), op.speakers.size(), pp.speakers.size()));
  }
  SimilarityResult result;
  result.speakers = oo.speakers;
  result.oo = MakeSimilarityView(std::move(oo), "OO");
  result.op = MakeSimilarityView(std::move(op), "OP");
  result.pp = MakeSimilarityView(std::move(pp), "PP");
  result.sigmoid_of_mean = CombineDominance(result.oo.sigmoid_of_mean.DiagonalDominance(),
                                            result.op.sigmoid_of_mean.DiagonalDominance(),
                                            result.pp.sigmoid_of_mean.DiagonalDominance());
  result.geometric = CombineDominance(result.oo.geometric.DiagonalDominance(),
                                      result.op.geometric.DiagonalDominance(),
                                      result.pp.geometric.DiagonalDominance());
  const auto decibel = [](double ratio) { return 10.0 * std::log10(ratio); };
  result.d_ece_op_oo = 1.0 - result.op.d_ece_bits / result.oo.d_ece_bits;
  result.cllr_min_op_oo = (result.op.cllr_min - result.oo.cllr_min) / (1.0 - result.oo.cllr_min);
  result.g_d_ece_db = decibel(result.pp.d_ece_bits / result.oo.d_ece_bits);
  result.g_cllr_min_db = decibel((1.0 - result.pp.cllr_min) / (1.0 - result.oo.cllr_min));
  return result;
}

}  // namespace sotto
