// What a ladder of attackers found: one row for each attacker, back-end, kind of impostors and
// number of enrolment utterances. Made by room attack, shown by room report.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "assess/attackers.h"
#include "assess/figure.h"
#include "assess/identification.h"
#include "assess/trials.h"
#include "base/gender.h"

namespace sotto {

struct LadderRow {
  Attacker attacker = Attacker::kUnprotected;
  std::string backend;    // "cosine", "plda", …
  std::string impostors;  // "all" or "same_gender"; of an attribute attacker "none"
  int l = 0;              // enrolment utterances averaged; 0: all there are
  bool ran = false;
  std::string reason;  // why it did not run, or what one must know about a row that did
  std::vector<Figure> figures;
  std::string bootstrap;

  bool LinksSpeakers() const { return InfoOf(attacker).links_speakers; }
  bool LinksVoices() const { return LinksSpeakers() && !InfoOf(attacker).by_words; }
  // Null when there is no such figure.
  const Figure* Find(std::string_view name) const;
  double Value(std::string_view name) const;  // NaN without the figure
};

// The learning of a retrained attacker.
struct AttackerCurvePoint {
  double step = 0.0;
  double loss = 0.0;
  double held_out_eer = 0.0;
};

// An embedding in the plane.
struct MapPoint {
  std::string id, speaker;
  Gender gender = Gender::kUnknown;
  bool released = false;
  double x = 0.0, y = 0.0;
};

struct LadderResult {
  std::vector<LadderRow> unprotected;  // original against original: what the attacker can do at all
  std::vector<LadderRow> rows;
  std::size_t worst = kNone;        // row with the lowest EER of those that ran and link voices
  std::vector<ZooSpeaker> exposed;  // by the worst row, most exposed first
  Trials worst_trials;              // of that row, for plots
  std::vector<AttackerCurvePoint> curve;  // of the retrained encoder; empty without
  std::vector<MapPoint> map;
  std::vector<std::string> notes;
  std::size_t speakers = 0, enrolment = 0, trials = 0;

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
};

// For each attacker who links speakers, in the order they first appear, the row with the lowest EER
// among those on `impostors`, any where that is empty (its first row when none of them ran).
// Indices into `rows`.
std::vector<std::size_t> LowestRows(const std::vector<LadderRow>& rows,
                                    std::string_view impostors = {});

// The row with the lowest EER of all that ran and link voices; kNone when there is none.
std::size_t LowestRow(const std::vector<LadderRow>& rows);

// The row of the same attacker, back-end and l on other impostors; kNone when there is none.
std::size_t SiblingRow(const std::vector<LadderRow>& rows, std::size_t row,
                       std::string_view impostors);

}  // namespace sotto
