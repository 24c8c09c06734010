#include "speaker/scoring.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <chrono>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "base/files.h"
#include "base/random.h"
#include "base/testing.h"
#include "base/tsv.h"
#include "speaker/kaldi_testing.h"
#include "speaker/linear_algebra.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::MatrixXf;
using Eigen::VectorXd;

MatrixXd Gaussian(Index rows, Index columns, SeededRng& rng) {
  MatrixXd m(rows, columns);
  for (Index j = 0; j < columns; ++j) {
    for (Index i = 0; i < rows; ++i) m(i, j) = rng.Gaussian();
  }
  return m;
}

MatrixXd RandomCovariance(Index d, SeededRng& rng) {
  const MatrixXd a = Gaussian(d, 2 * d, rng);
  return a * a.transpose() / static_cast<double>(2 * d);
}

// The covariances that a PLDA's diagonal form stands for, between and within speakers.
MatrixXd Between(const Plda& plda) {
  const MatrixXd back = Invert(plda.transform).inverse;
  return back * plda.psi.asDiagonal() * back.transpose();
}

MatrixXd Within(const Plda& plda) {
  const MatrixXd back = Invert(plda.transform).inverse;
  return back * back.transpose();
}

// K speakers with 2 … 6 utterances each.
EmbeddingSet Draw(const VectorXd& mean, const MatrixXd& between, const MatrixXd& within,
                  int speakers, SeededRng& rng) {
  const MatrixXd b = Eigen::LLT<MatrixXd>(between).matrixL();
  const MatrixXd w = Eigen::LLT<MatrixXd>(within).matrixL();
  std::vector<VectorXd> columns;
  EmbeddingSet set;
  for (int k = 0; k < speakers; ++k) {
    const VectorXd y = mean + b * Gaussian(mean.size(), 1, rng);
    for (int i = 0; i < 2 + k % 5; ++i) {
      columns.push_back(y + w * Gaussian(mean.size(), 1, rng));
      set.ids.push_back(fmt::format("s{}-{}", k, i));
      set.speakers.push_back(fmt::format("s{}", k));
    }
  }
  set.vectors.resize(mean.size(), static_cast<Index>(columns.size()));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    set.vectors.col(static_cast<Index>(i)) = columns[i].cast<float>();
  }
  return set;
}

double LogGaussian(const VectorXd& x, const MatrixXd& covariance) {
  const Eigen::LLT<MatrixXd> llt(covariance);
  return -0.5 * x.dot(llt.solve(x)) - llt.matrixLLT().diagonal().array().log().sum() -
         0.5 * static_cast<double>(x.size()) * std::log(2.0 * std::numbers::pi);
}

// ln p(all of x) when every column is of one speaker.
double LogJoint(const MatrixXd& x, const MatrixXd& between, const MatrixXd& within) {
  const Index d = x.rows(), n = x.cols();
  MatrixXd covariance(d * n, d * n);
  VectorXd stacked(d * n);
  for (Index i = 0; i < n; ++i) {
    stacked.segment(i * d, d) = x.col(i);
    for (Index j = 0; j < n; ++j) {
      covariance.block(i * d, j * d, d, d) = i == j ? between + within : between;
    }
  }
  return LogGaussian(stacked, covariance);
}

TEST(Plda, ScoresEqualTheJointGaussianRatio) {
  SeededRng rng(1);
  const Index d = 7;
  const VectorXd mean = Gaussian(d, 1, rng);
  const MatrixXd between = RandomCovariance(d, rng), within = RandomCovariance(d, rng);
  const Plda plda = Plda::FromCovariances(mean, between, within);
  for (const int trial_count : {1, 3}) {
    for (const int n : {1, 2, 5}) {
      const MatrixXd enrol = Gaussian(d, n, rng), trial = Gaussian(d, trial_count, rng);
      MatrixXd both(d, n + trial_count);
      both << enrol, trial;
      const double expected = LogJoint(both, between, within) - LogJoint(enrol, between, within) -
                              LogJoint(trial, between, within);
      const std::vector<int> counts = {n};
      const MatrixXd u = PldaProject(plda, (enrol.colwise() + mean).rowwise().mean());
      const MatrixXd v = PldaProject(plda, (trial.colwise() + mean).rowwise().mean());
      EXPECT_NEAR(PldaScores(plda, u, v, counts, trial_count)(0, 0), expected, 1e-9);
    }
  }
}

