// `sotto evaluate`: protects a corpus with several methods and strategies, attacks each copy with
// the ladder and measures what it leaves, in one run that can be killed and taken up again.
//
// A cell is one method with its parameters under one strategy. Its three steps (protect, attack,
// utility) leave their results in OUT/CELL/, named by all that decides them: the next run with the
// same options takes them from there, a changed option or input redoes the steps that depend on it.
// What is measured on the originals (OUT/originals) and all embeddings (OUT/voiceprints) are shared
// by all cells.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "assess/ladder.h"
#include "attack/trial_plan.h"
#include "evaluate/step_folder.h"
#include "release/release_record.h"
#include "utility/utility.h"
#include "voice/method_table.h"

namespace sotto {

struct EvaluateOptions {
  std::filesystem::path original;    // a corpus
  std::vector<std::string> methods;  // ParseMethodText (voice/method_table.h)
  MethodTable method_table = ProgramMethods();
  std::vector<Strategy> strategies;   // empty: the default of each method
  std::filesystem::path out;          // the working folder
  std::optional<std::uint64_t> seed;  // of an experiment; not given: a fresh key for each cell

  // Attackers (attack/attack.h). An encoder retrained on protected speech is used for the cells
  // whose method and parameters its header names.
  std::string encoder;  // empty: the default
  std::vector<std::filesystem::path> attacker_encoders;
  std::filesystem::path background;
  bool quick = false;
  Unlabelled unlabelled = Unlabelled::kError;

  // Utility (utility/utility.h).
  std::vector<RecogniserChoice> recognisers;  // empty: all there are
  // For recognisers without a number of their own; 0: all with Moonshine, 60 with PocketSphinx.
  std::size_t utterances = 0;
  std::filesystem::path models;
  bool trust_models = false;  // taken as they are (onnx/models.h), by all steps

  int resamples = 1000;
  double level = 0.95;
  int jobs = 1;  // no figure depends on it

  // Throws Error when options contradict each other.
  void Validate() const;
  VoiceOptions Voice(const std::string& method) const;
  std::vector<Strategy> StrategiesOf(const VoiceOptions& voice) const;
  std::vector<RecogniserChoice> Recognisers() const;
};

inline constexpr std::size_t kPocketSphinxUtterances = 60;
inline constexpr std::size_t kQuickRatedUtterances = 60;  // by DNSMOS, where quick

struct ProtectionResult {
  std::size_t recordings = 0, utterances = 0, speakers = 0;
  double timed_seconds = 0.0;  // of speech
  double cpu_seconds = 0.0, wall_seconds = 0.0;
  int jobs = 1;
  std::optional<double> rtf;  // processor seconds for a second of speech
  std::string rtf_reason;     // why there is none
  std::vector<std::string> notes;
  struct File {
    std::string id, sha256;
  };
  std::vector<File> files;
};

struct CellAttack {
  LadderResult ladder;
  // The strongest attacker's comparisons that claim a speaker of one gender: damage may fall on
  // some alone. Empty when no attacker linked speakers.
  struct OneGender {
    Gender gender = Gender::kUnknown;
    Figure eer;  // NaN with the reason as remark
    std::size_t n_tar = 0, n_non = 0;
  };
  std::vector<OneGender> by_gender;
  // The regulator's figures of the strongest attacker (assess/legal.h): who is linked or singled
  // out among `n` speakers.
  struct Among {
    std::size_t n = 0;
    double linkability = 0.0, linkability_chance = 0.0;
    double singling_out = 0.0, singling_out_chance = 0.0;  // NaN: too few speakers
  };
  std::vector<Among> legal;
};

// Of the steps that make them.
struct StepForms {
  StepForm<ProtectionResult> protection;
  StepForm<CellAttack> attack;
  StepForm<UtilityResult> utility;
};

struct EvaluatedCell {
  std::string method;  // as it was asked for
  Strategy strategy = Strategy::kPerm;
  std::string id;  // of its folder
  std::filesystem::path folder;
  ReleaseRecord record;
  std::filesystem::path attacker_encoder;    // empty: none fits
  std::string attacker_encoder_fingerprint;  // of that file

  ProtectionResult protection;
  CellAttack attack;
  UtilityResult utility;

  std::string Name() const;  // "mcadams:alpha=0.8, random"
};

struct Evaluation {
  std::vector<EvaluatedCell> cells;
  std::string version, encoder, encoder_fingerprint;
  std::size_t recordings = 0, utterances = 0, speakers = 0;  // of the originals
  std::size_t steps_made = 0, steps_found = 0;
  bool quick = false, background = false;
  std::optional<std::uint64_t> seed;
  int resamples = 0;
  double level = 0.95;
};

// `forms`: how results are kept in the working folder (report/evaluation_report.h). Without them
// nothing is, and every run makes all steps.
Evaluation Evaluate(const EvaluateOptions& options, const std::string& version,
                    const StepForms& forms = {});

}  // namespace sotto
