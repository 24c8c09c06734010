#include "attack/backends.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;

constexpr std::size_t kMinBackgroundSpeakers = 10;

MatrixXf Average(const std::vector<PlannedModel>& models, const Eigen::Ref<const MatrixXf>& x) {
  MatrixXf means = MatrixXf::Zero(x.rows(), static_cast<Index>(models.size()));
  for (std::size_t m = 0; m < models.size(); ++m) {
    auto column = means.col(static_cast<Index>(m));
    for (const Index member : models[m].members) column += x.col(member);
    column /= static_cast<float>(models[m].members.size());
  }
  return means;
}

class Cosine : public Backend {
 public:
  std::string Name() const override { return "cosine"; }
  MatrixXf Score(const std::vector<PlannedModel>& models, const Eigen::Ref<const MatrixXf>& enrol,
                 const Eigen::Ref<const MatrixXf>& trial,
                 const Eigen::Ref<const MatrixXf>& /*domain*/) const override {
    return CosineScores(Average(models, UnitLength(enrol)), trial);
  }
};

class CentredCosine : public Backend {
 public:
  std::string Name() const override { return "cosine_centred"; }
  MatrixXf Score(const std::vector<PlannedModel>& models, const Eigen::Ref<const MatrixXf>& enrol,
                 const Eigen::Ref<const MatrixXf>& trial,
                 const Eigen::Ref<const MatrixXf>& domain) const override {
    const MatrixXf e = UnitLength(enrol), t = UnitLength(trial);
    const Eigen::VectorXf enrol_mean = e.rowwise().mean();
    const Eigen::VectorXf trial_mean = UnitLength(domain).rowwise().mean();
    return CosineScores(Average(models, UnitLength(e.colwise() - enrol_mean)),
                        t.colwise() - trial_mean);
  }
};

class PldaScorer : public Backend {
 public:
  explicit PldaScorer(PldaBackend plda) : plda_(std::move(plda)) {}
  std::string Name() const override { return "plda"; }
  MatrixXf Score(const std::vector<PlannedModel>& models, const Eigen::Ref<const MatrixXf>& enrol,
                 const Eigen::Ref<const MatrixXf>& trial,
                 const Eigen::Ref<const MatrixXf>& /*domain*/) const override {
    SpeakerModels speakers;
    speakers.vectors = Average(models, enrol);
    for (const PlannedModel& model : models) {
      speakers.ids.push_back(model.id);
      speakers.counts.push_back(static_cast<int>(model.members.size()));
    }
    return plda_.Scores(speakers, trial);
  }

 private:
  PldaBackend plda_;
};

class LdaCosine : public Backend {
 public:
  explicit LdaCosine(PldaBackend plda) : plda_(std::move(plda)) {}
  std::string Name() const override { return "lda_cosine"; }
  MatrixXf Score(const std::vector<PlannedModel>& models, const Eigen::Ref<const MatrixXf>& enrol,
                 const Eigen::Ref<const MatrixXf>& trial,
                 const Eigen::Ref<const MatrixXf>& /*domain*/) const override {
    const MatrixXf e = plda_.Prepare(enrol).cast<float>();
    const MatrixXf t = plda_.Prepare(trial).cast<float>();
    return CosineScores(Average(models, e), t);
  }

 private:
  PldaBackend plda_;
};

}  // namespace

std::unique_ptr<Backend> MakeCosine() { return std::make_unique<Cosine>(); }
std::unique_ptr<Backend> MakeCentredCosine() { return std::make_unique<CentredCosine>(); }
std::unique_ptr<Backend> MakePlda(PldaBackend plda) {
  return std::make_unique<PldaScorer>(std::move(plda));
}
std::unique_ptr<Backend> MakeLdaCosine(PldaBackend plda) {
  return std::make_unique<LdaCosine>(std::move(plda));
}

Eigen::VectorXf ScoreWithGaps(const Backend& backend, const std::vector<PlannedModel>& models,
                              const MatrixXf& enrol, const Eigen::VectorXf& trial) {
  std::vector<Index> place(static_cast<std::size_t>(enrol.cols()), -1);
  MatrixXf made(enrol.rows(), enrol.cols());
  Index n = 0;
  for (Index i = 0; i < enrol.cols(); ++i) {
    if (std::isnan(enrol(0, i))) continue;
    place[static_cast<std::size_t>(i)] = n;
    made.col(n++) = enrol.col(i);
  }
  made.conservativeResize(Eigen::NoChange, n);
  std::vector<PlannedModel> complete;
  std::vector<Index> rows;
  for (std::size_t m = 0; m < models.size(); ++m) {
    PlannedModel model = models[m];
    for (Index& member : model.members) member = place[static_cast<std::size_t>(member)];
    if (std::count(model.members.begin(), model.members.end(), -1) > 0) continue;
    complete.push_back(std::move(model));
    rows.push_back(static_cast<Index>(m));
  }
  Eigen::VectorXf scores =
      Eigen::VectorXf::Constant(static_cast<Index>(models.size()), std::nanf(""));
  if (complete.empty()) return scores;
  const MatrixXf found = backend.Score(complete, made, trial, made);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    scores[rows[i]] = found(static_cast<Index>(i), 0);
  }
  return scores;
}

PldaBackend TrainOnBackground(const EmbeddingSet& background) {
  std::vector<std::size_t> kept;
  std::size_t speakers = 0;
  for (const auto& [speaker, places] : background.BySpeaker()) {
    if (places.size() < 2) continue;
    ++speakers;
    kept.insert(kept.end(), places.begin(), places.end());
  }
  if (speakers < kMinBackgroundSpeakers) {
    throw Error(fmt::format(
        "the background speech has {} speakers with two utterances: at least {} are needed",
        speakers, kMinBackgroundSpeakers));
  }
  PldaBackendOptions options;
  // Fisher's within-speaker covariance alone is poorly estimated from two or three utterances each.
  options.total_covariance_factor = 0.1;
  return TrainPldaBackend(background.Select(kept), options);
}

}  // namespace sotto
