// How an attacker compares embeddings. Each back-end averages the enrolment utterances of a model
// in the way that suits it and scores all models against all trials by matrix products.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <string>
#include <vector>

#include "attack/trial_plan.h"
#include "speaker/scoring.h"

namespace sotto {

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string Name() const = 0;
  // Columns of `enrol` are what PlannedModel::members point at. `domain` holds recordings made like
  // the trials (the trials themselves as a rule), whose mean an attacker sees without any label.
  virtual Eigen::MatrixXf Score(const std::vector<PlannedModel>& models,
                                const Eigen::Ref<const Eigen::MatrixXf>& enrol,
                                const Eigen::Ref<const Eigen::MatrixXf>& trial,
                                const Eigen::Ref<const Eigen::MatrixXf>& domain) const = 0;
};

// "cosine": of the mean of unit-length embeddings.
std::unique_ptr<Backend> MakeCosine();
// "cosine_centred": each side loses its own mean first. What a protection moves alike for all
// speakers is gone then, and this costs the attacker no knowledge at all.
std::unique_ptr<Backend> MakeCentredCosine();
// "plda": mean, LDA and PLDA of speaker/scoring.h.
std::unique_ptr<Backend> MakePlda(PldaBackend plda);
// "lda_cosine": mean and LDA of the same, then cosine.
std::unique_ptr<Backend> MakeLdaCosine(PldaBackend plda);

// Scores of one trial against models whose enrolment was made with the trial's own draw, so that
// its mean is that of the trial's domain too. Columns of `enrol` that were not made are NaN; models
// with such a member get NaN.
Eigen::VectorXf ScoreWithGaps(const Backend& backend, const std::vector<PlannedModel>& models,
                              const Eigen::MatrixXf& enrol, const Eigen::VectorXf& trial);

// Mean and LDA (at most 150 dimensions) and PLDA from background speech, speakers with a single
// utterance left out of it. Throws Error when there are fewer than 10 speakers with two.
PldaBackend TrainOnBackground(const EmbeddingSet& background);

}  // namespace sotto
