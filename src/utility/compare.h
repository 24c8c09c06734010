// Before and after: what a protection did to recordings, in figures.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dsp/voice_measures.h"

namespace sotto {

struct ComparedPair {
  std::string id, speaker;
  std::filesystem::path original, released;
  double seconds = 0.0;
  double level_change_db = 0.0;  // active speech level (ITU-T P.56), protected − original
  VoiceMeasures before, after;
};

// Relative change in per cent, where both sides could be measured.
std::optional<double> ChangePercent(const std::optional<double>& before,
                                    const std::optional<double>& after);

// Pairs the recordings of two corpora by id (or two files) and measures each on its first channel.
// A recording without its counterpart, or with another number of samples, is an Error.
std::vector<ComparedPair> CompareCorpora(const std::filesystem::path& original,
                                         const std::filesystem::path& released, int jobs);

// One protected copy of the originals.
struct ComparedCopy {
  std::string name;  // on the page
  std::vector<ComparedPair> pairs;
};

// The same for several copies of one corpus (or file), each named after its folder or file; names
// that clash are numbered.
std::vector<ComparedCopy> CompareCopies(const std::filesystem::path& original,
                                        const std::vector<std::filesystem::path>& released,
                                        int jobs);

}  // namespace sotto
