#include "speaker/ivector.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <cmath>
#include <numbers>

#include "audio/testing.h"
#include "base/error.h"
#include "base/random.h"
#include "base/testing.h"
#include "speaker/embed_corpus.h"
#include "speaker/scoring.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::MatrixXf;
using Eigen::VectorXd;
using Eigen::VectorXf;

MatrixXf Noise(Index rows, Index columns, std::uint64_t seed) {
  SeededRng rng(seed);
  MatrixXf m(rows, columns);
  for (Index j = 0; j < columns; ++j) {
    for (Index i = 0; i < rows; ++i) m(i, j) = static_cast<float>(rng.Gaussian());
  }
  return m;
}

// Three clusters far apart.
MatrixXf Clusters(Index n) {
  MatrixXf x = 0.5F * Noise(2, n, 1);
  for (Index t = 0; t < n; ++t) {
    x(0, t) += static_cast<float>(10 * (t % 3));
    x(1, t) -= t % 3 == 1 ? 5.0F : 0.0F;
  }
  return x;
}

TEST(Ivector, LogJointIsTheGaussiansLog) {
  DiagonalGmm gmm;
  gmm.weights = Eigen::Vector2f(0.25F, 0.75F);
  gmm.means = Noise(3, 2, 2);
  gmm.variances = Noise(3, 2, 3).cwiseAbs2().array() + 0.5F;
  const MatrixXf x = Noise(3, 4, 4);
  const MatrixXf joint = gmm.LogJoint(x);
  for (Index c = 0; c < 2; ++c) {
    for (Index t = 0; t < 4; ++t) {
      double expected = std::log(gmm.weights[c]);
      for (Index i = 0; i < 3; ++i) {
        const double v = gmm.variances(i, c), e = x(i, t) - gmm.means(i, c);
        expected -= 0.5 * (std::log(2.0 * std::numbers::pi * v) + e * e / v);
      }
      EXPECT_NEAR(joint(c, t), expected, 1e-5);
    }
  }
}

TEST(Ivector, TheMixtureFindsClustersWhateverTheNumberOfThreads) {
  const MatrixXf x = Clusters(9000);
  std::vector<double> history;
  const DiagonalGmm one = TrainGmm(x, {6, 15, 1, 1}, &history);
  const DiagonalGmm two = TrainGmm(x, {6, 15, 1, 2});
  EXPECT_TRUE(one.means == two.means && one.variances == two.variances);
  for (std::size_t i = 1; i < history.size(); ++i) EXPECT_GE(history[i], history[i - 1] - 1e-4);
  for (const float centre : {0.0F, 10.0F, 20.0F}) {
    float nearest = 100.0F;
    for (Index c = 0; c < 6; ++c) nearest = std::min(nearest, std::abs(one.means(0, c) - centre));
    EXPECT_LT(nearest, 1.0F);
  }
}

// w and all frames are jointly Gaussian when each frame's component is known: one component.
TEST(Ivector, PosteriorEqualsTheJointGaussians) {
  const Index d = 3, r = 2, n = 5;
  DiagonalGmm gmm;
  gmm.weights = VectorXf::Ones(1);
  gmm.means = Noise(d, 1, 5);
  gmm.variances = Noise(d, 1, 6).cwiseAbs2().array() + 0.3F;
  const MatrixXf t = Noise(d, r, 7), x = Noise(d, n, 8);
  MatrixXf covariance;
  const VectorXf w = TotalVariability(t, 1).Ivector(Accumulate(gmm, x), &covariance);
  // x_t = m + Σ^½·T·w + e, e ~ N(0, Σ).
  const MatrixXd sigma = gmm.variances.col(0).cast<double>().asDiagonal();
  const MatrixXd loading = sigma.cwiseSqrt() * t.cast<double>();
  MatrixXd big(d * n, d * n), cross(r, d * n);
  VectorXd stacked(d * n);
  for (Index i = 0; i < n; ++i) {
    stacked.segment(i * d, d) = (x.col(i) - gmm.means.col(0)).cast<double>();
    cross.middleCols(i * d, d) = loading.transpose();
    for (Index j = 0; j < n; ++j) {
      big.block(i * d, j * d, d, d) = loading * loading.transpose();
      if (i == j) big.block(i * d, j * d, d, d) += sigma;
    }
  }
  const MatrixXd gain = cross * big.inverse();
  EXPECT_LT((gain * stacked - w.cast<double>()).norm(), 1e-4);
  EXPECT_LT(
      (MatrixXd::Identity(r, r) - gain * cross.transpose() - covariance.cast<double>()).norm(),
      1e-4);
}

