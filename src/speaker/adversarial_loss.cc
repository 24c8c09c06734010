#include "speaker/adversarial_loss.h"

#include <algorithm>
#include <cmath>

namespace sotto {
namespace {

using Eigen::Index;

// ln P of each category (rows), and the units below.
template <typename Scalar>
struct Answer {
  MatrixOf<Scalar> hidden, log_shares;

  Answer(const Discriminator<Scalar>& net, const MatrixOf<Scalar>& input) {
    hidden = ((net.first * input).colwise() + net.first_bias).cwiseMax(Scalar(0));
    log_shares = (net.second * hidden).colwise() + net.second_bias;
    for (Index i = 0; i < log_shares.cols(); ++i) {
      auto column = log_shares.col(i).array();
      column -= column.maxCoeff();
      column -= std::log(column.exp().sum());
    }
  }
};

// From the derivative by the logits to that by the units before they are rectified.
template <typename Scalar>
MatrixOf<Scalar> BackToHidden(const Discriminator<Scalar>& net, const Answer<Scalar>& answer,
                              const MatrixOf<Scalar>& by_logits) {
  const MatrixOf<Scalar> back = net.second.transpose() * by_logits;
  return (answer.hidden.array() > Scalar(0)).select(back, Scalar(0));
}

}  // namespace

template <typename Scalar>
UnitColumns<Scalar> ToUnit(const MatrixOf<Scalar>& raw) {
  UnitColumns<Scalar> unit{raw, raw.colwise().norm().transpose().cwiseMax(Scalar(1e-12))};
  for (Index i = 0; i < raw.cols(); ++i) unit.y.col(i) /= unit.norms[i];
  return unit;
}

template <typename Scalar>
MatrixOf<Scalar> BackThroughUnit(const UnitColumns<Scalar>& unit, const MatrixOf<Scalar>& slope) {
  MatrixOf<Scalar> back(slope.rows(), slope.cols());
  for (Index i = 0; i < slope.cols(); ++i) {
    back.col(i) = (slope.col(i) - unit.y.col(i).dot(slope.col(i)) * unit.y.col(i)) / unit.norms[i];
  }
  return back;
}

template <typename Scalar>
double SpeakerLoss(const MatrixOf<Scalar>& y, const std::vector<int>& speaker,
                   const std::vector<std::uint8_t>& enrols, Scalar scale, MatrixOf<Scalar>& slope) {
  slope = MatrixOf<Scalar>::Zero(y.rows(), y.cols());
  const int most = *std::max_element(speaker.begin(), speaker.end());
  std::vector<Index> prototype(static_cast<std::size_t>(most) + 1, -1), tests;
  Index n = 0;
  for (std::size_t i = 0; i < speaker.size(); ++i) {
    Index& own = prototype[static_cast<std::size_t>(speaker[i])];
    if (enrols[i] != 0 && own < 0) own = n++;
  }
  MatrixOf<Scalar> sums = MatrixOf<Scalar>::Zero(y.rows(), n);
  for (std::size_t i = 0; i < speaker.size(); ++i) {
    const Index own = prototype[static_cast<std::size_t>(speaker[i])];
    if (own < 0) continue;
    if (enrols[i] != 0) {
      sums.col(own) += y.col(static_cast<Index>(i));
    } else {
      tests.push_back(static_cast<Index>(i));
    }
  }
  if (tests.empty()) return 0.0;
  const UnitColumns<Scalar> prototypes = ToUnit<Scalar>(sums);
  const MatrixOf<Scalar> tested = y(Eigen::all, tests);
  MatrixOf<Scalar> by_logits = scale * (prototypes.y.transpose() * tested);
  double loss = 0.0;
  for (Index t = 0; t < by_logits.cols(); ++t) {
    auto column = by_logits.col(t).array();
    const Index own = prototype[static_cast<std::size_t>(
        speaker[static_cast<std::size_t>(tests[static_cast<std::size_t>(t)])])];
    column -= column.maxCoeff();
    column -= std::log(column.exp().sum());
    loss -= static_cast<double>(column[own]);
    column = column.exp();
    column[own] -= Scalar(1);
  }
  const auto count = static_cast<Scalar>(tests.size());
  by_logits *= scale / count;
  slope(Eigen::all, tests) = prototypes.y * by_logits;
  const MatrixOf<Scalar> by_prototypes = tested * by_logits.transpose();
  const MatrixOf<Scalar> by_sums = BackThroughUnit<Scalar>(prototypes, by_prototypes);
  for (std::size_t i = 0; i < speaker.size(); ++i) {
    const Index own = prototype[static_cast<std::size_t>(speaker[i])];
    if (own >= 0 && enrols[i] != 0) slope.col(static_cast<Index>(i)) += by_sums.col(own);
  }
  return loss / static_cast<double>(count);
}

template <typename Scalar>
double AttackerLoss(const Discriminator<Scalar>& net, const MatrixOf<Scalar>& input,
                    const std::vector<int>& truth, const VectorOf<Scalar>& weights,
                    Discriminator<Scalar>* gradient) {
  const Answer<Scalar> answer(net, input);
  double loss = 0.0;
  MatrixOf<Scalar> by_logits = answer.log_shares.array().exp();
  for (Index i = 0; i < input.cols(); ++i) {
    const Index t = truth[static_cast<std::size_t>(i)];
    loss -= static_cast<double>(weights[i] * answer.log_shares(t, i));
    by_logits(t, i) -= Scalar(1);
  }
  if (gradient == nullptr) return loss;
  by_logits = by_logits * weights.asDiagonal();
  gradient->second.noalias() = by_logits * answer.hidden.transpose();
  gradient->second_bias = by_logits.rowwise().sum();
  const MatrixOf<Scalar> back = BackToHidden<Scalar>(net, answer, by_logits);
  gradient->first.noalias() = back * input.transpose();
  gradient->first_bias = back.rowwise().sum();
  return loss;
}

template <typename Scalar>
double ConfusionLoss(const Discriminator<Scalar>& net, const MatrixOf<Scalar>& input,
                     const VectorOf<Scalar>& weights, MatrixOf<Scalar>& slope) {
  const Answer<Scalar> answer(net, input);
  const Scalar share = Scalar(1) / static_cast<Scalar>(answer.log_shares.rows());
  MatrixOf<Scalar> by_logits = answer.log_shares.array().exp() - share;
  by_logits = by_logits * weights.asDiagonal();
  slope = net.first.transpose() * BackToHidden<Scalar>(net, answer, by_logits);
  const VectorOf<Scalar> each =
      -share * answer.log_shares.colwise().sum().transpose().array() + std::log(share);
  return static_cast<double>(weights.dot(each));
}

#define SOTTO_INSTANTIATE(Scalar)                                                                 \
  template UnitColumns<Scalar> ToUnit(const MatrixOf<Scalar>&);                                   \
  template MatrixOf<Scalar> BackThroughUnit(const UnitColumns<Scalar>&, const MatrixOf<Scalar>&); \
  template double SpeakerLoss(const MatrixOf<Scalar>&, const std::vector<int>&,                   \
                              const std::vector<std::uint8_t>&, Scalar, MatrixOf<Scalar>&);       \
  template double AttackerLoss(const Discriminator<Scalar>&, const MatrixOf<Scalar>&,             \
                               const std::vector<int>&, const VectorOf<Scalar>&,                  \
                               Discriminator<Scalar>*);                                           \
  template double ConfusionLoss(const Discriminator<Scalar>&, const MatrixOf<Scalar>&,            \
                                const VectorOf<Scalar>&, MatrixOf<Scalar>&);
SOTTO_INSTANTIATE(float)
SOTTO_INSTANTIATE(double)
#undef SOTTO_INSTANTIATE

}  // namespace sotto
