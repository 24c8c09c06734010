// The words of a corpus, by speaker, with what the corpus says of the speakers.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "audio/corpus.h"
#include "text/word_corpus.h"

namespace sotto {

// Gender as the corpus tells it, and age where a manifest has the column: below 20 (as in COMPRISE
// D2.2; "teens", or a number) or above. Utterances without a transcript are left out; attributes
// with fewer than kFewestOfClass speakers of a class are left out and noted. Throws Error when the
// corpus is bad or no utterance has a transcript.
WordCorpus ReadWordCorpus(const std::filesystem::path& path);
inline constexpr std::size_t kFewestOfClass = 10;

// 1: below 20, 0: 20 or more, −1: not known.
int ParseAgeGroup(std::string_view age);

// Where an utterance id says what was read: LibriSpeech's "speaker-chapter-utterance", numbers all
// of them. The chapter; none for other ids.
std::optional<long> ChapterOf(std::string_view utterance, std::string_view speaker);

}  // namespace sotto
