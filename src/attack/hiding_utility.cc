#include "attack/hiding_utility.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "assess/bootstrap.h"
#include "assess/verification.h"
#include "base/error.h"
#include "base/parallel.h"
#include "speaker/scoring.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kFairnessFmr = 0.01, kFairnessAlpha = 0.5;

Index At(std::size_t i) { return static_cast<Index>(i); }

bool HasBothClasses(const Trials& trials) {
  const auto n = std::count(trials.is_target.begin(), trials.is_target.end(), std::uint8_t{1});
  return n > 0 && n < std::ssize(trials.is_target);
}

// Of two categories at least, each with targets and non-targets.
bool CanBeFair(const GroupedTrials& trials) {
  std::vector<int> classes(trials.groups.size());
  for (std::size_t i = 0; i < trials.scores.size(); ++i) {
    classes[trials.group[i]] |= trials.is_target[i] != 0 ? 1 : 2;
  }
  return classes.size() > 1 &&
         std::all_of(classes.begin(), classes.end(), [](int both) { return both == 3; });
}

MatrixXf Columns(const MatrixXf& x, const std::vector<std::size_t>& places) {
  MatrixXf out(x.rows(), At(places.size()));
  for (std::size_t i = 0; i < places.size(); ++i) out.col(At(i)) = x.col(At(places[i]));
  return out;
}

}  // namespace

Resampled PairedRatio(const Resampled& before, const Resampled& after, double level) {
  Resampled ratio;
  ratio.value = ComparePair(PairedAs::kRatio, before.value, after.value);
  if (before.resamples.size() == after.resamples.size()) {
    ratio.interval = PairedInterval(PairedAs::kRatio, before.resamples, after.resamples, level);
  }
  return ratio;
}

HidingTrials::HidingTrials(const EmbeddingSet& set, const std::vector<int>& category,
                           const std::vector<std::string>& categories,
                           const std::vector<std::size_t>& places)
    : categories_(categories), places_(places) {
  std::map<std::string, std::vector<std::size_t>> by_speaker;
  for (std::size_t i = 0; i < places.size(); ++i) {
    by_speaker[set.speakers.at(places[i])].push_back(i);
  }
  speaker_of_.resize(places.size());
  std::vector<std::size_t> tried;
  for (const auto& [speaker, own] : by_speaker) {
    // Every second one, so that both halves have heard the same sessions.
    for (std::size_t k = 0; k < own.size(); ++k) {
      speaker_of_[own[k]] = speakers_.size();
      if (k % 2 == 1 || own.size() == 1) tried.push_back(own[k]);
    }
    std::vector<std::size_t> members;
    for (std::size_t k = 0; own.size() > 1 && k < own.size(); k += 2) {
      members.push_back(places[own[k]]);
    }
    template_members_.push_back(std::move(members));
    speakers_.push_back(speaker);
    speaker_category_.push_back(category.at(places[own.front()]));
  }
  pairs_ = NewPlan();
  templates_ = NewPlan();
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (std::size_t j = i + 1; j < places.size(); ++j) {
      AddTrial(pairs_, speaker_of_[i], j, {At(i), At(j)});
    }
  }
  for (std::size_t s = 0; s < speakers_.size(); ++s) {
    if (template_members_[s].empty()) continue;
    for (const std::size_t j : tried) AddTrial(templates_, s, j, {At(s), At(j)});
  }
  if (!HasBothClasses(pairs_.trials) || !HasBothClasses(templates_.trials)) {
    throw Error(
        fmt::format("{} voiceprints of {} speakers: two speakers, one of them with two "
                    "voiceprints, are needed",
                    places.size(), speakers_.size()));
  }
}

HidingTrials::Plan HidingTrials::NewPlan() const {
  Plan plan;
  plan.trials.enrol_spk.names = plan.trials.test_spk.names = speakers_;
  plan.trials.enrol_group.names = plan.trials.test_group.names = categories_;
  return plan;
}

void HidingTrials::AddTrial(Plan& plan, std::size_t enrol_speaker, std::size_t trial, Pair pair) {
  const std::size_t test_speaker = speaker_of_[trial];
  Trials& trials = plan.trials;
  trials.is_target.push_back(enrol_speaker == test_speaker ? 1 : 0);
  trials.enrol_spk.index.push_back(static_cast<std::uint32_t>(enrol_speaker));
  trials.test_spk.index.push_back(static_cast<std::uint32_t>(test_speaker));
  trials.enrol_group.index.push_back(static_cast<std::uint32_t>(speaker_category_[enrol_speaker]));
  trials.test_group.index.push_back(static_cast<std::uint32_t>(speaker_category_[test_speaker]));
  plan.pairs.push_back(pair);
}

