// The ladder of attackers (assess/attackers.h says what each compares, docs/threat_model.md what
// each knows). All that they compare is embeddings, given here; attack/attack_sound.h makes them
// from corpora.
#pragma once

#include <Eigen/Core>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assess/ladder.h"
#include "assess/verify.h"
#include "attack/trial_plan.h"
#include "attack/word_links.h"
#include "speaker/embeddings.h"

namespace sotto {

// The enrolment under the release's own draws.
struct InformedEnrolment {
  // const and perm: one column for each enrolment utterance of the plan.
  Eigen::MatrixXf columns;
  // random: the same for each trial tried, under that trial's draw (by its place in the plan); a
  // column of NaN is an utterance that was not made.
  std::map<std::size_t, Eigen::MatrixXf> by_trial;
};

// What one encoder made.
struct EncoderMaterial {
  EmbeddingSet released;
  std::optional<EmbeddingSet> original;
  std::optional<EmbeddingSet> own_enrolment;               // the attacker's draws
  std::optional<EmbeddingSet> background, own_background;  // original; protected by the attacker
  std::optional<InformedEnrolment> informed;
};

// A rule by which the source chose the pseudonym.
struct SourceRule {
  bool lowest = false;  // the least similar enrolled is the likely source (farthest), or the most
  // The voices that pseudonyms were taken from, by the base encoder, where the attacker has them
  // and a pseudonym is one of them; what is heard is taken for the nearest. Empty otherwise.
  Eigen::MatrixXf pool;
};

struct AttackMaterial {
  EncoderMaterial base;                      // with `original`
  std::optional<EncoderMaterial> retrained;  // by the attacker
  std::vector<Eigen::MatrixXf> undone;       // trials by base, one matrix for each grid point
  std::optional<WordMaterial> words;         // transcripts of both sides
  std::optional<SourceRule> rule;            // absent[Attacker::kPoolRule] says why there is none
  std::map<Attacker, std::string> absent;    // why an attacker's material is not there
  std::map<Attacker, std::string> remarks;
  std::vector<AttackerCurvePoint> curve;
};

struct LadderOptions {
  VerifyOptions verify;  // resamples are lowered for long lists: at most 10^8 scores are drawn
  bool quick = false;    // semi-informed-quick runs
  Unlabelled unlabelled = Unlabelled::kError;  // background speakers, for the gender attackers
  std::size_t map_points = 600;                // at most; 0: no map
};

// Rows that lack their material have ran = false and a reason. Throws Error when an utterance of
// the plan has no embedding.
LadderResult RunLadder(const TrialPlan& plan, const AttackMaterial& material,
                       const LadderOptions& options);

}  // namespace sotto
