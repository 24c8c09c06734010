#include "attack/calibrate_cosine.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/random.h"
#include "speaker/scoring.h"

namespace sotto {
namespace {

// The LLR of the fitted line is right on average: over pairs, the mean of 1/(1 + e^−llr) equals the
// share of targets when both kinds weigh the same (the optimum's condition).
TEST(CalibrateCosine, MeetsTheConditionOfItsOptimum) {
  SeededRng rng(1);
  EmbeddingSet set;
  set.vectors.resize(10, 60);
  for (int speaker = 0; speaker < 20; ++speaker) {
    Eigen::VectorXf centre(10);
    for (float& v : centre) v = static_cast<float>(rng.Gaussian());
    for (int i = 0; i < 3; ++i) {
      const Eigen::Index at = speaker * 3 + i;
      for (Eigen::Index k = 0; k < 10; ++k) {
        set.vectors(k, at) = centre[k] + 0.7F * static_cast<float>(rng.Gaussian());
      }
      set.ids.push_back(fmt::format("{}-{}", speaker, i));
      set.speakers.push_back(fmt::format("{}", speaker));
    }
  }
  const LlrCalibration fitted = CalibrateCosine(set);
  EXPECT_GT(fitted.scale, 0.0);
  const Eigen::MatrixXf scores = CosineScores(set.vectors, set.vectors);
  double tar = 0.0, non = 0.0, tar_n = 0.0, non_n = 0.0;
  for (std::size_t i = 0; i < set.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double llr = fitted.offset + fitted.scale * scores(static_cast<Eigen::Index>(i),
                                                               static_cast<Eigen::Index>(j));
      const bool same = set.speakers[i] == set.speakers[j];
      (same ? tar : non) += 1.0 / (1.0 + std::exp(same ? llr : -llr));
      (same ? tar_n : non_n) += 1.0;
    }
  }
  EXPECT_NEAR(tar / tar_n, non / non_n, 1e-6);
}

TEST(CalibrateCosine, OneUtteranceEachIsRefused) {
  EmbeddingSet set;
  set.ids = {"a", "b"};
  set.speakers = {"a", "b"};
  set.vectors = Eigen::MatrixXf::Random(3, 2);
  EXPECT_THROW(CalibrateCosine(set), Error);
}

}  // namespace
}  // namespace sotto
