#include "speaker/score_sets.h"

#include <fmt/format.h>

#include <optional>

#include "base/error.h"
#include "base/files.h"
#include "speaker/embed_corpus.h"

namespace sotto {
namespace {

using Eigen::Index;

std::optional<PldaBackend> OpenBackend(const ScoreSetOptions& options) {
  const bool has_files = !options.plda.empty(), has_data = !options.train.empty();
  if (options.backend == "cosine") {
    if (has_files || has_data) throw Error("cosine has no model: leave out --plda and --train");
    return std::nullopt;
  }
  if (options.backend != "plda") {
    throw Error(fmt::format("back-end '{}' is neither cosine nor plda", options.backend));
  }
  if (has_files == has_data) throw Error("the plda back-end needs --plda or --train, one of them");
  if (has_files) return ReadPldaBackend(options.plda);
  PldaBackendOptions training;
  training.lda_dimension = options.lda_dimension;
  return TrainPldaBackend(ReadEmbeddings(options.train), training);
}

}  // namespace

SetScores ScoreSets(const std::filesystem::path& enrol, const std::filesystem::path& trials,
                    const ScoreSetOptions& options) {
  RequireSameEncoder(enrol, trials);
  for (const auto& other : {options.train, options.cohort}) {
    if (!other.empty()) RequireSameEncoder(enrol, other);
  }
  const std::optional<PldaBackend> plda = OpenBackend(options);
  const Averaging averaging = plda ? Averaging::kPlain : Averaging::kUnitLength;
  const EmbeddingSet enrol_set = ReadEmbeddings(enrol), trial_set = ReadEmbeddings(trials);
  const SpeakerModels models = MakeModels(enrol_set, options.by, averaging);
  const auto score = [&](const SpeakerModels& left, const Eigen::MatrixXf& right) {
    return plda ? plda->Scores(left, right) : CosineScores(left.vectors, right);
  };
  SetScores result;
  result.model_ids = models.ids;
  result.trial_ids = trial_set.ids;
  result.scores = score(models, trial_set.vectors);
  if (!options.cohort.empty()) {
    const EmbeddingSet cohort_set = ReadEmbeddings(options.cohort);
    const SpeakerModels cohort = MakeModels(
        cohort_set, cohort_set.speakers.empty() ? ModelOf::kUtterance : ModelOf::kSpeaker,
        averaging);
    // The model meets cohort voices as trials, the trial meets them as models.
    const Eigen::MatrixXf of_models = score(models, cohort.vectors);
    const Eigen::MatrixXf of_trials = score(cohort, trial_set.vectors).transpose();
    result.scores = AdaptiveSNorm(result.scores, of_models, of_trials, options.top);
  }
  if (!options.keys.empty()) {
    const std::string where = options.keys.string();
    result.pairs = LocateTrials(ParseTrialPairs(ReadTextFile(options.keys, kLargestFile), where),
                                result.model_ids, result.trial_ids, where);
    return result;
  }
  const auto known = enrol_set.Index();
  std::size_t shared = 0;
  for (const std::string& id : trial_set.ids) shared += known.contains(id) ? 1 : 0;
  if (shared > 0 && options.by == ModelOf::kSpeaker) {
    throw Error(fmt::format(
        "{} of {} trial utterances are part of the enrolment too: say which pairs are meant "
        "(--keys), or compare utterances (--by utterance)",
        shared, trial_set.size()));
  }
  for (Index i = 0; i < result.scores.rows(); ++i) {
    for (Index j = 0; j < result.scores.cols(); ++j) {
      const bool itself =
          options.by == ModelOf::kUtterance && result.model_ids[static_cast<std::size_t>(i)] ==
                                                   result.trial_ids[static_cast<std::size_t>(j)];
      if (!itself) result.pairs.emplace_back(i, j);
    }
  }
  return result;
}

}  // namespace sotto
