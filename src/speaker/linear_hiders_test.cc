#include "speaker/linear_hiders.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/testing.h"
#include "nn/logistic.h"
#include "speaker/embeddings.h"
#include "speaker/hider_data.h"
#include "speaker/hider_testing.h"
#include "speaker/hiders.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::AttributeVoices;
using testing::GivenValues;

MatrixXd Apply(const AffineMap& map, const MatrixXd& x) {
  return (map.matrix.cast<double>() * x).colwise() + map.offset.cast<double>();
}

MatrixXd OneHotOf(const HiderData& data) { return OneHot(data.categories, data.header.attributes); }

AffineMap Leace(const HiderData& data) {
  return FitLeace(data.x.cast<double>(), OneHotOf(data), HiderWeights(data));
}

// The largest difference between a category's mean and the mean of all, under the weights.
double MeansApart(const HiderData& data, const MatrixXd& y) {
  const MatrixXd z = OneHotOf(data);
  const VectorXd weights = HiderWeights(data), mean = y * weights;
  double apart = 0.0;
  for (Index k = 0; k < z.rows(); ++k) {
    const VectorXd own = weights.cwiseProduct(z.row(k).transpose());
    apart = std::max(apart, (y * own / own.sum() - mean).norm());
  }
  return apart;
}

// W and its pseudo-inverse by singular values, P by the pseudo-inverse of W·Σ_xz: computed with
// NumPy by the formula as it stands in the paper, for one attribute and for two.
TEST(LinearHiders, LeaceIsTheFormulaOfThePaper) {
  const Eigen::Matrix<double, 5, 5> gender{
      {0.6483858, -0.2682043, -0.0079486, 0.1910689, 0.1067918},
      {-0.5880805, 0.5514239, -0.0132941, 0.3195659, 0.178611},
      {-0.0786077, -0.0599604, 0.998223, 0.0427158, 0.0238746},
      {0.1570526, 0.1197966, 0.0035503, 0.9146568, -0.0476998},
      {0.3710326, 0.2830163, 0.0083875, -0.201621, 0.8873105}};
  const Eigen::Vector<double, 5> gender_offset{0.1516674, 0.2536661, 0.0339071, -0.067744,
                                               -0.1600434};
  const Eigen::Matrix<double, 5, 5> both{{0.395555, -0.0418041, -0.0098672, 0.4105845, 0.1281865},
                                         {-0.0346767, 0.0747819, 0.0073221, -0.1436033, 0.149908},
                                         {-0.014902, 0.0056308, 0.00074, -0.0216053, 0.004361},
                                         {0.474534, -0.1499415, -0.0208978, 0.6435599, -0.0723362},
                                         {0.3327828, 0.3079664, 0.0228536, -0.1737809, 0.8853632}};
  const Eigen::Vector<double, 5> both_offset{0.2368367, 0.0880169, 0.4189076, -0.1586872,
                                             -0.1615967};
  const AffineMap one = Leace(AttributeVoices(25, 5, 7));
  EXPECT_LT((one.matrix.cast<double>() - gender).cwiseAbs().maxCoeff(), 2e-7);
  EXPECT_LT((one.offset.cast<double>() - gender_offset).cwiseAbs().maxCoeff(), 2e-7);
  const AffineMap two = Leace(AttributeVoices(25, 5, 7, 0.5F, true));
  EXPECT_LT((two.matrix.cast<double>() - both).cwiseAbs().maxCoeff(), 2e-7);
  EXPECT_LT((two.offset.cast<double>() - both_offset).cwiseAbs().maxCoeff(), 2e-7);
}

TEST(LinearHiders, AfterLeaceNoLinearClassifierBeatsAConstantOne) {
  const HiderData data = AttributeVoices(40, 8, 3, 1.0F, true);
  const MatrixXd x = data.x.cast<double>();
  const MatrixXd y = Apply(Leace(data), x);
  EXPECT_GT(MeansApart(data, x), 0.2);
  EXPECT_LT(MeansApart(data, y), 1e-6);
  // Age groups have equal means, one against the rest too; gender has two halves.
  const HiderData gender = AttributeVoices(40, 8, 3, 1.0F);
  const MatrixXd erased = Apply(Leace(gender), gender.x.cast<double>());
  std::vector<std::uint8_t> man;
  for (Index i = 0; i < erased.cols(); ++i) man.push_back(gender.categories(0, i) == 1 ? 1 : 0);
  const VectorXd weights = HiderWeights(gender);
  const Logistic before = TrainLogistic(gender.x.cast<double>(), man, weights, 1e-6);
  EXPECT_LT(LogLoss(before.Logits(gender.x.cast<double>()), man, weights), 0.2);
  const Logistic after = TrainLogistic(erased, man, weights, 1e-6);
  EXPECT_NEAR(LogLoss(after.Logits(erased), man, weights), std::log(2.0), 1e-6);
}

