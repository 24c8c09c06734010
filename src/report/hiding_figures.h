// A study of defences that hide an attribute in voiceprints, as JSON, CSV and text.
#pragma once

#include <string>
#include <vector>

#include "attack/hiding_study.h"
#include "report/assess_page.h"

namespace sotto {

// Everything, and the published points.
std::string HidingJson(const HidingStudy& study);
// A line for each defence and part: what the tables of the page show, in plain numbers.
std::string HidingCsv(const HidingStudy& study);
// The table of all voices and where the page lies.
std::string HidingText(const HidingStudy& study, const std::string& page);

// One line for each defence but points of the curves: what it costs and the best attackers, each
// with its name. `part`: its place in every row's list.
PageTable HidingTable(const HidingStudy& study, std::size_t part);
// The same lines: templates, what eps allows, fairness.
PageTable HidingDetails(const HidingStudy& study, std::size_t part);
// What one must know to read it.
std::vector<std::string> HidingNotes(const HidingStudy& study);

// "leace", "gender-aae (eps-train 15) at eps 15".
std::string DefenceName(const StudiedDefence& defence);
// 0.912 [0.88, 0.94]; "–" for what is not applicable.
std::string WithInterval(double value, const std::optional<Interval>& interval, double factor,
                         int digits);

}  // namespace sotto
