// What a corpus says besides its sound: the transcripts of utterances, and columns of its manifest.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "audio/corpus.h"

namespace sotto {

// By utterance: Kaldi's "text", the column "text" of a manifest. Empty ones are absent; a folder of
// sounds has none.
std::map<std::string, std::string> Transcripts(const Corpus& corpus);

// The column of a manifest by speaker, where all rows of the speaker that fill it in agree; others
// are absent. Kaldi's dirs and folders have no columns.
std::map<std::string, std::string> SpeakerColumn(const Corpus& corpus, std::string_view column);

}  // namespace sotto
