// What is left of the speaker in voiceprints whose attributes are hidden (speaker/hider.h), and
// whether it is left to all groups alike. Both sides of a trial are protected, with draws of their
// own: that of the enrolment and that of the login are two releases.
//
// Equal error rates here are those of the service that recognises its users: LOW is good. Two ways:
//   pairs      every two utterances, one from each side
//   templates  the mean of half of a speaker's utterances, against every other utterance of
//              everybody (Chouchane et al. 2023)
// Intervals are over speakers; the same seed draws the same speakers for every defence, so that
// ratios can be paired (PairedInterval).
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "assess/fairness.h"
#include "assess/intervals.h"
#include "assess/trials.h"
#include "speaker/embeddings.h"

namespace sotto {

// A figure and its values on the resamples.
struct Resampled {
  double value = std::numeric_limits<double>::quiet_NaN();  // NaN: not applicable
  std::optional<Interval> interval;
  std::vector<double> resamples;
};

// after/before, with the interval of the ratio on the same draws.
Resampled PairedRatio(const Resampled& before, const Resampled& after, double level);

// One column for each voiceprint tested.
struct ProtectedSides {
  Eigen::MatrixXf enrolment, login;
  // Logins of people who declare a category that is not theirs: the next one, the one after it …
  // Empty where the defence does not ask.
  std::vector<Eigen::MatrixXf> declared;
};

struct HidingUtility {
  Resampled pairs, templates;
  Resampled same_category;             // pairs; impostors of the speaker's own category alone
  std::vector<Resampled> by_category;  // the same, of each category
  // Pairs; every impostor declares the category, not their own, that brings them closest.
  Resampled declared_other;
  // Of pairs within categories, at a pooled FMR of 1 %, alpha ½; the area under FDR over 0.1 to
  // 10 %. NaN where a category has no trials of both classes.
  Resampled garbe;
  double fdr = std::numeric_limits<double>::quiet_NaN();
  double au_fdr = std::numeric_limits<double>::quiet_NaN();
  std::size_t n_tar = 0, n_non = 0;  // of pairs
};

// The trials of some voiceprints, made once and scored for every defence.
class HidingTrials {
 public:
  // `places`: of the voiceprints of `set` that take part, each of a category. Throws Error without
  // two speakers, or without a speaker of two voiceprints.
  HidingTrials(const EmbeddingSet& set, const std::vector<int>& category,
               const std::vector<std::string>& categories, const std::vector<std::size_t>& places);

  // `only_eer`: pairs and templates, nothing else.
  HidingUtility Measure(const ProtectedSides& sides, const IntervalOptions& options,
                        bool only_eer = false) const;
  std::size_t Speakers() const { return speakers_.size(); }
  std::size_t Utterances() const { return places_.size(); }

 private:
  struct Pair {
    Eigen::Index enrol, trial;
  };
  struct Plan {
    Trials trials;  // without scores
    std::vector<Pair> pairs;
  };
  void AddTrial(Plan& plan, std::size_t enrol_speaker, std::size_t trial, Pair pair);
  Plan NewPlan() const;
  // The trials at these rows.
  Trials Select(const Trials& trials, const std::vector<std::uint32_t>& rows) const;
  Resampled Eer(const Trials& trials, const IntervalOptions& options) const;
  void MeasureFairness(const Trials& trials, const IntervalOptions& options,
                       HidingUtility& utility) const;

  std::vector<std::string> speakers_;    // in order of name
  std::vector<std::string> categories_;  //
  std::vector<int> speaker_category_;
  std::vector<std::size_t> places_, speaker_of_;            // of the voiceprints that take part
  std::vector<std::vector<std::size_t>> template_members_;  // places, of each template
  Plan pairs_, templates_;
};

}  // namespace sotto
