// Voice-indistinguishability (Han et al. 2020, "Voice-Indistinguishability: Protecting Voiceprint
// in Privacy-Preserving Speech Data Release"; Cao 2023): metric differential privacy for
// voiceprints.
//
//   d(x, x') = arccos(cos(x, x'))/π, from 0 to 1
//   Pr(x̃ | x)/Pr(x̃ | x') ≤ exp(eps·d(x, x')) for all inputs x, x' and all outputs x̃
//
// The mechanism draws x̃ from n candidate voiceprints with Pr ∝ exp(−c·d(x, x̃)). Its normaliser
// depends on x as well, so an exponent c gives the definition with eps = 2c in the worst case; here
// c = eps/2 always, never tuned on the data. The paper's c = eps spends twice what it says. Draws
// are exact (dp/mechanisms.h), and the bound is checked on the finite matrix that was drawn from.
//
// What it says: who sees a released voiceprint learns little about which of two *similar* voices it
// came from; for two very different voices (d near 1) the bound is e^eps. k draws for one speaker
// cost k·eps. The candidates must be a fixed public pool without the protected speakers: drawing
// from the protected speakers themselves (the paper's table) reveals their voiceprints, and hides
// only which one belongs to which record.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "dp/bits.h"
#include "dp/budget.h"
#include "speaker/embeddings.h"

namespace sotto {

// d of all pairs of columns: one row per column of a, one column per column of b. Accurate near 0,
// where arccos is not. Throws Error for a column of zeros, which has no direction.
Eigen::MatrixXd AngularDistances(const Eigen::Ref<const Eigen::MatrixXf>& a,
                                 const Eigen::Ref<const Eigen::MatrixXf>& b);

// Draws among n candidates at these distances from the input.
class VoiceIndMechanism {
 public:
  // 0 < eps ≤ 1e6.
  explicit VoiceIndMechanism(double eps);

  // c·d as whole multiples of 2^−shift_: the exponents that are drawn from.
  std::vector<std::uint64_t> Costs(std::span<const double> distances) const;
  std::size_t Release(std::span<const double> distances, Budget& budget, BitSource& bits) const;
  // ln Pr of each candidate.
  Eigen::VectorXd LogProbabilities(std::span<const double> distances) const;
  double ExpectedDistance(std::span<const double> distances) const;

  double Epsilon() const { return eps_; }
  PrivacyEvent Event() const;  // of one draw, for voices at any distance

 private:
  double eps_;
  int shift_;
};

struct VoiceIndCheck {
  std::size_t inputs = 0;
  std::size_t candidates = 0;
  double largest_ratio = 0.0;   // of |ln Pr(x̃|x)/Pr(x̃|x')| to eps·d(x, x'); at most 1
  double largest_excess = 0.0;  // of the one over the other; above 0 by rounding only
  bool holds = false;
};
// Throws Error unless the check holds.
void RequireBound(const VoiceIndCheck& check);
// Every pair of inputs against every candidate. `between` are the inputs' distances from each
// other, `to_candidates` those from the candidates (one row per input).
VoiceIndCheck CheckVoiceInd(const VoiceIndMechanism& mechanism, const Eigen::MatrixXd& between,
                            const Eigen::MatrixXd& to_candidates, int jobs);

enum class ProtectPer { kSpeaker, kUtterance };

struct VoiceIndOptions {
  double eps = 0.0;  // no default: must be chosen
  ProtectPer per = ProtectPer::kSpeaker;
  // Accept candidates that are protected speakers; only the assignment is then protected.
  bool assignment_only = false;
  std::string context;  // separates releases that share a key
  int jobs = 1;
};

// Computed from the protected voiceprints, so no epsilon covers it: for those who may see them,
// never for the release (speaker/protect_record.h).
struct VoiceIndMeasured {
  VoiceIndCheck check;
  std::size_t overlapping = 0;     // candidates that are protected speakers (assignment_only)
  double expected_distance = 0.0;  // of input and output, mean over the inputs, by the formula
};

struct VoiceIndRelease {
  EmbeddingSet set;                // ids and speakers of the source, vectors of the candidates
  std::vector<std::size_t> drawn;  // candidate of each utterance: secret where names are
  std::size_t draws_most = 0;      // for one speaker
  Budget budget;                   // of that speaker
  VoiceIndMeasured measured;
};

// What so many draws for one speaker spend.
Budget VoiceIndBudget(double eps, std::size_t draws);

// `pool` holds one or more utterances of each candidate, averaged. The inputs of the check are the
// protected voiceprints and all candidates. Draws depend on key, context, id, eps, input and
// candidates, nothing else. Throws Error when a candidate is a protected speaker (by name or by
// vector), when dimensions differ, or when the check fails: then nothing is returned.
VoiceIndRelease ReleaseVoiceInd(const EmbeddingSet& source, const EmbeddingSet& pool,
                                const VoiceIndOptions& options, const Key& key);

}  // namespace sotto
