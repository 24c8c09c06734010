// Voice similarity matrices (Noé et al. 2020, 2022; seed 002 section 4) and what they say about
// pseudonymisation: does the protected voice hide who spoke, and are protected voices distinct?
//
// Scores of segment pairs become LLRs by PAV with Laplace's rule, on each comparison (OO, OP, PP)
// by itself; comparisons of a segment with itself are removed first. Sim(i, j) over all comparisons
// of speakers i and j, given in either order, is
//   σ(mean LLR)             the 2020 definition and the VPC scripts: deid, g_vd_db
//   geometric mean of σ(l)  seed 002 eq. 6: deid_geo, g_vd_geo_db
// D_diag = |mean of the diagonal − mean off the diagonal| (eq. 8)
// DeID = 1 − D_diag(OP)/D_diag(OO) (eq. 9), G_VD = 10·log10(D_diag(PP)/D_diag(OO)) (eq. 10).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sotto {

struct SegmentComparisons {
  std::vector<double> scores;
  std::vector<std::uint32_t> spk_a, spk_b;  // into speakers
  std::vector<std::string> speakers;        // sorted
  std::size_t n_identical_removed = 0;
  std::vector<std::uint8_t> IsTarget() const;
};

// Columns seg_a seg_b score spk_a spk_b. A row given twice with different scores is an Error; given
// twice with one score it counts once. (a, b) and (b, a) are two comparisons: in OP they differ.
SegmentComparisons ParseSegmentComparisons(std::string_view text, const std::string& where);

// Row-major, symmetric.
struct SimilarityMatrix {
  std::size_t n = 0;
  std::vector<double> values;
  double At(std::size_t i, std::size_t j) const { return values[i * n + j]; }
  double DiagonalDominance() const;  // eq. 8; needs two speakers
};

enum class SimilarityMean { kSigmoidOfMean, kGeometric };

struct SimilarityFigures {
  double d_diag_oo = 0.0, d_diag_op = 0.0, d_diag_pp = 0.0;
  double deid = 0.0;
  double g_vd_db = 0.0;
};

// One of the three comparisons with what is made from it.
struct SimilarityView {
  SegmentComparisons data;
  std::vector<double> llrs;
  SimilarityMatrix sigmoid_of_mean, geometric;
  double d_ece_bits = 0.0;
  double cllr_min = 0.0;
  std::size_t n_tar = 0, n_non = 0;
};

// Throws Error when a pair of speakers (or a speaker with themself) has no comparison; names them.
SimilarityView MakeSimilarityView(SegmentComparisons data, const std::string& where);
SimilarityMatrix MakeSimilarityMatrix(const SegmentComparisons& data, std::span<const double> llrs,
                                      SimilarityMean mean, const std::string& where);

struct SimilarityResult {
  std::vector<std::string> speakers;
  SimilarityView oo, op, pp;
  SimilarityFigures sigmoid_of_mean, geometric;
  // Seed 002 eqs. 17–20: the same two questions asked with D_ECE and Cllr_min.
  double d_ece_op_oo = 0.0, cllr_min_op_oo = 0.0;
  double g_d_ece_db = 0.0, g_cllr_min_db = 0.0;
};

// Throws Error when the three do not hold the same speakers.
SimilarityResult MeasureSimilarity(SegmentComparisons oo, SegmentComparisons op,
                                   SegmentComparisons pp);

// D_diag with speaker i counted weights[i] times (a bootstrap draw); NaN when it drew one speaker.
double WeightedDiagonalDominance(const SimilarityMatrix& matrix, std::span<const double> weights);
SimilarityFigures CombineDominance(double oo, double op, double pp);

}  // namespace sotto
