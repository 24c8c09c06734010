// How well an attribute attacker's scores rank the vectors of each category above all others, under
// any weights of the speakers: what bootstraps over speakers ask again and again.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "assess/bootstrap.h"

namespace sotto {

class CategoryRankings {
 public:
  // `scores` as ClassifyAttribute gives them, a column for each vector; `category` and `speaker`
  // (numbered from 0) of each vector. `fold` of each vector: scores of several nets are not
  // comparable, so vectors are ranked within their fold; empty: all together.
  CategoryRankings(const Eigen::Ref<const Eigen::MatrixXf>& scores,
                   const std::vector<int>& category, const std::vector<std::size_t>& speaker,
                   const std::vector<int>& fold = {});

  // Means over the categories. `weights`, whole numbers: how often each speaker counts. A category
  // without vectors, or with all of them, counts for nothing; NaN where there is no other.
  // Each category's AUC is the share of its pairs won.
  double AreaUnderCurve(const std::vector<double>& weights) const;
  // Of each fold as if it were a category.
  double Eer(const std::vector<double>& weights) const;

 private:
  // One category against the rest, in one fold.
  struct Ranking {
    Eigen::Index category;
    std::vector<std::size_t> speakers;  // of each vector
    WeightedLevels levels;

    ScoreLevels Weighted(const std::vector<double>& weights) const;
  };

  std::vector<Ranking> rankings_;
};

}  // namespace sotto