TEST(Plda, CovariancesComeBackFromTheDiagonalForm) {
  SeededRng rng(2);
  const MatrixXd between = RandomCovariance(5, rng), within = RandomCovariance(5, rng);
  const Plda plda = Plda::FromCovariances(VectorXd::Zero(5), between, within);
  EXPECT_LT((Between(plda) - between).norm(), 1e-12);
  EXPECT_LT((Within(plda) - within).norm(), 1e-12);
  for (Index i = 1; i < 5; ++i) EXPECT_GE(plda.psi[i - 1], plda.psi[i]);
  const Plda copy = ParseKaldiPlda(testing::KaldiPlda(plda), "plda");
  EXPECT_TRUE(copy.mean == plda.mean && copy.transform == plda.transform && copy.psi == plda.psi);
  EXPECT_THROW(ParseKaldiPlda(testing::KaldiPlda(plda).substr(0, 200), "plda"), Error);
}

// The likelihood that EM reports is the joint Gaussian's, it never falls, and both trainings find
// the covariances the data was drawn from.
TEST(Plda, EmClimbsToTheTruth) {
  SeededRng rng(3);
  const Index d = 4;
  const VectorXd mean = Gaussian(d, 1, rng);
  const MatrixXd between = RandomCovariance(d, rng), within = RandomCovariance(d, rng);
  const EmbeddingSet set = Draw(mean, between, within, 1500, rng);
  const MatrixXd x = set.vectors.cast<double>();
  for (const PldaTraining training : {PldaTraining::kTwoCovariance, PldaTraining::kKaldi}) {
    const TrainedPlda trained = TrainPlda(x, set.speakers, {training, 0, 1e-9});
    for (std::size_t i = 1; i < trained.log_likelihood.size(); ++i) {
      EXPECT_GE(trained.log_likelihood[i], trained.log_likelihood[i - 1] - 1e-10);
    }
    EXPECT_LT((Between(trained.plda) - between).norm() / between.norm(), 0.1);
    EXPECT_LT((Within(trained.plda) - within).norm() / within.norm(), 0.1);
    EXPECT_LT((trained.plda.mean - mean).norm(), 0.15);
  }
  const TrainedPlda one = TrainPlda(x, set.speakers, {PldaTraining::kKaldi, 1});
  const Classes classes = MakeClasses(set.speakers);
  const VectorXd start = ClassMeans(x, classes).rowwise().mean();
  double expected = 0.0;
  for (const auto& [speaker, places] : set.BySpeaker()) {
    MatrixXd own(d, static_cast<Index>(places.size()));
    for (std::size_t i = 0; i < places.size(); ++i) {
      own.col(static_cast<Index>(i)) = x.col(static_cast<Index>(places[i])) - start;
    }
    expected += LogJoint(own, MatrixXd::Identity(d, d), MatrixXd::Identity(d, d));
  }
  EXPECT_NEAR(one.log_likelihood[0], expected / static_cast<double>(x.cols()), 1e-9);
}

TEST(Plda, LengthIsWhatTheModelExpects) {
  SeededRng rng(4);
  const Plda plda =
      Plda::FromCovariances(VectorXd::Zero(6), RandomCovariance(6, rng), RandomCovariance(6, rng));
  const std::vector<int> counts = {1, 4};
  const MatrixXd x = Gaussian(6, 2, rng);
  const MatrixXd u = PldaProject(plda, x, counts, PldaLength::kExpected);
  for (Index i = 0; i < 2; ++i) {
    const double n = counts[static_cast<std::size_t>(i)];
    EXPECT_NEAR((u.col(i).array().square() / (plda.psi.array() + 1.0 / n)).sum(), 6.0, 1e-12);
  }
  EXPECT_NEAR(PldaProject(plda, x, {}, PldaLength::kSqrtD).col(1).norm(), std::sqrt(6.0), 1e-12);
}

