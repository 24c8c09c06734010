#include "attack/hiding_attackers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "assess/bootstrap.h"
#include "attack/category_rankings.h"
#include "base/error.h"
#include "base/parallel.h"

namespace sotto {
BestAttacker BestOf(const std::vector<AttackerAuc>& attackers) {
  BestAttacker best;
  for (const AttackerAuc& one : attackers) {
    const double auc = std::max(one.auc.value, 1.0 - one.auc.value);
    if (std::isnan(auc) || auc <= best.auc) continue;
    best = {one.classifier, auc, one.auc.interval, one.auc.value < 0.5};
    if (best.turned && best.interval) {
      const Interval reached = *best.interval;
      best.interval = Interval{1.0 - reached.high, 1.0 - reached.low, reached.level};
    }
  }
  return best;
}

AttackedVoices::AttackedVoices(const EmbeddingSet& set, const AttributeLabels& labels,
                               std::vector<std::size_t> which, const std::string& where)
    : places(std::move(which)) {
  std::map<std::string, std::size_t> number;
  for (const std::size_t place : places) number.emplace(set.speakers.at(place), 0);
  std::vector<int> speakers_of(labels.categories.size());
  for (auto& [name, own] : number) {
    own = n_speakers++;
    ++speakers_of.at(static_cast<std::size_t>(labels.of_speaker.at(name)));
  }
  for (std::size_t c = 0; c < speakers_of.size(); ++c) {
    if (speakers_of[c] > 1) continue;
    throw Error(fmt::format("{}: {} speakers of {} '{}': two are needed", where, speakers_of[c],
                            labels.name, labels.categories[c]));
  }
  for (const std::size_t place : places) {
    category.push_back(labels.of_speaker.at(set.speakers[place]));
    speaker.push_back(number.at(set.speakers[place]));
  }
}

Resampled ScoreAuc(const Eigen::Ref<const Eigen::MatrixXf>& scores, const AttackedVoices& voices,
                   const IntervalOptions& options) {
  const CategoryRankings rankings(scores(Eigen::all, voices.places), voices.category,
                                  voices.speaker);
  Resampled auc;
  auc.value = rankings.AreaUnderCurve(std::vector<double>(voices.n_speakers, 1.0));
  auc.resamples.resize(static_cast<std::size_t>(options.resamples));
  ParallelFor(auc.resamples.size(), options.jobs, [&](std::size_t r) {
    SeededRng rng = ResampleRng(options.seed, r);
    auc.resamples[r] = rankings.AreaUnderCurve(DrawUnits(rng, voices.n_speakers));
  });
  auc.interval = PercentileInterval(auc.resamples, options.level);
  return auc;
}

Resampled InDomainAuc(AttributeClassifier classifier, const EmbeddingSet& released,
                      const AttributeLabels& labels, const AttributeAttackOptions& options) {
  AttributeAttack attack = AttackAttribute(classifier, released, released, labels, options);
  Resampled auc;
  auc.value = attack.Value("auc");
  auc.resamples = std::move(attack.auc_resamples);
  auc.interval = PercentileInterval(auc.resamples, options.intervals.level);
  return auc;
}

}  // namespace sotto
