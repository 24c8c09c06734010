#include "speaker/embedding_map.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/random.h"
#include "base/testing.h"
#include "speaker/embeddings.h"

namespace sotto {
namespace {

using Eigen::Index;

TEST(EmbeddingMap, SimilaritiesHaveTheWantedEntropy) {
  SeededRng rng(1);
  Eigen::MatrixXd d(40, 40);
  for (Index i = 0; i < 40; ++i) {
    for (Index j = 0; j <= i; ++j) {
      d(i, j) = i == j ? 0.0 : 0.1 + 3.0 * rng.Uniform();
      d(j, i) = d(i, j);
    }
  }
  const Eigen::MatrixXd p = ConditionalSimilarities(d, 7.0);
  for (Index i = 0; i < 40; ++i) {
    double entropy = 0.0;
    for (Index j = 0; j < 40; ++j) {
      if (p(j, i) > 0.0) entropy -= p(j, i) * std::log(p(j, i));
    }
    EXPECT_NEAR(p.col(i).sum(), 1.0, 1e-12);
    EXPECT_NEAR(std::exp(entropy), 7.0, 1e-5);
    EXPECT_EQ(p(i, i), 0.0);
  }
}

TEST(EmbeddingMap, ClustersStayTogetherAndThreadsDoNotMatter) {
  SeededRng rng(2);
  const Index groups = 5, each = 20;
  Eigen::MatrixXf x(16, groups * each);
  for (Index g = 0; g < groups; ++g) {
    Eigen::VectorXf centre(16);
    for (float& v : centre) v = static_cast<float>(rng.Gaussian());
    for (Index i = 0; i < each; ++i) {
      for (Index k = 0; k < 16; ++k) {
        x(k, g * each + i) = centre[k] + 0.2F * static_cast<float>(rng.Gaussian());
      }
    }
  }
  MapOptions options;
  options.iterations = 400;
  options.perplexity = 10.0;
  const Eigen::MatrixXd map = MapEmbeddings(x, options);
  options.jobs = 2;
  EXPECT_TRUE(map == MapEmbeddings(x, options));
  int right = 0;
  for (Index i = 0; i < map.cols(); ++i) {
    double best = 1e300;
    Index nearest = -1;
    for (Index j = 0; j < map.cols(); ++j) {
      const double d = (map.col(i) - map.col(j)).squaredNorm();
      if (j != i && d < best) best = d, nearest = j;
    }
    right += nearest / each == i / each ? 1 : 0;
  }
  EXPECT_GE(right, 98);
  EXPECT_NEAR(map.rowwise().mean().norm(), 0.0, 1e-9);
}

TEST(EmbeddingMap, TooFewOrEqualPointsAreRefused) {
  EXPECT_THROW(MapEmbeddings(Eigen::MatrixXf::Random(3, 3)), Error);
  EXPECT_THROW(MapEmbeddings(Eigen::MatrixXf::Ones(3, 10)), Error);
}

}  // namespace
}  // namespace sotto
