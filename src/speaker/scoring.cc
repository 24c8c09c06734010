#include "speaker/scoring.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "base/tsv.h"
#include "speaker/kaldi_io.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::MatrixXf;

void SqrtLength(MatrixXd& x) {
  const double wanted = std::sqrt(static_cast<double>(x.rows()));
  for (Index i = 0; i < x.cols(); ++i) {
    const double norm = x.col(i).norm();
    if (norm > 0.0) x.col(i) *= wanted / norm;
  }
}

// Mean and deviation of the `top` largest of each row.
struct Moments {
  Eigen::VectorXf mean, deviation;
};
Moments TopMoments(const Eigen::Ref<const MatrixXf>& scores, int top, const char* side) {
  const auto n =
      std::min<std::size_t>(static_cast<std::size_t>(top), static_cast<std::size_t>(scores.cols()));
  Moments moments{Eigen::VectorXf(scores.rows()), Eigen::VectorXf(scores.rows())};
  std::vector<float> row(static_cast<std::size_t>(scores.cols()));
  for (Index i = 0; i < scores.rows(); ++i) {
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = scores(i, static_cast<Index>(j));
    std::nth_element(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(n - 1), row.end(),
                     std::greater<>());
    double sum = 0.0, squares = 0.0;
    for (std::size_t j = 0; j < n; ++j) sum += row[j];
    const double mean = sum / static_cast<double>(n);
    for (std::size_t j = 0; j < n; ++j) squares += (row[j] - mean) * (row[j] - mean);
    const double deviation = std::sqrt(squares / static_cast<double>(n));
    if (!(deviation > 0.0)) {
      throw Error(fmt::format("s-norm: the cohort scores of {} {} are all the same", side, i));
    }
    moments.mean[i] = static_cast<float>(mean);
    moments.deviation[i] = static_cast<float>(deviation);
  }
  return moments;
}

}  // namespace

SpeakerModels MakeModels(const EmbeddingSet& set, ModelOf of, Averaging averaging) {
  SpeakerModels models;
  const MatrixXf x = averaging == Averaging::kUnitLength ? UnitLength(set.vectors) : set.vectors;
  if (of == ModelOf::kUtterance) {
    models.ids = set.ids;
    models.vectors = x;
    models.counts.assign(set.size(), 1);
    return models;
  }
  const auto speakers = set.BySpeaker();
  models.vectors = MatrixXf::Zero(x.rows(), static_cast<Index>(speakers.size()));
  for (const auto& [speaker, places] : speakers) {
    auto column = models.vectors.col(static_cast<Index>(models.ids.size()));
    for (const std::size_t place : places) column += x.col(static_cast<Index>(place));
    column /= static_cast<float>(places.size());
    models.ids.push_back(speaker);
    models.counts.push_back(static_cast<int>(places.size()));
  }
  return models;
}

MatrixXf UnitLength(const Eigen::Ref<const MatrixXf>& x) {
  MatrixXf y = x;
  for (Index i = 0; i < y.cols(); ++i) {
    const float norm = y.col(i).stableNorm();
    if (norm > 0.0F) y.col(i) /= norm;
  }
  return y;
}

MatrixXf CosineScores(const Eigen::Ref<const MatrixXf>& enrol,
                      const Eigen::Ref<const MatrixXf>& trial) {
  if (enrol.rows() != trial.rows()) {
    throw Error(
        fmt::format("cosine: enrolment has {} dimensions, trials {}", enrol.rows(), trial.rows()));
  }
  MatrixXf scores(enrol.cols(), trial.cols());
  scores.noalias() = UnitLength(enrol).transpose() * UnitLength(trial);
  return scores.cwiseMax(-1.0F).cwiseMin(1.0F);
}

MatrixXd PldaBackend::Prepare(const Eigen::Ref<const MatrixXf>& x) const {
  if (x.rows() != mean.size()) {
    throw Error(fmt::format("back-end: the embeddings have {} dimensions, it was trained for {}",
                            x.rows(), mean.size()));
  }
  MatrixXd y = x.cast<double>().colwise() - mean;
  if (lda) y = lda->Apply(y);
  if (unit_length) SqrtLength(y);
  return y;
}

MatrixXf PldaBackend::Scores(const SpeakerModels& models, const Eigen::Ref<const MatrixXf>& trial,
                             int trial_count) const {
  const std::vector<int> trial_counts(static_cast<std::size_t>(trial.cols()), trial_count);
  const MatrixXd enrol = PldaProject(plda, Prepare(models.vectors), models.counts, length);
  const MatrixXd test = PldaProject(plda, Prepare(trial), trial_counts, length);
  return PldaScores(plda, enrol, test, models.counts, trial_count).cast<float>();
}

PldaBackend TrainPldaBackend(const EmbeddingSet& set, const PldaBackendOptions& options) {
  if (!set.HasSpeakers()) throw Error("back-end: training needs the speakers of the embeddings");
  PldaBackend backend;
  backend.mean = set.vectors.cast<double>().rowwise().mean();
  if (options.lda_dimension > 0) {
    LdaOptions lda;
    lda.dimension = options.lda_dimension;
    lda.total_covariance_factor = options.total_covariance_factor;
    backend.lda = TrainLda(set.vectors.cast<double>().colwise() - backend.mean, set.speakers, lda);
  }
  backend.plda = TrainPlda(backend.Prepare(set.vectors), set.speakers, options.plda).plda;
  return backend;
}

