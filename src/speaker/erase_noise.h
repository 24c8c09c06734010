// Erase, then noise: transport (speaker/transport.h) of all coordinates, after which the few that
// still tell the groups apart in corpora not heard (those in which the groups' difference varies
// from one corpus to the next) are not left out but noised: clipped to the L1 norm C, the median in
// training, with Laplace noise of scale 2C/eps, and weighted by what the noise leaves of them
// (Wiener: signal variance over signal and noise variance, a step after the mechanism).
//
// What epsilon covers is these coordinates alone. Their draw is made once for an owner and serves
// every login (ProtectPer::kSpeaker); what the other coordinates tell is measured, not proven.
#pragma once

#include <memory>
#include <vector>

#include "speaker/affine_hider.h"
#include "speaker/hider.h"
#include "speaker/transport.h"

namespace sotto {

class EraseNoiseHider : public Hider {
 public:
  // `maps`: of all coordinates, the first `gains.size()` of which are noised. Throws Error for
  // sizes that do not fit, for a bound that is not above 0 and gains outside [0, 1].
  EraseNoiseHider(AffineHider maps, double bound, Eigen::VectorXf gains);
  static std::unique_ptr<EraseNoiseHider> Parse(const TensorFile& file, HiderHeader header);

  bool AsksForCategories() const override { return maps_.AsksForCategories(); }
  bool NeedsEpsilon() const override { return true; }
  Eigen::Index NoisyRows() const override { return gains_.size(); }
  double L1Bound() const override { return bound_; }
  Eigen::MatrixXf Latent(const Eigen::Ref<const Eigen::MatrixXf>& x,
                         const Categories& categories) const override;
  Eigen::MatrixXf FromLatent(const Eigen::Ref<const Eigen::MatrixXf>& z) const override;

 protected:
  void Store(TensorFile& file) const override;

 private:
  AffineHider maps_;
  double bound_;
  Eigen::VectorXf gains_;
};

// `eps`: the one the weights are made for; another can be asked for when it is used.
EraseNoiseHider FitEraseNoise(const HiderData& data, const TransportOptions& options, double eps);

}  // namespace sotto
