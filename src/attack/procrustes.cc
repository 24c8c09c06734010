#include "attack/procrustes.h"

#include <fmt/format.h>

#include <Eigen/SVD>
#include <algorithm>

#include "audio/pairing.h"
#include "base/error.h"
#include "speaker/linear_algebra.h"
#include "speaker/scoring.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::MatrixXf;

// The protected set in the order of the original one.
EmbeddingSet Pair(const EmbeddingSet& original, const EmbeddingSet& protected_set) {
  std::vector<std::size_t> places;
  for (const IdPair& pair :
       PairById(original.ids, protected_set.ids, {"originals", "release", "embeddings"})) {
    places.push_back(pair.released);
  }
  return protected_set.Select(places);
}

MatrixXf UnitColumns(const MatrixXd& x) { return UnitLength(x.cast<float>()); }

// Length 1, then centred.
MatrixXd Centre(const Eigen::Ref<const MatrixXf>& x) {
  const MatrixXd unit = UnitLength(x).cast<double>();
  return unit.colwise() - unit.rowwise().mean();
}

MatrixXd PrincipalBasis(const MatrixXd& centred, Index components) {
  return DecomposeSymmetric(centred * centred.transpose()).vectors.rightCols(components);
}

MatrixXf Reduce(const Eigen::Ref<const MatrixXf>& x, const MatrixXd& basis) {
  if (x.rows() != basis.rows()) {
    throw Error(fmt::format("inversion: embeddings of {} dimensions, {} are needed", x.rows(),
                            basis.rows()));
  }
  return UnitColumns(basis.transpose() * Centre(x));
}

}  // namespace

MatrixXd OrthogonalProcrustes(const Eigen::Ref<const MatrixXd>& from,
                              const Eigen::Ref<const MatrixXd>& to) {
  if (from.rows() != to.rows() || from.cols() != to.cols() || from.cols() == 0) {
    throw Error(fmt::format("Procrustes: {} x {} to {} x {}; the same sizes are needed",
                            from.rows(), from.cols(), to.rows(), to.cols()));
  }
  const Eigen::BDCSVD<MatrixXd> svd(to * from.transpose(),
                                    Eigen::ComputeFullU | Eigen::ComputeFullV);
  return svd.matrixU() * svd.matrixV().transpose();
}

EmbeddingInversion::EmbeddingInversion(const EmbeddingSet& original,
                                       const EmbeddingSet& protected_set,
                                       const InversionOptions& options) {
  const EmbeddingSet paired = Pair(original, protected_set);
  const Index most =
      std::min({original.vectors.rows(), paired.vectors.rows(), original.vectors.cols() - 1});
  if (options.components < 0 || most < 1) {
    throw Error(fmt::format("inversion: {} components (0 or more), {} pairs (2 or more)",
                            options.components, original.size()));
  }
  const Index kept =
      options.components == 0 ? most : std::min(most, static_cast<Index>(options.components));
  original_basis_ = PrincipalBasis(Centre(original.vectors), kept);
  protected_basis_ = PrincipalBasis(Centre(paired.vectors), kept);
  rotation_ = OrthogonalProcrustes(Reduce(paired.vectors, protected_basis_).cast<double>(),
                                   Reduce(original.vectors, original_basis_).cast<double>());
}

MatrixXf EmbeddingInversion::FromProtected(const Eigen::Ref<const MatrixXf>& x) const {
  return (rotation_ * Reduce(x, protected_basis_).cast<double>()).cast<float>();
}

MatrixXf EmbeddingInversion::FromOriginal(const Eigen::Ref<const MatrixXf>& x) const {
  return Reduce(x, original_basis_);
}

InversionSuccess MeasureInversion(const EmbeddingInversion& inversion, const EmbeddingSet& original,
                                  const EmbeddingSet& protected_set) {
  const EmbeddingSet paired = Pair(original, protected_set);
  if (original.speakers.empty()) throw Error("inversion: the originals' speakers are not known");
  InversionSuccess success;
  success.utterances = original.size();
  success.scores = CosineScores(inversion.FromProtected(paired.vectors),
                                inversion.FromOriginal(original.vectors));
  std::size_t same_utterance = 0, same_speaker = 0, other = 0;
  double own = 0.0;  // Σ of the speakers' shares of utterances
  const auto by_speaker = original.BySpeaker();
  const auto n = static_cast<double>(original.size());
  for (Index i = 0; i < success.scores.rows(); ++i) {
    const std::string& speaker = original.speakers[static_cast<std::size_t>(i)];
    const auto is_own = [&](Index j) {
      return original.speakers[static_cast<std::size_t>(j)] == speaker;
    };
    Index best = 0;
    success.scores.row(i).maxCoeff(&best);
    same_utterance += best == i ? 1 : 0;
    same_speaker += is_own(best) ? 1 : 0;
    best = i;
    float highest = -2.0F;
    for (Index j = 0; j < success.scores.cols(); ++j) {
      if (j != i && success.scores(i, j) > highest) {
        highest = success.scores(i, j);
        best = j;
      }
    }
    other += best != i && is_own(best) ? 1 : 0;
    own += static_cast<double>(by_speaker.at(speaker).size());
  }
  success.top1_utterance = static_cast<double>(same_utterance) / n;
  success.top1_speaker = static_cast<double>(same_speaker) / n;
  success.top1_other = static_cast<double>(other) / n;
  success.chance_utterance = 1.0 / n;
  success.chance_speaker = own / n / n;
  success.chance_other = n > 1.0 ? (own - n) / n / (n - 1.0) : 0.0;
  return success;
}

}  // namespace sotto
