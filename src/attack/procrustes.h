// Embedding inversion: an attacker who has some utterances before and after protection learns the
// rotation between the two embedding spaces and undoes it for everybody else's (Champion et al.
// 2021, "On the invertibility of a voice privacy system using embedding alignment"). The rotation
// is the orthogonal Procrustes solution (Schönemann 1966).
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "speaker/embeddings.h"

namespace sotto {

// The orthogonal R that minimises ‖R·from − to‖ (columns are pairs): U·Vᵀ of the SVD of to·fromᵀ.
Eigen::MatrixXd OrthogonalProcrustes(const Eigen::Ref<const Eigen::MatrixXd>& from,
                                     const Eigen::Ref<const Eigen::MatrixXd>& to);

struct InversionOptions {
  // Principal components kept on each side before the rotation; 0: all that the pairs span.
  int components = 0;
};

// Protected embeddings back into the space of the originals.
class EmbeddingInversion {
 public:
  // Pairs are utterances with the same id; an utterance that one side lacks is an Error with
  // counts.
  EmbeddingInversion(const EmbeddingSet& original, const EmbeddingSet& protected_set,
                     const InversionOptions& options = {});

  // Where protected and original embeddings meet: length 1, centred, reduced, turned, length 1. A
  // set is centred with its own mean, not with that of the training pairs: the attacker sees the
  // whole release, and its mean (of one gender, say) is another. So x is a whole set.
  Eigen::MatrixXf FromProtected(const Eigen::Ref<const Eigen::MatrixXf>& x) const;
  Eigen::MatrixXf FromOriginal(const Eigen::Ref<const Eigen::MatrixXf>& x) const;

 private:
  Eigen::MatrixXd original_basis_, protected_basis_;  // D × components
  Eigen::MatrixXd rotation_;
};

// How often the nearest original of an inverted utterance is the right one.
struct InversionSuccess {
  std::size_t utterances = 0;
  double top1_utterance = 0.0;  // the very same utterance, among all of `original`
  double top1_speaker = 0.0;    // any utterance of the same speaker, as published for B1
  double top1_other = 0.0;      // the same when the very same utterance is left out
  double chance_utterance = 0.0, chance_speaker = 0.0, chance_other = 0.0;
  Eigen::MatrixXf scores;  // cosines, protected × original
};
// Both sets hold the same ids (Error with counts otherwise), speakers and none of the training
// pairs (that is for the caller to see to).
InversionSuccess MeasureInversion(const EmbeddingInversion& inversion, const EmbeddingSet& original,
                                  const EmbeddingSet& protected_set);

}  // namespace sotto
