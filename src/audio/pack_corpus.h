// From corpora to one pack of decoded speech (speech_pack.h).
#pragma once

#include <filesystem>
#include <vector>

#include "audio/speech_pack.h"

namespace sotto {

// Decodes the first channel of every utterance at 16 kHz, in the order of the corpora. An utterance
// id or a speaker that two corpora share is an Error unless the speaker is meant to be the same one
// (`merge_speakers`). The run record of a protected corpus (sotto-run.json) travels with it; it
// must be the same for all corpora.
SpeechPack PackCorpora(const std::vector<std::filesystem::path>& corpora, bool merge_speakers,
                       int jobs);

}  // namespace sotto
