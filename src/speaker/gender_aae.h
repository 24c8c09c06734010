// The defence "gender-aae": the adversarial auto-encoder of Chouchane et al. (2023,
// nn/adversarial_autoencoder.h), for any attributes, several at once, and voiceprints of any
// dimension.
//
// Its 64 latent numbers have an L1 norm of at most C, so that noise of scale 2C/eps makes them
// eps-differentially private, and what the decoder makes of them as well. Without noise at use it
// claims nothing; the noise it was trained with is no guarantee either. What holds whatever the
// attacker knows is eps at use, for each draw.
//
// A fifth of the speakers of each joint category is held out (where it has five or more), and the
// epoch is kept whose protected voiceprints of these have the least
//
//   (1 − cos of original and protected, under the noise of the training) + |2·AUC − 1|,
//
// AUC (without noise) being that of nets trained on the clean voiceprints of the other speakers
// (the source's attacker: one hidden layer of 100), over speakers by their mean scores, for each
// category against the rest; its mean over them. The adversary makes the attribute come and go from
// epoch to epoch, so an epoch chosen by nothing is one of chance.
#pragma once

#include "nn/adversarial_autoencoder.h"
#include "speaker/hider.h"

namespace sotto {

class AutoencoderHider : public Hider {
 public:
  AutoencoderHider(HiderHeader header, AdversarialAutoencoder net);

  Eigen::MatrixXf Latent(const Eigen::Ref<const Eigen::MatrixXf>& x,
                         const Categories& categories) const override;
  Eigen::MatrixXf FromLatent(const Eigen::Ref<const Eigen::MatrixXf>& z) const override;
  Eigen::Index NoisyRows() const override { return net_.LatentSize(); }
  double L1Bound() const override { return net_.Bound(); }

 protected:
  void Store(TensorFile& file) const override { net_.Store(file); }

 private:
  AdversarialAutoencoder net_;
};

}  // namespace sotto
