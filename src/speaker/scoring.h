// From embeddings to scores: enrolment models, cosine, PLDA with its preparation, adaptive s-norm,
// and lists of trials. All pairs are matrix products.
#pragma once

#include <Eigen/Core>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "speaker/embeddings.h"
#include "speaker/lda.h"
#include "speaker/plda.h"

namespace sotto {

// One vector per model: a mean of `counts[i]` utterances.
struct SpeakerModels {
  std::vector<std::string> ids;
  Eigen::MatrixXf vectors;
  std::vector<int> counts;
};

enum class ModelOf { kSpeaker, kUtterance };
enum class Averaging {
  kPlain,       // as Kaldi's ivector-mean; what PLDA takes
  kUnitLength,  // every embedding to length 1 first; what cosine takes
};
// One model per speaker (in order of name) or per utterance.
SpeakerModels MakeModels(const EmbeddingSet& set, ModelOf of, Averaging averaging);

// Columns to length 1; a column of zeros stays (its cosine with anything is 0).
Eigen::MatrixXf UnitLength(const Eigen::Ref<const Eigen::MatrixXf>& x);

// cos of every pair: one row per column of `enrol`, one column per column of `trial`.
Eigen::MatrixXf CosineScores(const Eigen::Ref<const Eigen::MatrixXf>& enrol,
                             const Eigen::Ref<const Eigen::MatrixXf>& trial);

struct PldaBackendOptions {
  int lda_dimension = 150;  // 0: no LDA; lowered to what the training speakers allow
  PldaOptions plda;
  double total_covariance_factor = 0.0;  // LdaOptions
};

// The steps of Kaldi's recipes: subtract the mean, LDA, length √d, PLDA (whose projections are made
// as long as the model expects).
struct PldaBackend {
  Eigen::VectorXd mean;
  std::optional<AffineTransform> lda;
  Plda plda;
  bool unit_length = true;  // the step "length √d" before PLDA
  PldaLength length = PldaLength::kExpected;

  // Up to the length, before PLDA.
  Eigen::MatrixXd Prepare(const Eigen::Ref<const Eigen::MatrixXf>& x) const;
  // LLRs of all pairs; each trial column is a mean of `trial_count` utterances.
  Eigen::MatrixXf Scores(const SpeakerModels& models,
                         const Eigen::Ref<const Eigen::MatrixXf>& trial, int trial_count = 1) const;
};
PldaBackend TrainPldaBackend(const EmbeddingSet& set, const PldaBackendOptions& options = {});

// A folder of Kaldi's files mean.vec, plda and (optional) transform.mat.
PldaBackend ReadPldaBackend(const std::filesystem::path& folder);

// Adaptive symmetric score normalisation (Matějka et al. 2017, "S-norm with top-scoring cohort"):
// half of (s − mean)/deviation with the statistics of the `top` highest cohort scores of the model
// and half with those of the trial. The cohort matrices have one row per model and per trial and
// one column per cohort member; `top` is lowered to their number. A deviation of 0 is an Error.
Eigen::MatrixXf AdaptiveSNorm(const Eigen::Ref<const Eigen::MatrixXf>& scores,
                              const Eigen::Ref<const Eigen::MatrixXf>& model_cohort,
                              const Eigen::Ref<const Eigen::MatrixXf>& trial_cohort, int top = 200);

// Pairs named by a trial list ("enrol trial [target|nontarget]"; the label is not used here).
struct TrialPair {
  std::string enrol, trial;
  bool operator==(const TrialPair&) const = default;
};
std::vector<TrialPair> ParseTrialPairs(std::string_view text, const std::string& where);

// Places of each pair in models and trials. Ids that one of them lacks are an Error with counts.
std::vector<std::pair<Eigen::Index, Eigen::Index>> LocateTrials(
    const std::vector<TrialPair>& pairs, const std::vector<std::string>& model_ids,
    const std::vector<std::string>& trial_ids, const std::string& where);

// "enrol trial score" lines, nine digits: of these pairs, or of all when `pairs` is null.
std::string FormatScores(const Eigen::Ref<const Eigen::MatrixXf>& scores,
                         const std::vector<std::string>& model_ids,
                         const std::vector<std::string>& trial_ids,
                         const std::vector<std::pair<Eigen::Index, Eigen::Index>>* pairs);

}  // namespace sotto