TEST(Plda, OneSpeakerOrOneUtteranceEachIsRefused) {
  const MatrixXd x = MatrixXd::Random(2, 3);
  EXPECT_THROW(TrainPlda(x, {"a", "a", "a"}), Error);
  EXPECT_THROW(TrainPlda(x, {"a", "b", "c"}), Error);
  EXPECT_THROW(TrainLda(x, {"a", "b", "c"}), Error);
  EXPECT_THROW(TrainLda(x, {"a", "b"}), Error);
}

TEST(Lda, WithinIsWhiteAndBetweenDiagonalAndFalling) {
  SeededRng rng(5);
  const EmbeddingSet set =
      Draw(VectorXd::Ones(6), RandomCovariance(6, rng), RandomCovariance(6, rng), 60, rng);
  const MatrixXd x = set.vectors.cast<double>();
  const AffineTransform lda = TrainLda(x, set.speakers, {4});
  const MatrixXd y = lda.Apply(x);
  EXPECT_LT(y.rowwise().mean().norm(), 1e-9);
  const Classes classes = MakeClasses(set.speakers);
  const MatrixXd means = ClassMeans(y, classes);
  MatrixXd within = MatrixXd::Zero(4, 4), between = within;
  for (Index i = 0; i < y.cols(); ++i) {
    const VectorXd mean = means.col(static_cast<Index>(classes.of[static_cast<std::size_t>(i)]));
    within += (y.col(i) - mean) * (y.col(i) - mean).transpose() / static_cast<double>(y.cols());
    between += mean * mean.transpose() / static_cast<double>(y.cols());
  }
  EXPECT_LT((within - MatrixXd::Identity(4, 4)).norm(), 1e-9);
  for (Index i = 1; i < 4; ++i) EXPECT_GE(between(i - 1, i - 1), between(i, i));
  EXPECT_LT(std::abs(between(0, 3)), 1e-9);
  const AffineTransform copy = ParseKaldiTransform(testing::KaldiTransform(lda), 6, "lda");
  EXPECT_LT((copy.matrix - lda.matrix).norm(), 1e-5);
  EXPECT_LT((copy.offset - lda.offset).norm(), 1e-5);
}

TEST(Scoring, CosineIsTheAngleAndZeroScoresZero) {
  MatrixXf a(2, 3), b(2, 1);
  a << 1.0F, 0.0F, 0.0F, 1.0F, -3.0F, 0.0F;
  b << 2.0F, 2.0F;
  const MatrixXf scores = CosineScores(a, b);
  EXPECT_FLOAT_EQ(scores(0, 0), 1.0F);
  EXPECT_NEAR(scores(1, 0), -std::sqrt(0.5F), 1e-6F);
  EXPECT_EQ(scores(2, 0), 0.0F);
  EXPECT_THROW(CosineScores(a, MatrixXf::Zero(3, 1)), Error);
}

TEST(Scoring, TenMillionCosineTrialsAreQuick) {
  const MatrixXf x = MatrixXf::Random(192, 3163);
  const auto start = std::chrono::steady_clock::now();
  const MatrixXf scores = CosineScores(x, x);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(scores.size(), 3163 * 3163);
  RecordProperty("milliseconds", static_cast<int>(elapsed.count() * 1000));
#ifdef NDEBUG
  EXPECT_LT(elapsed.count(), 8.0);  // 2 s when nothing else runs
#endif
}

TEST(Scoring, AdaptiveSNormUsesTheTopOfTheCohort) {
  MatrixXf scores(1, 1), model(1, 4), trial(1, 4);
  scores << 5.0F;
  model << 1.0F, 3.0F, -100.0F, -50.0F;
  trial << -9.0F, 4.0F, 0.0F, -8.0F;
  // Model: top 2 are 3 and 1 (mean 2, deviation 1); trial: 4 and 0 (mean 2, deviation 2).
  EXPECT_FLOAT_EQ(AdaptiveSNorm(scores, model, trial, 2)(0, 0), 0.5F * (3.0F / 1.0F + 3.0F / 2.0F));
  EXPECT_THROW(AdaptiveSNorm(scores, MatrixXf::Ones(1, 4), trial, 2), Error);
  EXPECT_THROW(AdaptiveSNorm(scores, MatrixXf::Ones(2, 4), trial, 2), Error);
}

