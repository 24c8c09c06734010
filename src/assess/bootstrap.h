// Bootstrap of trials. Trials that share a speaker are not independent, so speakers are drawn: n of
// n with replacement, and a trial weighs w(enrolment speaker)·w(test speaker). Without speakers (or
// with one alone) trials are drawn within each class, which gives intervals that are too narrow for
// speech data; callers must say so.
//
// Draw r depends on the seed and r alone, so results do not depend on threads or on the number of
// resamples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assess/figure.h"
#include "assess/intervals.h"
#include "assess/levels.h"
#include "assess/trials.h"

namespace sotto {

class TrialResampler {
 public:
  explicit TrialResampler(const Trials& trials);  // keeps a reference
  // Draws from this list of two or more speakers, in its order: resamplers of other trials with the
  // same list draw the same speakers. Throws Error for trials without speakers, or with one that
  // the list lacks.
  TrialResampler(const Trials& trials, const std::vector<std::string>& speakers);

  bool SpeakerLevel() const { return n_speakers_ > 0; }
  std::size_t Speakers() const { return n_speakers_; }
  // "speaker-level (40 speakers)" or "trial-level (no speakers given)".
  std::string Describe() const;

  struct Draw {
    std::vector<double> trial;    // weight of each trial, whole numbers
    std::vector<double> speaker;  // weight of each speaker; empty when trial-level
  };
  void Make(std::uint64_t seed, std::uint64_t r, Draw& draw) const;
  // Weight of the speaker of trial i's test recording; speaker-level only.
  double TestSpeakerWeight(const Draw& draw, std::size_t i) const { return draw.speaker[test_[i]]; }

 private:
  const Trials& trials_;
  std::size_t n_speakers_ = 0;
  std::vector<std::uint32_t> enrol_;  // speaker numbers common to both sides
  std::vector<std::uint32_t> test_;
  std::vector<std::uint32_t> tar_;  // trial numbers by class
  std::vector<std::uint32_t> non_;
};

// Scores of two classes, sorted once, under the weights of one resample after another.
class WeightedLevels {
 public:
  WeightedLevels(std::span<const double> scores, std::span<const std::uint8_t> is_target);

  const ScoreLevels& Levels() const { return levels_; }  // every score once
  // Sets the weights in `scratch`, a copy of Levels(): weights[i], a whole number, is how often
  // score i counts. Afterwards n_tar or n_non may be 0.
  void Weigh(std::span<const double> weights, ScoreLevels& scratch) const;

 private:
  ScoreLevels levels_;
  std::vector<std::uint32_t> level_;  // of each score
  std::vector<std::uint8_t> is_target_;
};

// A figure of trials on each resample of the speakers, NaN where a resample lacks a class. With the
// same speakers and options the places belong together: what PairedInterval takes.
std::vector<double> ResampleTrials(const Trials& trials, const std::vector<std::string>& speakers,
                                   const IntervalOptions& options,
                                   const std::function<double(const ScoreLevels&)>& figure);

// The percentile interval of resampled values, NaN left out; none when fewer than 10 are left.
std::optional<Interval> PercentileInterval(std::vector<double> values, double level);

}  // namespace sotto
