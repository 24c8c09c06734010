// Before and after (utility/compare.h) as JSON, text and a page to listen to.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "utility/compare.h"

namespace sotto {

struct ComparePageOptions {
  std::filesystem::path page;           // where it will lie: sound files are linked relative to it
  std::size_t players = 8;              // recordings shown with players and spectrograms
  std::vector<double> times_real_time;  // of the runs that made the copies; empty: not said
};

// One HTML page without scripts or network: figures first, then players and spectrograms, the
// copies of a recording beside its original. All copies must be of the same recordings.
std::string ComparePage(const std::vector<ComparedCopy>& copies, const ComparePageOptions& options);

// An array of recordings: id, speaker, seconds, level_change_db, protected (where there are several
// copies), then f0_hz, f1_hz, f2_hz and f3_hz as [before, after].
std::string CompareJson(const std::vector<ComparedCopy>& copies);
std::string CompareText(const std::vector<ComparedCopy>& copies);

// The speed that an output of sotto anonymise --json tells; an Error for any other file.
double ReadTimesRealTime(const std::filesystem::path& run);

}  // namespace sotto
