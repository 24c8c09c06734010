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
#include <optional>
#include <string>
#include <vector>

#include "assess/figure.h"
#include "assess/trials.h"

namespace sotto {

class TrialResampler {
 public:
  explicit TrialResampler(const Trials& trials);  // keeps a reference

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

// The percentile interval of resampled values, NaN left out; none when fewer than 10 are left.
std::optional<Interval> PercentileInterval(std::vector<double> values, double level);

}  // namespace sotto
