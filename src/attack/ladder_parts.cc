#include "attack/ladder_parts.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "speaker/embedding_map.h"

namespace sotto {

Trials WithScores(Trials trials) {
  std::size_t kept = 0;
  const std::array columns = {&trials.enrol.index, &trials.test.index, &trials.enrol_spk.index,
                              &trials.test_spk.index};
  for (std::size_t t = 0; t < trials.size(); ++t) {
    if (std::isnan(trials.scores[t])) continue;
    trials.scores[kept] = trials.scores[t];
    trials.is_target[kept] = trials.is_target[t];
    for (auto* column : columns) (*column)[kept] = (*column)[t];
    ++kept;
  }
  trials.scores.resize(kept);
  trials.is_target.resize(kept);
  for (auto* column : columns) column->resize(kept);
  return trials;
}

EmbeddingSet SelectPlanned(const TrialPlan& plan, const EmbeddingSet& set,
                           const std::vector<PlannedUtterance>& utterances) {
  EmbeddingSet part;
  part.vectors = VectorsOf(set, utterances, "embeddings");
  for (const PlannedUtterance& utterance : utterances) {
    part.ids.push_back(utterance.id);
    part.speakers.push_back(utterance.speaker);
    part.genders[utterance.speaker] = plan.GenderOf(utterance.speaker);
  }
  return part;
}

std::vector<Figure> InversionFigures(const TrialPlan& plan, const EmbeddingInversion& inversion,
                                     const EmbeddingSet& original, const EmbeddingSet& released) {
  double found_utterance = 0.0, found_speaker = 0.0, found_other = 0.0, n = 0.0;
  for (const Gender gender : {Gender::kFemale, Gender::kMale}) {
    std::vector<PlannedUtterance> trials = plan.Trials();
    std::erase_if(trials, [&](const PlannedUtterance& trial) {
      return plan.GenderOf(trial.speaker) != gender;
    });
    if (trials.size() < 2) continue;
    const InversionSuccess success = MeasureInversion(
        inversion, SelectPlanned(plan, original, trials), SelectPlanned(plan, released, trials));
    const auto weight = static_cast<double>(success.utterances);
    found_utterance += weight * success.top1_utterance;
    found_speaker += weight * success.top1_speaker;
    found_other += weight * success.top1_other;
    n += weight;
  }
  if (n == 0.0) return {};
  std::vector<Figure> figures;
  const auto add = [&](const char* name, double found) {
    Figure figure;
    figure.name = name;
    figure.value = found / n;
    figure.unit = "probability";
    figure.direction = Direction::kLowerIsMorePrivate;
    figure.attacker = Name(Attacker::kEmbeddingInversion);
    figure.counts = {{"recordings", static_cast<std::size_t>(n)}};
    figures.push_back(std::move(figure));
  };
  add("inversion.top1_utterance", found_utterance);
  add("inversion.top1_speaker", found_speaker);
  add("inversion.top1_other", found_other);
  return figures;
}

std::vector<MapPoint> MapTrials(const TrialPlan& plan, const EmbeddingSet& original,
                                const EmbeddingSet& released, std::size_t points, int jobs) {
  const std::size_t n = plan.Trials().size();
  const std::size_t kept = std::min(n, points / 2);
  std::vector<PlannedUtterance> shown;
  for (std::size_t i = 0; i < n && kept > 0; ++i) {
    if ((i + 1) * kept / n > i * kept / n) shown.push_back(plan.Trials()[i]);
  }
  if (shown.size() < 4) return {};
  const Eigen::MatrixXf before = VectorsOf(original, shown, "originals");
  const Eigen::MatrixXf after = VectorsOf(released, shown, "release");
  Eigen::MatrixXf both(before.rows(), before.cols() + after.cols());
  both << before, after;
  MapOptions options;
  options.jobs = jobs;
  const Eigen::MatrixXd places = MapEmbeddings(both, options);
  std::vector<MapPoint> map;
  for (const bool is_released : {false, true}) {
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const auto k = static_cast<Eigen::Index>(i + (is_released ? shown.size() : 0));
      map.push_back({shown[i].id, shown[i].speaker, plan.GenderOf(shown[i].speaker), is_released,
                     places(0, k), places(1, k)});
    }
  }
  return map;
}

}  // namespace sotto
