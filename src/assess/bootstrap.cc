#include "assess/bootstrap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "assess/interner.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/random.h"

namespace sotto {
namespace {

// Speaker numbers for both columns from one list of names.
std::size_t NumberSpeakers(const Trials& trials, std::vector<std::uint32_t>& enrol,
                           std::vector<std::uint32_t>& test) {
  Interner interner;
  const auto number = [&interner](const IdColumn& column, std::vector<std::uint32_t>& out) {
    std::vector<std::uint32_t> of_name;
    for (const std::string& name : column.names) of_name.push_back(interner.Add(name));
    for (const std::uint32_t i : column.index) out.push_back(of_name[i]);
  };
  number(trials.enrol_spk, enrol);
  number(trials.test_spk, test);
  return interner.TakeNames().size();
}

// Adds n draws with replacement from n items to the items' weights.
template <typename WeightOf>
void DrawWithReplacement(SeededRng& rng, std::size_t n, const WeightOf& weight_of) {
  for (std::size_t i = 0; i < n; ++i) weight_of(rng.Below(n)) += 1.0;
}

}  // namespace

TrialResampler::TrialResampler(const Trials& trials) : trials_(trials) {
  if (trials.HasSpeakers()) n_speakers_ = NumberSpeakers(trials, enrol_, test_);
  if (n_speakers_ > 1) return;
  n_speakers_ = 0;
  for (std::uint32_t i = 0; i < trials.size(); ++i) {
    (trials.is_target[i] != 0 ? tar_ : non_).push_back(i);
  }
}

TrialResampler::TrialResampler(const Trials& trials, const std::vector<std::string>& speakers)
    : trials_(trials), n_speakers_(speakers.size()) {
  if (!trials.HasSpeakers() || speakers.size() < 2) {
    throw Error(fmt::format("resampling speakers: {}", trials.HasSpeakers()
                                                           ? "two or more must be given"
                                                           : "the trials name none"));
  }
  std::unordered_map<std::string, std::uint32_t> number;
  for (const std::string& name : speakers) {
    number.emplace(name, static_cast<std::uint32_t>(number.size()));
  }
  const auto place = [&number](const IdColumn& column, std::vector<std::uint32_t>& out) {
    std::vector<std::uint32_t> of_name;
    for (const std::string& name : column.names) {
      const auto found = number.find(name);
      if (found == number.end()) {
        throw Error(fmt::format("resampling speakers: '{}' is not among the speakers given", name));
      }
      of_name.push_back(found->second);
    }
    for (const std::uint32_t i : column.index) out.push_back(of_name[i]);
  };
  place(trials.enrol_spk, enrol_);
  place(trials.test_spk, test_);
}

std::string TrialResampler::Describe() const {
  if (SpeakerLevel()) return fmt::format("speaker-level ({} speakers)", n_speakers_);
  return trials_.HasSpeakers() ? "trial-level (one speaker alone)"
                               : "trial-level (no speakers given)";
}

void TrialResampler::Make(std::uint64_t seed, std::uint64_t r, Draw& draw) const {
  SeededRng rng(MixBits(MixBits(seed + 1) ^ (r + 0x9e3779b97f4a7c15U)));
  draw.trial.assign(trials_.size(), 0.0);
  if (!SpeakerLevel()) {
    draw.speaker.clear();
    for (const auto* members : {&tar_, &non_}) {
      DrawWithReplacement(rng, members->size(),
                          [&](std::size_t k) -> double& { return draw.trial[(*members)[k]]; });
    }
    return;
  }
  draw.speaker.assign(n_speakers_, 0.0);
  DrawWithReplacement(rng, n_speakers_, [&](std::size_t k) -> double& { return draw.speaker[k]; });
  for (std::size_t i = 0; i < draw.trial.size(); ++i) {
    draw.trial[i] = draw.speaker[enrol_[i]] * draw.speaker[test_[i]];
  }
}

WeightedLevels::WeightedLevels(std::span<const double> scores,
                               std::span<const std::uint8_t> is_target)
    : levels_(MakeLevels(scores, is_target)), is_target_(is_target.begin(), is_target.end()) {
  level_.reserve(scores.size());
  for (const double score : scores) {
    const auto found =
        std::lower_bound(levels_.levels.begin(), levels_.levels.end(), score,
                         [](const Level& level, double s) { return level.score < s; });
    level_.push_back(static_cast<std::uint32_t>(found - levels_.levels.begin()));
  }
}

void WeightedLevels::Weigh(std::span<const double> weights, ScoreLevels& scratch) const {
  for (Level& level : scratch.levels) level.tar = level.non = 0.0;
  scratch.n_tar = scratch.n_non = 0.0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    Level& level = scratch.levels[level_[i]];
    (is_target_[i] != 0 ? level.tar : level.non) += weights[i];
    (is_target_[i] != 0 ? scratch.n_tar : scratch.n_non) += weights[i];
  }
}

std::vector<double> ResampleTrials(const Trials& trials, const std::vector<std::string>& speakers,
                                   const IntervalOptions& options,
                                   const std::function<double(const ScoreLevels&)>& figure) {
  options.Validate();
  const TrialResampler resampler(trials, speakers);
  const WeightedLevels levels(trials.scores, trials.is_target);
  constexpr std::size_t kChunk = 8;  // resamples that share their buffers
  const auto n = static_cast<std::size_t>(options.resamples);
  std::vector<double> values(n, std::numeric_limits<double>::quiet_NaN());
  ParallelFor((n + kChunk - 1) / kChunk, options.jobs, [&](std::size_t chunk) {
    ScoreLevels scratch = levels.Levels();
    TrialResampler::Draw draw;
    for (std::size_t r = chunk * kChunk; r < std::min(n, (chunk + 1) * kChunk); ++r) {
      resampler.Make(options.seed, r, draw);
      levels.Weigh(draw.trial, scratch);
      if (scratch.n_tar > 0.0 && scratch.n_non > 0.0) values[r] = figure(scratch);
    }
  });
  return values;
}

std::optional<Interval> PercentileInterval(std::vector<double> values, double level) {
  std::erase_if(values, [](double v) { return std::isnan(v); });
  constexpr std::size_t kFewest = 10;
  if (values.size() < kFewest) return std::nullopt;
  std::sort(values.begin(), values.end());
  const auto quantile = [&values](double share) {
    const double at = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    if (values[below] == values[above]) return values[below];  // infinities too
    return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
  };
  return Interval{quantile((1.0 - level) / 2.0), quantile((1.0 + level) / 2.0), level};
}

}  // namespace sotto