// Every x → x − δ·vᵀ(x − E x) with vᵀδ = 1, δ the difference of the means, erases two categories.
TEST(LinearHiders, LeaceMovesLeastOfAllErasersInEveryNorm) {
  const HiderData data = AttributeVoices(30, 6, 5);
  const MatrixXd x = data.x.cast<double>(), z = OneHotOf(data);
  const VectorXd weights = HiderWeights(data), mean = x * weights;
  const VectorXd apart = x * weights.asDiagonal() * (z.row(0) - z.row(1)).transpose() * 2.0;
  const MatrixXd moved = Apply(Leace(data), x) - x;
  const auto norm = [&](const MatrixXd& by, const VectorXd& scale) {
    return ((scale.asDiagonal() * by).cwiseAbs2() * weights).sum();
  };
  SeededRng rng(1);
  for (int k = 0; k < 50; ++k) {
    VectorXd v = apart;  // the first is the plain projection
    for (double& value : v) value += k == 0 ? 0.0 : 0.5 * rng.Gaussian();
    v /= v.dot(apart);
    const MatrixXd other = -apart * (v.transpose() * (x.colwise() - mean));
    ASSERT_LT(MeansApart(data, x + other), 1e-12);
    VectorXd scale(6);
    for (double& value : scale) value = 0.1 + rng.Uniform();
    EXPECT_LT(norm(moved, VectorXd::Ones(6)), norm(other, VectorXd::Ones(6)) * 0.999);
    EXPECT_LT(norm(moved, scale), norm(other, scale) * 0.999);
  }
}

TEST(LinearHiders, LeaceTwiceIsLeaceOnce) {
  const HiderData data = AttributeVoices(30, 6, 5, 0.5F, true);
  const AffineMap map = Leace(data);
  const MatrixXd once = Apply(map, data.x.cast<double>());
  EXPECT_LT((Apply(map, once) - once).cwiseAbs().maxCoeff(), 1e-6);
}

// More dimensions than vectors, one that never changes, two that are the same: directions in which
// nothing varies stay as they are, and the means meet all the same.
TEST(LinearHiders, LeaceTakesVoiceprintsThatFillNoSpace) {
  HiderData data = AttributeVoices(8, 40, 6);
  data.x.row(7).setConstant(0.25F);
  data.x.row(8) = data.x.row(9);
  const MatrixXd x = data.x.cast<double>(), y = Apply(Leace(data), x);
  EXPECT_GT(MeansApart(data, x), 0.3);
  EXPECT_LT(MeansApart(data, y), 1e-5);
  EXPECT_LT((y.row(7) - x.row(7)).cwiseAbs().maxCoeff(), 1e-5);
  EXPECT_LT((y.row(8) - y.row(9)).cwiseAbs().maxCoeff(), 1e-5);
  data.x.setConstant(0.5F);
  EXPECT_THROW(Leace(data), Error);
}

// The same rounds with SciPy's BFGS as the classifier and scikit-learn's AUC.
TEST(LinearHiders, InlpTakesTheRoundsOfAnotherProgram) {
  const Inlp fitted = FitInlp(AttributeVoices(60, 5, 10, 1.5F), {.penalty = 1e-2});
  const double auc[] = {1.0, 0.7993827160, 0.8487654321, 0.5648148148};
  ASSERT_EQ(fitted.auc.size(), std::size(auc));
  for (std::size_t i = 0; i < std::size(auc); ++i) EXPECT_NEAR(fitted.auc[i], auc[i], 1e-9) << i;
  const Eigen::Matrix<double, 5, 5> projection{
      {0.0785718, -0.1321471, -0.0867364, -0.1265237, 0.1772116},
      {-0.1321471, 0.2222577, 0.1476151, 0.2117253, -0.2979573},
      {-0.0867364, 0.1476151, 0.8189525, -0.306215, -0.1587082},
      {-0.1265237, 0.2117253, -0.306215, 0.4786486, -0.3081244},
      {0.1772116, -0.2979573, -0.1587082, -0.3081244, 0.4015694}};
  const MatrixXd found =
      MatrixXd::Identity(5, 5) - fitted.directions * fitted.directions.transpose();
  EXPECT_LT((found - projection).cwiseAbs().maxCoeff(), 1e-5);
  const Inlp short_one = FitInlp(AttributeVoices(60, 5, 10, 1.5F), {.rounds = 2, .penalty = 1e-2});
  EXPECT_EQ(short_one.directions, fitted.directions.leftCols(2));
}

