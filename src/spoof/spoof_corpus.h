// Recordings for a countermeasure: which are genuine, and by which attack the others were made.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "audio/utterances.h"

namespace sotto {

// The attack of genuine speech in tables of scores, as ASVspoof writes it.
inline constexpr const char* kNoAttack = "-";

struct SpoofCorpora {
  UtteranceList list;
  std::vector<std::optional<bool>> bona_fide;  // of each utterance; nothing: nobody says
  std::vector<std::string> attacks;  // of each; kNoAttack unless it is known to be a spoof
};

// Corpora (audio/corpus.h) or sound files of genuine speech, of spoofs and of speech nobody
// labelled. The attack of a spoof is what its manifest's column "attack" or else "engine" says,
// "spoof" where there is none. One speaker may be in several. Throws Error when a corpus is bad,
// two share an utterance id, or there is no utterance at all.
SpoofCorpora ListSpoofCorpora(const std::vector<std::filesystem::path>& bona_fide,
                              const std::vector<std::filesystem::path>& spoof,
                              const std::vector<std::filesystem::path>& unknown = {});

// Calls use(i, samples) from several threads for each utterance of `wanted`: mono at kSpoofRateHz,
// of longer ones the first kSpoofLongestS. Returns, for each utterance of the list, why there was
// no result ("2 channels, one is wanted", what `use` threw as an Error), empty where all went well.
std::vector<std::string> HearUtterances(
    const UtteranceList& list, std::span<const std::size_t> wanted, int jobs,
    const std::function<void(std::size_t, std::span<const float>)>& use);

}  // namespace sotto
