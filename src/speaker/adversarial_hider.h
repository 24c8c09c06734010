// Affine maps trained against an ensemble of informed attackers (adversarial training as in Ganin
// et al. 2016 and, for voiceprints, Noé et al. 2020; an ensemble renewed as it goes, so that the
// map cannot settle for fooling the discriminators it grew up with).
//
//   y = (T_g·u_g + t_g)/‖·‖,   u_g = M_g·x + c_g as it was at the start
//   loss = speaker + confusion_weight · confusion + anchor · ‖T − I‖²/k
//
// speaker and confusion: speaker/adversarial_loss.h; confusion is the mean over the discriminators,
// each a two-layer net on y and on which corpus y comes from, trained beside the maps by Adam. One
// of them starts anew every so many steps, in turn. A batch holds as many speakers of each joint
// category of a corpus, and more of large corpora. What is trained is T in the k coordinates of the
// start and not M: k·k numbers and not k·D, and what the start leaves out stays out.
// A linear map hides by what it drops, and training only squeezes it, where an attacker who makes y
// white still reads it: directions of y below a tenth of the mean variance are dropped.
//
// Left alone this overfits: an ensemble that is fooled on the training speakers is no attacker on
// others. So a fifth of the speakers is held out (speaker/held_out.h), the maps are judged on them
// every so many steps, and the best are kept, those of the start included: "step 0" is an outcome.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "speaker/affine_hider.h"
#include "speaker/held_out.h"
#include "speaker/hider.h"

namespace sotto {

struct FineTuneOptions {
  int steps = 2000;
  int check_every = 200;        // steps between two answers of the held-out speakers
  double learning_rate = 3e-4;  // of T, whose entries start at 1 and 0
  double confusion_weight = 3.0;
  double anchor = 1.0;
  int attackers = 6;
  int hidden = 16;              // units of each
  double attacker_rate = 5e-3;  // their learning rate
  int warm_up = 100;            // steps in which only the attackers learn
  int renew_every = 16;         // steps until the next of them starts anew
  int speakers = 160;           // of a batch, about
  int voiceprints = 4;          // of each of them, at most
  double cosine_scale = 15.0;   // of the speaker loss
  // The maps are judged by the best AUC + price · log₂ EER: doubling the EER must buy so much of
  // AUC.
  double eer_price = 0.05;
  std::uint64_t seed = 1;

  void Validate() const;  // throws Error
};

struct FineTuned {
  std::vector<AffineMap> maps;
  int step = 0;  // at which the maps kept were; 0: those of the start
  int steps = 0;
  HeldOutFigures start, kept;

  std::string Text() const;  // for HiderHeader.training
};

// `maps`: one for everybody, or one for each joint category. For an honest answer they must have
// been fitted without the speakers held out (HeldOut(data, options.seed).Left()). Columns are
// brought to length 1 after the maps, as HideAttributes does. The result depends on the arguments
// alone. Throws Error as HeldOut, and where no speaker left has two voiceprints.
FineTuned FineTune(const std::vector<AffineMap>& maps, const HiderData& data,
                   const FineTuneOptions& options);

// What `fit` makes of the speakers not held out, fine-tuned; where nothing better is found, what it
// makes of all of them.
AffineHider FineTuneHider(const HiderData& data,
                          const std::function<AffineHider(const HiderData&)>& fit,
                          const FineTuneOptions& options);

// One map for everybody, fine-tuned from the better one, by held-out speakers, of least-squares
// concept erasure (speaker/linear_hiders.h) and the k coordinates of it that tell speakers apart
// best (speaker/lda.h), weighted by how well they do.
struct AdversarialOptions {
  int dimension = 24;  // k
  // It has far to go, unlike what is fine-tuned: no anchor, faster, and attackers to match.
  FineTuneOptions training = {.steps = 3000,
                              .learning_rate = 1e-3,
                              .confusion_weight = 30.0,
                              .anchor = 0.0,
                              .hidden = 64,
                              .renew_every = 32};

  void Validate() const;  // throws Error
};
AffineHider FitAdversarial(const HiderData& data, const AdversarialOptions& options);

}  // namespace sotto