TEST(LinearHiders, InlpOfSeveralAttributesTakesOrthogonalDirectionsOfAll) {
  const HiderData data = AttributeVoices(180, 30, 3, 1.5F, true);
  const Inlp fitted = FitInlp(data, {.penalty = 1e-2});
  const MatrixXd& b = fitted.directions;
  ASSERT_GE(b.cols(), 3);
  EXPECT_LT((b.transpose() * b - MatrixXd::Identity(b.cols(), b.cols())).norm(), 1e-9);
  EXPECT_GT(fitted.auc.front(), 0.95);
  EXPECT_LT(fitted.auc.back(), 0.65);
  EXPECT_LT(b.cols(), 25);
  const MatrixXd x = data.x.cast<double>();
  EXPECT_LT(MeansApart(data, x - b * (b.transpose() * x)), 0.3 * MeansApart(data, x));
}

// Two dimensions, and gender is in both: one is left all the same.
TEST(LinearHiders, InlpLeavesSomething) {
  HiderData data = AttributeVoices(60, 2, 1, 3.0F);
  data.x.row(1) = data.x.row(0) + 0.01F * data.x.row(1).cwiseAbs2();
  const Inlp fitted = FitInlp(data, {.penalty = 1.0});
  EXPECT_EQ(fitted.directions.cols(), 1);
}

TEST(LinearHiders, InlpNeedsSpeakersItHasNotSeen) {
  HiderData data = AttributeVoices(20, 4, 1);
  EXPECT_THROW(FitInlp(data, {.rounds = 0}), Error);
  EXPECT_THROW(FitInlp(data, {.penalty = 0.0}), Error);
  data.categories.setZero();
  data.categories.leftCols(3).setOnes();  // a single man
  EXPECT_THROW(FitInlp(data), Error);
  EXPECT_NO_THROW(GivenValues(*InlpMethod()).Number("rounds").value());
}

TEST(LinearHiders, ModelsComeBackFromTheirFiles) {
  const testing::TemporaryFolder folder;
  const HiderData data = AttributeVoices(30, 6, 5, 0.5F, true);
  for (const auto& method : {LeaceMethod(), InlpMethod()}) {
    const auto hider = method->Fit(data, GivenValues(*method));
    EXPECT_EQ(hider->Header().method, method->Name());
    EXPECT_NE(hider->Header().training.find("90 voiceprints of 30 speakers"), std::string::npos);
    EXPECT_FALSE(hider->AsksForCategories());
    EXPECT_EQ(hider->NoisyRows(), 0);
    const auto path = folder / method->Name();
    WriteHider(*hider, path);
    EXPECT_EQ(HideWithoutNoise(*ReadHider(path), data.x, {}), HideWithoutNoise(*hider, data.x, {}));
    TensorFile damaged = ReadTensorFile(path);
    damaged.tensors.clear();
    EXPECT_THROW(ParseHider(damaged), Error);
  }
}

// X-vectors of another encoder, 40 speakers: in 512 dimensions, fitted on all of them.
TEST(LinearHiders, KaldiXvectorsKeepTheirSpeakersWhenTheirGenderGoes) {
  SOTTO_NEEDS_SHARED("data/xvectors/b1");
  HiderData data;
  data.header.attributes = {{"gender", {"F", "M"}}};
  std::vector<EmbeddingSet> sets;
  Index n = 0;
  for (const char* part : {"trials_f", "trials_m"}) {
    sets.push_back(ReadEmbeddings(testing::SharedFolder() / "data/xvectors/b1" / part));
    n += sets.back().vectors.cols();
  }
  data.x.resize(512, n);
  data.categories.resize(1, n);
  std::map<std::string, int> number;
  Index at = 0;
  for (const EmbeddingSet& set : sets) {
    for (std::size_t i = 0; i < set.size(); ++i, ++at) {
      data.x.col(at) = set.vectors.col(static_cast<Index>(i)).normalized();
      data.categories(0, at) = set.genders.at(set.speakers[i]) == Gender::kFemale ? 0 : 1;
      data.speaker.push_back(number.emplace(set.speakers[i], number.size()).first->second);
    }
  }
  const AffineHider hider(data.header, {Leace(data)});
  const MatrixXd x = data.x.cast<double>();
  EXPECT_GT(MeansApart(data, x), 0.1);
  EXPECT_LT(MeansApart(data, hider.Latent(data.x, {}).cast<double>()), 1e-5);
  // Who is nearest to each, of all the others: the same speaker as often as before.
  const auto right = [&](const Eigen::MatrixXf& y) {
    Eigen::MatrixXf scores = y.transpose() * y;
    scores.diagonal().setConstant(-2.0F);
    int count = 0;
    for (Index i = 0; i < n; ++i) {
      Index nearest = 0;
      scores.col(i).maxCoeff(&nearest);
      count += data.speaker[static_cast<std::size_t>(i)] ==
                       data.speaker[static_cast<std::size_t>(nearest)]
                   ? 1
                   : 0;
    }
    return static_cast<double>(count) / static_cast<double>(n);
  };
  const double before = right(data.x);
  EXPECT_GT(before, 0.95);
  EXPECT_GT(right(HideWithoutNoise(hider, data.x, {})), before - 0.02);
}

}  // namespace
}  // namespace sotto
