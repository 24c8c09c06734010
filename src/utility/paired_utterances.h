// Utterances of a corpus beside their protected copies.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/gender.h"

namespace sotto {

struct PairedUtterance {
  struct Place {
    std::filesystem::path path;
    double begin_s = 0.0, end_s = -1.0;  // −1: the end of the recording
  };
  std::string id, speaker;
  Gender gender = Gender::kUnknown;
  std::optional<std::string> text;  // what was said, where the originals say it
  Place original, released;
};

// Pairs by utterance id, in the order of the originals. Ids that are on one side only are an Error
// that counts them on both sides; so are transcripts that only some utterances have. Two sound
// files are a pair of their own. With `limit` > 0 that many utterances are kept: the first of each
// speaker, then the second of each, and so on.
std::vector<PairedUtterance> PairUtterances(const std::filesystem::path& original,
                                            const std::filesystem::path& released,
                                            std::size_t limit = 0);

// Indices of `limit` of the utterances by the rule above, ascending; all when `limit` is 0.
std::vector<std::size_t> SpreadOverSpeakers(const std::vector<PairedUtterance>& utterances,
                                            std::size_t limit);

// Indices of utterances by turns of their original recording, so that each is read once.
std::vector<std::vector<std::size_t>> GroupByRecording(
    const std::vector<PairedUtterance>& utterances);

// One side of the utterances `wanted`: the first channel at 16 kHz. A recording that holds several
// of them is read once (audio/cutter.h).
std::vector<std::vector<float>> ReadUtterances(const std::vector<PairedUtterance>& utterances,
                                               std::span<const std::size_t> wanted,
                                               PairedUtterance::Place PairedUtterance::*side);

}  // namespace sotto
