// A picture of embeddings in two dimensions: exact t-SNE (van der Maaten & Hinton 2008) started
// from the first two principal components, so that it is the same every time. Quadratic in n: for a
// few thousand points. Vectors are brought to length 1 first, so that squared distances are
// 2 − 2·cosine. It shows which points are near each other; sizes of clusters and distances
// between them mean little.
#pragma once

#include <Eigen/Core>

namespace sotto {

struct MapOptions {
  double perplexity = 30.0;  // effective neighbours, lowered to (n − 1)/3
  int iterations = 750;
  int jobs = 1;

  void Validate() const;
};

inline constexpr Eigen::Index kMaxMapPoints = 5000;

// One column of two coordinates for each column of x, centred, the larger deviation 1. The result
// does not depend on `jobs`. Throws Error with fewer than 4 or more than kMaxMapPoints points.
Eigen::MatrixXd MapEmbeddings(const Eigen::Ref<const Eigen::MatrixXf>& x,
                              const MapOptions& options = {});

// Row-conditional similarities p(j|i) whose entropy is ln(perplexity), columns being points i (van
// der Maaten & Hinton 2008, eq. 1 and section 2); `squared` holds squared distances.
Eigen::MatrixXd ConditionalSimilarities(const Eigen::MatrixXd& squared, double perplexity);

}  // namespace sotto
