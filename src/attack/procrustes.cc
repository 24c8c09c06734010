#include "attack/procrustes.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "speaker/scoring.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::MatrixXf;

// The protected set in the order of the original one.
EmbeddingSet Pair(const EmbeddingSet& original, const EmbeddingSet& protected_set) {
  const auto index = protected_set.Index();
  const auto original_index = original.Index();
  std::vector<std::size_t> places;
  std::size_t lacking = 0, surplus = 0;
  for (const std::string& id : original.ids) {
    const auto found = index.find(id);
    if (found == index.end()) {
      ++lacking;
    } else {
      places.push_back(found->second);
    }
  }
  for (const std::string& id : protected_set.ids) surplus += original_index.contains(id) ? 0 : 1;
  if (lacking + surplus > 0) {
    throw Error(
        fmt::format("inversion: {} of {} original utterances have no protected embedding, "
                    "{} of {} protected ones no original",
                    lacking, original.size(), surplus, protected_set.size()));
  }
  return protected_set.Select(places);
}

MatrixXf UnitColumns(const MatrixXd& x) { return UnitLength(x.cast<float>()); }

}  // namespace

MatrixXd OrthogonalProcrustes(const Eigen::Ref<const MatrixXd>& from,
                              const Eigen::Ref<const MatrixXd>& to) {
  if (from.rows() != to.rows() || from.cols() != to.cols() || from.cols() == 0) {
    throw Error(fmt::format("Procrustes: {} x {} to {} x {}; the same sizes are wanted",
                            from.rows(), from.cols(), to.rows(), to.cols()));
  }
  const Eigen::BDCSVD<MatrixXd> svd(to * from.transpose(),
                                    Eigen::ComputeFullU | Eigen::ComputeFullV);
  return svd.matrixU() * svd.matrixV().transpose();
}

MatrixXd EmbeddingInversion::Side::Reduce(const Eigen::Ref<const MatrixXf>& x) const {
  if (x.rows() != mean.size()) {
    throw Error(fmt::format("inversion: embeddings of {} dimensions, {} are wanted", x.rows(),
                            mean.size()));
  }
  return basis.transpose() * (x.cast<double>().colwise() - mean);
}

EmbeddingInversion::Side EmbeddingInversion::MakeSide(const MatrixXf& x, Index components) {
  Side side;
  side.mean = x.cast<double>().rowwise().mean();
  const MatrixXd centred = x.cast<double>().colwise() - side.mean;
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(centred * centred.transpose());
  side.basis = eigen.eigenvectors().rightCols(components);
  return side;
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
  original_ = MakeSide(original.vectors, kept);
  protected_ = MakeSide(paired.vectors, kept);
  const MatrixXd to = UnitColumns(original_.Reduce(original.vectors)).cast<double>();
  const MatrixXd from = UnitColumns(protected_.Reduce(paired.vectors)).cast<double>();
  rotation_ = OrthogonalProcrustes(from, to);
}

MatrixXf EmbeddingInversion::FromProtected(const Eigen::Ref<const MatrixXf>& x) const {
  return UnitColumns(rotation_ * protected_.Reduce(x));
}

MatrixXf EmbeddingInversion::FromOriginal(const Eigen::Ref<const MatrixXf>& x) const {
  return UnitColumns(original_.Reduce(x));
}

InversionSuccess MeasureInversion(const EmbeddingInversion& inversion, const EmbeddingSet& original,
                                  const EmbeddingSet& protected_set) {
  const EmbeddingSet paired = Pair(original, protected_set);
  if (original.speakers.empty()) throw Error("inversion: the originals' speakers are not known");
  InversionSuccess success;
  success.utterances = original.size();
  success.scores = CosineScores(inversion.FromProtected(paired.vectors),
                                inversion.FromOriginal(original.vectors));
  std::size_t same_utterance = 0, same_speaker = 0;
  double chance_speaker = 0.0;
  const auto by_speaker = original.BySpeaker();
  for (Index i = 0; i < success.scores.rows(); ++i) {
    Index best = 0;
    success.scores.row(i).maxCoeff(&best);
    same_utterance += best == i ? 1 : 0;
    float highest = -2.0F;
    for (Index j = 0; j < success.scores.cols(); ++j) {
      if (j != i && success.scores(i, j) > highest) {
        highest = success.scores(i, j);
        best = j;
      }
    }
    const std::string& speaker = original.speakers[static_cast<std::size_t>(i)];
    same_speaker += original.speakers[static_cast<std::size_t>(best)] == speaker ? 1 : 0;
    chance_speaker += static_cast<double>(by_speaker.at(speaker).size() - 1) /
                      static_cast<double>(std::max<std::size_t>(1, original.size() - 1));
  }
  const auto n = static_cast<double>(original.size());
  success.top1_utterance = static_cast<double>(same_utterance) / n;
  success.top1_speaker = static_cast<double>(same_speaker) / n;
  success.chance_utterance = 1.0 / n;
  success.chance_speaker = chance_speaker / n;
  return success;
}

}  // namespace sotto
