// Incremental variable elimination (Terhörst, Damer, Kirchbuchner & Kuijper 2019, "Suppressing
// gender and age in face templates using incremental variable elimination"): an ensemble of
// decision trees is trained to tell the attributes, the variables it finds the most important are
// taken out of the voiceprint, and again, so that what correlates with those gone is found next.
// What comes out are the variables left, fewer than went in.
//
// The ensemble is the random forest of nn/forest.h, one for each attribute; their importances are
// added. Where an attribute lies in directions across the variables, as in voiceprints of nets,
// much of it stays until few variables are left, and with the others goes the speaker: it is here
// to be compared with.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <vector>

#include "speaker/hider.h"

namespace sotto {

struct IveOptions {
  int steps = 20;
  double share = 0.05;  // of the variables left, taken out by each step; one at least
  int trees = 100;
  std::uint64_t seed = 1;
  int jobs = 1;  // the result does not depend on it

  void Validate() const;  // throws Error
};

struct Ive {
  std::vector<int> kept;                     // in their order
  std::vector<std::vector<int>> eliminated;  // by each step, the most important first
};

// One variable is left at least. Throws Error as CheckHiderData.
Ive FitIve(const HiderData& data, const IveOptions& options = {});

class IveHider : public Hider {
 public:
  // Throws Error unless `kept` ascends within 0 … dimension − 1.
  IveHider(HiderHeader header, Eigen::Index dimension, std::vector<int> kept);
  static std::unique_ptr<IveHider> Parse(const TensorFile& file, HiderHeader header);

  Eigen::MatrixXf Latent(const Eigen::Ref<const Eigen::MatrixXf>& x,
                         const Categories& categories) const override;
  const std::vector<int>& Kept() const { return kept_; }

 protected:
  void Store(TensorFile& file) const override;

 private:
  std::vector<int> kept_;
};

}  // namespace sotto
