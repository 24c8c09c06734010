// What defences that hide an attribute in voiceprints (speaker/hider.h) are worth: what each leaves
// of the speaker (attack/hiding_utility.h) and what attackers still read
// (attack/hiding_attackers.h), on speakers that neither defences nor attackers were fitted on. A
// study of the voiceprints it is given: no epsilon covers what it finds.
//
// Where noise is added, every voiceprint gets a draw of its own, enrolment and login too, so that
// eps is that of one voiceprint; or a speaker's device keeps one draw for all of them (memoised),
// so that eps is that of the speaker. What informed attackers train on they protect themselves, a
// draw for each voiceprint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attack/hiding_attackers.h"
#include "attack/hiding_utility.h"
#include "attack/hiding_voices.h"
#include "base/random.h"
#include "speaker/hider.h"

namespace sotto {

struct StudiedDefence {
  std::string name;                         // "leace"; "unprotected"
  std::shared_ptr<const Hider> hider;       // null: unprotected
  std::optional<double> eps;                // at use; none: no noise
  std::optional<double> eps_train;          // of gender-aae; infinity: none
  ProtectPer per = ProtectPer::kUtterance;  // kSpeaker: memoised
  double fit_seconds = 0.0;
  // A point of the curves alone: pairs and templates, attackers of other corpora.
  bool only_curve = false;
};

// Whether noise can be put on everything that is released.
bool NoisesAll(const Hider& hider);

struct DefencePlan {
  std::vector<std::string> methods;           // names in the table; empty: all of them
  std::vector<std::filesystem::path> models;  // fitted before; then no methods are
  std::vector<double> eps = {1.0};            // at use, of methods that need it
  std::vector<double> eps_train = {15, 20};   // of gender-aae, in rising order
  std::vector<double> sweep = {15, 20};       // of those, which are also tried …
  std::vector<double> sweep_eps = {5, 10, 15, 20, 25, 30, 35, 40, 60, 100};  // … at these eps
  std::uint64_t seed = 1;
  int jobs = 1;
};

// Fits what is asked for and lists every way it is used: gender-aae without noise (which claims
// nothing) and with that of its training; what else takes an epsilon, with each of `eps`, and also
// memoised where noise is not all that is released. `data` is not read where models are given.
// Throws Error for names that the table lacks.
std::vector<StudiedDefence> PlanDefences(const DefencePlan& plan, const HiderData& data);

struct HidingPrivacy {
  // By classifier, in the order of kAttributeClassifiers. Uninformed is empty where the defence
  // changes the number of dimensions: such an attacker cannot read it at all.
  std::vector<AttackerAuc> uninformed, informed, in_domain;
};

// A defence on the voiceprints of one folder, or of all.
struct HidingPart {
  std::string name;  // of the folder, or "all" of several
  std::size_t speakers = 0, utterances = 0, voiceprints = 0;
  HidingUtility utility;
  Resampled pairs_ratio, templates_ratio;  // EER after/before
  HidingPrivacy privacy;
};

struct HidingRow {
  StudiedDefence defence;
  Eigen::Index dimension = 0;  // of what is released
  bool asks_for_categories = false;
  double auc_ceiling = 1.0;       // what eps allows an attacker of one voiceprint
  bool all_noised = false;        // the ceiling holds for everything, not for noisy rows alone
  std::vector<HidingPart> parts;  // "all" first, then the folders where there are several
};

struct HidingStudyOptions {
  AttributeAttackOptions attack;  // whose intervals serve all figures
  int jobs = 1;                   // the figures do not depend on it
};

struct HidingStudy {
  HidingStudyOptions options;
  std::string attribute;
  std::vector<std::string> categories;
  std::size_t attack_speakers = 0, attack_voiceprints = 0;
  std::vector<HidingRow> rows;  // unprotected first
  double seconds = 0.0;
  std::map<std::string, double> cpu_seconds;  // of each kind of task: "informed mlp"
};

HidingStudy StudyHiding(const HidingVoices& voices, const std::vector<StudiedDefence>& defences,
                        const HidingStudyOptions& options, const Key& key);

}  // namespace sotto
