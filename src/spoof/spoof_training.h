// Training of PRIVASP's nets: 2970 LFCC → units ReLU → 1, by Adam on the logistic loss, the state
// of the lowest training loss kept (nn/mlp.h), projected after each step so that the integer
// network's ranges hold by construction (mpc/integer_net.h).
//
// Genuine speech and spoofs are cut alike, since a net takes whatever tells them apart. Of every
// recording the net hears the first 1500 ms of speech, as in use, and one more cut for each further
// second, from a place drawn at random; a fifth of these are cut shorter, to 0.6 s or more, and
// repeated. All are brought to one level and begin with speech (spoof_features.h). Speakers, voices
// and one whole attack are held out, and the threshold is set on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "assess/intervals.h"
#include "spoof/spoof_corpus.h"
#include "spoof/spoof_model.h"
#include "spoof/spoof_scores.h"

namespace sotto {

struct SpoofTrainingOptions {
  int units = 1024;
  int epochs = 20;
  int batch = 64;
  double learning_rate = 1e-4;
  double weight_decay = 1e-2;
  double x_max = 4.0;      // deviations at which inputs are cut
  int hold_out_every = 5;  // every n-th speaker of genuine speech and voice of the attacks
  std::string held_out_attack = {};  // all of this attack; empty: none
  bool decision_only = false;
  std::uint64_t seed = 1;
  int jobs = 1;

  void Validate() const;  // throws Error
};

// Whether something that is no speech could be what a net decides by: the equal error rate, on the
// held-out utterances, of a small net that is told this alone; 0.5 is chance.
struct SpoofControl {
  std::string name;
  double eer_recorded = 0.0;  // of the recordings
  double eer_heard = 0.0;     // of what the countermeasure hears
};

struct TrainedSpoof {
  SpoofModel model;
  std::size_t utterances = 0, cuts = 0, cuts_bona_fide = 0;  // trained on
  SpoofScores held_out;                                      // by the integer network
  std::vector<SpoofControl> controls;
  std::vector<double> losses;  // after each epoch
  // The integer network against the float net it was rounded from, on first cuts of all utterances.
  std::size_t compared = 0, flipped = 0;
  double largest_difference = 0.0;
  std::vector<std::pair<std::string, std::string>> refused;  // utterance, why
};

// Throws Error where a class is missing, in training or among what is held out.
TrainedSpoof TrainSpoof(const SpoofCorpora& corpora, const SpoofTrainingOptions& options);

}  // namespace sotto