Trials HidingTrials::Select(const Trials& trials, const std::vector<std::uint32_t>& rows) const {
  Trials out = NewPlan().trials;
  for (const std::uint32_t i : rows) {
    out.scores.push_back(trials.scores[i]);
    out.is_target.push_back(trials.is_target[i]);
    out.enrol_spk.index.push_back(trials.enrol_spk.index[i]);
    out.test_spk.index.push_back(trials.test_spk.index[i]);
    out.enrol_group.index.push_back(trials.enrol_group.index[i]);
    out.test_group.index.push_back(trials.test_group.index[i]);
  }
  return out;
}

Resampled HidingTrials::Eer(const Trials& trials, const IntervalOptions& options) const {
  Resampled eer;
  if (!HasBothClasses(trials)) return eer;
  eer.value = EerInterpolated(MakeLevels(trials));
  eer.resamples = ResampleTrials(trials, speakers_, options, EerInterpolated);
  eer.interval = PercentileInterval(eer.resamples, options.level);
  return eer;
}

void HidingTrials::MeasureFairness(const Trials& trials, const IntervalOptions& options,
                                   HidingUtility& utility) const {
  const Grouping grouping = GroupTrials(trials, trials.enrol_group, &trials.enrol_group,
                                        &trials.test_group, /*include_cross_group=*/false);
  const Trials within = Select(trials, grouping.kept);
  utility.same_category = Eer(within, options);
  for (std::size_t c = 0; c < categories_.size(); ++c) {
    std::vector<std::uint32_t> rows;
    for (std::size_t i = 0; i < within.size(); ++i) {
      if (within.enrol_group.index[i] == c) rows.push_back(static_cast<std::uint32_t>(i));
    }
    utility.by_category.push_back(Eer(Select(within, rows), options));
  }
  if (!CanBeFair(grouping.trials)) return;
  FairnessOptions fairness;
  fairness.alphas = {kFairnessAlpha};
  const FairnessResult all = FairnessMeter(grouping.trials, fairness).Measure();
  utility.au_fdr = all.au_fdr_linear[0];
  fairness.fmr_targets = {kFairnessFmr};
  const FairnessMeter meter(grouping.trials, fairness);
  const auto garbe = [&](std::span<const double> weights) {
    return meter.Measure(weights).points[0].garbe[0];
  };
  utility.fdr = meter.Measure().points[0].fdr[0];
  utility.garbe.value = garbe({});
  const TrialResampler resampler(within, speakers_);
  utility.garbe.resamples.assign(static_cast<std::size_t>(options.resamples), kNan);
  ParallelFor(utility.garbe.resamples.size(), options.jobs, [&](std::size_t r) {
    TrialResampler::Draw draw;
    resampler.Make(options.seed, r, draw);
    utility.garbe.resamples[r] = garbe(draw.trial);
  });
  utility.garbe.interval = PercentileInterval(utility.garbe.resamples, options.level);
}

HidingUtility HidingTrials::Measure(const ProtectedSides& sides, const IntervalOptions& options,
                                    bool only_eer) const {
  options.Validate();
  HidingUtility utility;
  const MatrixXf login = UnitLength(Columns(sides.login, places_));
  const MatrixXf enrolment = UnitLength(Columns(sides.enrolment, places_));
  MatrixXf templates = MatrixXf::Zero(login.rows(), At(template_members_.size()));
  for (std::size_t s = 0; s < template_members_.size(); ++s) {
    for (const std::size_t place : template_members_[s]) {
      templates.col(At(s)) += sides.enrolment.col(At(place)).normalized();
    }
  }
  const auto scored = [](const Plan& plan, const MatrixXf& scores) {
    Trials trials = plan.trials;
    for (const Pair& pair : plan.pairs) trials.scores.push_back(scores(pair.enrol, pair.trial));
    return trials;
  };
  utility.templates = Eer(scored(templates_, CosineScores(templates, login)), options);
  Trials pairs = scored(pairs_, CosineScores(enrolment, login));
  utility.pairs = Eer(pairs, options);
  const auto n = std::count(pairs.is_target.begin(), pairs.is_target.end(), std::uint8_t{1});
  utility.n_tar = static_cast<std::size_t>(n);
  utility.n_non = pairs.size() - utility.n_tar;
  if (only_eer) return utility;
  MeasureFairness(pairs, options, utility);
  for (std::size_t d = 0; d < sides.declared.size(); ++d) {
    const MatrixXf scores =
        CosineScores(enrolment, UnitLength(Columns(sides.declared[d], places_)));
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (pairs.is_target[i] != 0) continue;
      const double score = scores(pairs_.pairs[i].enrol, pairs_.pairs[i].trial);
      pairs.scores[i] = d == 0 ? score : std::max(pairs.scores[i], score);
    }
  }
  if (!sides.declared.empty()) utility.declared_other = Eer(pairs, options);
  return utility;
}

}  // namespace sotto
