// A random forest of classification trees (Breiman 2001): every tree grows on speakers drawn with
// replacement, every split is the one with the lowest Gini impurity among √d features drawn anew,
// and the answer is the mean over the trees of the shares of categories in the leaves.
//
// As many speakers are drawn of each category as there are; categories weigh the same, and within
// them every speaker drawn. Thresholds lie between 256 quantiles of each feature (all values where
// there are not more), which makes a tree of a few thousand vectors a matter of milliseconds.
//
// The importance of a feature is by how much its splits lower the weighted Gini impurity, as a
// share of what all splits of the tree do, the mean over the trees (Breiman et al. 1984, section
// 5.3; Breiman 2001). Of two features that say the same, either may get the credit.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

namespace sotto {

struct ForestOptions {
  int trees = 200;
  int features = 0;  // tried at each split; 0: √d, rounded
  int min_leaf = 1;  // vectors on each side of a split
  std::uint64_t seed = 1;
  int jobs = 1;  // the forest does not depend on it

  void Validate() const;  // throws Error
};

class Forest {
 public:
  // Columns of x are examples with `labels` from 0 to n_categories − 1 and the numbers of their
  // `speakers`, of whom each has one label. Throws Error unless sizes agree, every category occurs
  // and every number is finite.
  static Forest Train(const Eigen::Ref<const Eigen::MatrixXf>& x, const std::vector<int>& labels,
                      const std::vector<int>& speakers, int n_categories,
                      const ForestOptions& options = {});

  // The mean share of each category (rows) for each column of x.
  Eigen::MatrixXf Shares(const Eigen::Ref<const Eigen::MatrixXf>& x, int jobs = 1) const;

  // Of each feature, adding up to 1; all 0 where no tree has a split.
  const Eigen::VectorXd& Importance() const { return importance_; }

  struct Node {
    int feature = -1;        // −1: a leaf
    float threshold = 0.0F;  // at or below: left
    int next = 0;            // the left child, the right one behind it; of a leaf: its first share
  };
  struct Tree {
    std::vector<Node> nodes;
    std::vector<float> shares;
    std::vector<double> gains;  // by how much the splits of each feature lower the impurity
  };

 private:
  int n_categories_ = 0;
  Eigen::Index dimension_ = 0;
  std::vector<Tree> trees_;
  Eigen::VectorXd importance_;
};

}  // namespace sotto
