// A random forest of classification trees (Breiman 2001): every tree grows on speakers drawn with
// replacement, every split is the one with the lowest Gini impurity among √d features drawn anew,
// and the answer is the mean over the trees of the shares of categories in the leaves.
//
// As many speakers are drawn of each category as there are; categories weigh the same, and within
// them every speaker drawn. Thresholds lie between 256 quantiles of each feature (all values where
// there are not more), which makes a tree of a few thousand vectors a matter of milliseconds.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "attack/attribute_examples.h"

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
  static Forest Train(const AttributeExamples& examples, const ForestOptions& options = {});

  // The mean share of each category (rows) for each column of x.
  Eigen::MatrixXf Shares(const Eigen::Ref<const Eigen::MatrixXf>& x, int jobs = 1) const;

  struct Node {
    int feature = -1;        // −1: a leaf
    float threshold = 0.0F;  // at or below: left
    int next = 0;            // the left child, the right one behind it; of a leaf: its first share
  };
  struct Tree {
    std::vector<Node> nodes;
    std::vector<float> shares;
  };

 private:
  int n_categories_ = 0;
  Eigen::Index dimension_ = 0;
  std::vector<Tree> trees_;
};

}  // namespace sotto