PldaBackend ReadPldaBackend(const std::filesystem::path& folder) {
  const auto read = [&folder](const char* name) { return ReadTextFile(folder / name); };
  const auto where = [&folder](const char* name) { return (folder / name).string(); };
  PldaBackend backend;
  backend.mean = ParseKaldiVector(read("mean.vec"), where("mean.vec"));
  if (!backend.mean.allFinite()) {
    throw Error(fmt::format("{}: NaN or infinity", where("mean.vec")));
  }
  if (std::filesystem::exists(folder / "transform.mat")) {
    backend.lda =
        ParseKaldiTransform(read("transform.mat"), backend.mean.size(), where("transform.mat"));
  }
  backend.plda = ParseKaldiPlda(read("plda"), where("plda"));
  const Index d = backend.lda ? backend.lda->matrix.rows() : backend.mean.size();
  if (backend.plda.Dimension() != d) {
    throw Error(fmt::format("{}: the PLDA has {} dimensions, what comes to it {}", where("plda"),
                            backend.plda.Dimension(), d));
  }
  return backend;
}

MatrixXf AdaptiveSNorm(const Eigen::Ref<const MatrixXf>& scores,
                       const Eigen::Ref<const MatrixXf>& model_cohort,
                       const Eigen::Ref<const MatrixXf>& trial_cohort, int top) {
  if (model_cohort.rows() != scores.rows() || trial_cohort.rows() != scores.cols() || top < 2 ||
      model_cohort.cols() < 2 || trial_cohort.cols() < 2) {
    throw Error(fmt::format(
        "s-norm: {} x {} scores, cohort scores {} x {} and {} x {}, top {}; one row for each model "
        "and trial, a cohort and top of at least 2 are needed",
        scores.rows(), scores.cols(), model_cohort.rows(), model_cohort.cols(), trial_cohort.rows(),
        trial_cohort.cols(), top));
  }
  const Moments model = TopMoments(model_cohort, top, "model");
  const Moments trial = TopMoments(trial_cohort, top, "trial");
  MatrixXf normalised(scores.rows(), scores.cols());
  for (Index j = 0; j < scores.cols(); ++j) {
    normalised.col(j) =
        0.5F * ((scores.col(j) - model.mean).cwiseQuotient(model.deviation).array() +
                (scores.col(j).array() - trial.mean[j]) / trial.deviation[j])
                   .matrix();
  }
  return normalised;
}

std::vector<TrialPair> ParseTrialPairs(std::string_view text, const std::string& where) {
  RequireClean(text, where);
  std::vector<TrialPair> pairs;
  std::size_t number = 0;
  for (const std::string_view line : SplitLines(text)) {
    ++number;
    const auto fields = SplitBlanks(line);
    if (fields.empty()) continue;
    const bool header =
        number == 1 && fields[0] == "enrol" && fields.size() > 1 && fields[1] == "trial";
    if (header) continue;
    if (fields.size() != 2 && fields.size() != 3) {
      throw Error(fmt::format("{}:{}: {} fields, expected is 'enrol trial [target|nontarget]'",
                              where, number, fields.size()));
    }
    if (fields.size() == 3 && fields[2] != "target" && fields[2] != "nontarget") {
      throw Error(
          fmt::format("{}:{}: '{}' is neither target nor nontarget", where, number, fields[2]));
    }
    pairs.push_back({std::string(fields[0]), std::string(fields[1])});
  }
  if (pairs.empty()) throw Error(fmt::format("{}: no trials", where));
  return pairs;
}

std::vector<std::pair<Index, Index>> LocateTrials(const std::vector<TrialPair>& pairs,
                                                  const std::vector<std::string>& model_ids,
                                                  const std::vector<std::string>& trial_ids,
                                                  const std::string& where) {
  const auto index = [](const std::vector<std::string>& ids) {
    std::unordered_map<std::string, Index> places;
    for (std::size_t i = 0; i < ids.size(); ++i) places[ids[i]] = static_cast<Index>(i);
    return places;
  };
  const auto models = index(model_ids), trials = index(trial_ids);
  std::size_t no_model = 0, no_trial = 0;
  std::string first_model, first_trial;
  std::vector<std::pair<Index, Index>> places;
  places.reserve(pairs.size());
  for (const TrialPair& pair : pairs) {
    const auto model = models.find(pair.enrol);
    const auto trial = trials.find(pair.trial);
    if (model == models.end() && no_model++ == 0) first_model = pair.enrol;
    if (trial == trials.end() && no_trial++ == 0) first_trial = pair.trial;
    if (model != models.end() && trial != trials.end()) {
      places.emplace_back(model->second, trial->second);
    }
  }
  if (no_model + no_trial > 0) {
    throw Error(
        fmt::format("{}: of {} trials {} name an enrolment{} and {} a trial utterance{} "
                    "without an embedding",
                    where, pairs.size(), no_model,
                    no_model > 0 ? fmt::format(" (the first: '{}')", first_model) : "", no_trial,
                    no_trial > 0 ? fmt::format(" (the first: '{}')", first_trial) : ""));
  }
  return places;
}

std::string FormatScores(const Eigen::Ref<const MatrixXf>& scores,
                         const std::vector<std::string>& model_ids,
                         const std::vector<std::string>& trial_ids,
                         const std::vector<std::pair<Index, Index>>* pairs) {
  fmt::memory_buffer out;
  const auto add = [&](Index i, Index j) {
    fmt::format_to(std::back_inserter(out), "{} {} {:.9g}\n",
                   model_ids[static_cast<std::size_t>(i)], trial_ids[static_cast<std::size_t>(j)],
                   scores(i, j));
  };
  if (pairs != nullptr) {
    for (const auto& [i, j] : *pairs) add(i, j);
  } else {
    for (Index i = 0; i < scores.rows(); ++i) {
      for (Index j = 0; j < scores.cols(); ++j) add(i, j);
    }
  }
  return fmt::to_string(out);
}

}  // namespace sotto