TEST(Ivector, TotalVariabilityFindsTheSubspace) {
  // 400 utterances of 200 frames around m + T·w with one component.
  const Index d = 6, r = 2;
  const MatrixXf truth = Noise(d, r, 9);
  std::vector<BaumWelch> stats;
  SeededRng rng(10);
  for (int u = 0; u < 400; ++u) {
    const VectorXf mean = truth * Noise(r, 1, 100 + static_cast<std::uint64_t>(u));
    VectorXf noise(d);
    for (float& v : noise) v = static_cast<float>(rng.Gaussian() * std::sqrt(200.0));
    stats.push_back({VectorXf::Constant(1, 200.0F), 200.0F * mean + noise});
  }
  const TotalVariability one = TrainTotal(stats, {2, 20, 1, 1});
  const TotalVariability two = TrainTotal(stats, {2, 20, 1, 2});
  EXPECT_TRUE(one.t == two.t);
  const MatrixXf expected = truth * truth.transpose(), found = one.t * one.t.transpose();
  EXPECT_LT((found - expected).norm() / expected.norm(), 0.2F);
}

TEST(Ivector, SilenceIsRefused) {
  const std::vector<float> silence(32000, 0.0F);
  EXPECT_THROW(IvectorFeatures(silence), Error);
}

double Eer(std::vector<float> tar, std::vector<float> non) {
  std::sort(tar.begin(), tar.end());
  std::sort(non.begin(), non.end());
  double best = 1.0;
  for (const float t : tar) {
    const auto miss =
        static_cast<double>(std::lower_bound(tar.begin(), tar.end(), t) - tar.begin()) /
        static_cast<double>(tar.size());
    const auto alarm =
        static_cast<double>(non.end() - std::lower_bound(non.begin(), non.end(), t)) /
        static_cast<double>(non.size());
    best = std::min(best, std::max(miss, alarm));
  }
  return best;
}

// Trained on a little speech it separates unseen speakers, survives its file, embeds the same at
// any number of threads, and the cache gives the same back.
TEST(IvectorSlow, SeparatesUnseenSpeakers) {
  SOTTO_NEEDS_SHARED("data/speech/libri_eval");
  const auto speech = testing::SharedFolder() / "data/speech";
  IvectorOptions options;
  options.gmm.components = 64;
  options.gmm.iterations = 6;
  options.total.dimension = 60;
  options.total.iterations = 3;
  options.lda_dimension = 40;
  options.max_utterances = 600;
  options.max_seconds = 5.0;
  options.jobs = 2;
  const TrainedIvector trained =
      TrainIvector(ListUtterances({speech / "cv_train", speech / "libri_train"}), options);
  const std::string bytes = SerialiseTensorFile(trained.file, StoredAs::kFloat32);
  const auto encoder = ParseEncoder(bytes, "ivector");
  EXPECT_EQ(encoder->Name(), "ivector");
  EXPECT_EQ(encoder->Dimension(), 40U);
  EXPECT_FALSE(encoder->Calibration().has_value());

  testing::TemporaryFolder folder;
  const UtteranceList list = ListUtterances({speech / "libri_eval"});
  EmbedOptions embed{2, folder / "cache"};
  const EmbeddedCorpus first = EmbedCorpus(*encoder, list, embed);
  EXPECT_EQ(first.from_cache, 0U);
  const EmbeddedCorpus again = EmbedCorpus(*encoder, list, embed);
  EXPECT_EQ(again.from_cache, list.utterances.size());
  EXPECT_TRUE(first.set.vectors == again.set.vectors);
  EXPECT_TRUE(first.set.WithoutGender().empty());

  const MatrixXf scores = CosineScores(first.set.vectors, first.set.vectors);
  std::vector<float> tar, non;
  for (Index i = 0; i < scores.rows(); ++i) {
    for (Index j = 0; j < i; ++j) {
      const bool same = first.set.speakers[static_cast<std::size_t>(i)] ==
                        first.set.speakers[static_cast<std::size_t>(j)];
      (same ? tar : non).push_back(scores(i, j));
    }
  }
  const double eer = Eer(tar, non);
  RecordProperty("eer", std::to_string(eer));
  EXPECT_LT(eer, 0.2);
}

}  // namespace
}  // namespace sotto
