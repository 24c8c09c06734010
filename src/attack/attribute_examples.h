// What an attribute attacker learns from: vectors, what their speakers are, and whose they are; and
// what its classifiers share: balance, folds by speaker, choice by cross-validation.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace sotto {

struct AttributeExamples {
  Eigen::MatrixXf vectors;    // in columns
  std::vector<int> labels;    // of each column: 0 … n_categories − 1
  std::vector<int> speakers;  // of each column: any numbers, one label each
  int n_categories = 2;

  std::size_t size() const { return labels.size(); }
  AttributeExamples Select(const std::vector<std::size_t>& places) const;
  // Throws Error unless sizes agree, every category occurs and every number is finite.
  void Validate() const;
};

// Adds up to 1: every category weighs the same, within it every speaker, and within those every
// vector.
Eigen::VectorXd BalancedWeights(const AttributeExamples& examples);

// A fold for each speaker: those of each category are dealt by turns, so that no fold lacks one as
// long as there are speakers. Seed 0 deals them in their order, others in an order of chance.
std::vector<int> DealSpeakers(const std::vector<int>& category_of_speaker, int folds,
                              std::uint64_t seed);

// The option with the lowest loss in five-fold cross-validation by speaker, the first of those that
// are equal. `losses` gives that of every option after training on some examples, tested on others.
// The option `otherwise` where a category has one speaker alone.
using FoldLosses = std::function<std::vector<double>(const AttributeExamples& train,
                                                     const AttributeExamples& held)>;
std::size_t ChooseBySpeaker(const AttributeExamples& examples, const FoldLosses& losses,
                            std::size_t otherwise);

// Columns to length 1, and ln of their length as one more row: a protection that hides nothing but
// the direction must not pass for one.
Eigen::MatrixXf DirectionAndLength(const Eigen::Ref<const Eigen::MatrixXf>& x);

// (x − mean)·scale, to mean 0 and variance 1 under weights that add up to 1. Rows that are all but
// constant are not blown up.
struct Standardiser {
  Eigen::VectorXd mean, scale;
  Standardiser() = default;
  Standardiser(const Eigen::Ref<const Eigen::MatrixXf>& x, const Eigen::VectorXd& weights);
  Eigen::MatrixXd operator()(const Eigen::Ref<const Eigen::MatrixXf>& x) const;
};

}  // namespace sotto