TEST(Scoring, MissingTrialsAreCounted) {
  const auto pairs = ParseTrialPairs("a x target\nb y nontarget\n\na z\n", "trials");
  ASSERT_EQ(pairs.size(), 3U);
  EXPECT_EQ(LocateTrials(pairs, {"b", "a"}, {"x", "y", "z"}, "t")[0],
            (std::pair<Index, Index>{1, 0}));
  try {
    LocateTrials(pairs, {"a"}, {"x", "y"}, "t");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "t: of 3 trials 1 name an enrolment (the first: 'b') and 1 a trial utterance (the "
                 "first: 'z') without an embedding");
  }
  EXPECT_THROW(ParseTrialPairs("a x maybe\n", "t"), Error);
  EXPECT_THROW(ParseTrialPairs("a\n", "t"), Error);
}

TEST(Scoring, BackendSurvivesItsFiles) {
  SeededRng rng(6);
  testing::TemporaryFolder folder;
  const EmbeddingSet set =
      Draw(VectorXd::Ones(8), RandomCovariance(8, rng), 0.3 * RandomCovariance(8, rng), 50, rng);
  PldaBackendOptions options;
  options.lda_dimension = 5;
  const PldaBackend backend = TrainPldaBackend(set, options);
  testing::WritePldaBackend(backend, folder / "plda");
  const PldaBackend copy = ReadPldaBackend(folder / "plda");
  const SpeakerModels models = MakeModels(set, ModelOf::kSpeaker, Averaging::kPlain);
  const MatrixXf scores = backend.Scores(models, set.vectors);
  EXPECT_LT((copy.Scores(models, set.vectors) - scores).cwiseAbs().maxCoeff(), 1e-3F);
  // Own speakers score higher.
  double own = 0.0, others = 0.0;
  for (Index j = 0; j < scores.cols(); ++j) {
    for (Index i = 0; i < scores.rows(); ++i) {
      const bool same =
          models.ids[static_cast<std::size_t>(i)] == set.speakers[static_cast<std::size_t>(j)];
      (same ? own : others) += scores(i, j);
    }
  }
  EXPECT_GT(own / static_cast<double>(scores.cols()), 0.0);
  EXPECT_LT(others, 0.0);
}

// The pool's PLDA was trained on other speech by the same encoder: in its coordinates the pool's
// vectors vary about as it expects, and the global mean is theirs.
TEST(Scoring, KaldisOwnModelIsRead) {
  SOTTO_NEEDS_SHARED("data/xvectors/b1_pool");
  const auto folder = testing::SharedFolder() / "data/xvectors/b1_pool";
  const PldaBackend backend = ReadPldaBackend(folder);
  EXPECT_EQ(backend.mean.size(), 512);
  ASSERT_TRUE(backend.lda.has_value());
  EXPECT_EQ(backend.lda->matrix.rows(), 200);
  EXPECT_EQ(backend.plda.Dimension(), 200);
  for (Index i = 1; i < 200; ++i) EXPECT_GE(backend.plda.psi[i - 1], backend.plda.psi[i]);
  const EmbeddingSet pool = ReadEmbeddings(folder / "spk_xvector.ark");
  const MatrixXd u = PldaProject(backend.plda, backend.Prepare(pool.vectors));
  const VectorXd expected = backend.plda.psi.array() + 1.0;
  const VectorXd found = u.rowwise().squaredNorm() / static_cast<double>(u.cols());
  RecordProperty("ratio", std::to_string((found.array() / expected.array()).mean()));
  EXPECT_GT((found.array() / expected.array()).mean(), 0.5);
  EXPECT_LT((found.array() / expected.array()).mean(), 2.0);
}

}  // namespace
}  // namespace sotto
