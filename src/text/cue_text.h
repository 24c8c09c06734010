// What can be read of a line of a subtitle: its text without tags and character references.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/entity.h"
#include "text/passage.h"

namespace sotto {

// Adds raw[begin, end), a line of a cue, to `map`: tags are left out, and references ("&amp;",
// WebVTT alone) stand for their character. The name in <v Name> is put between line ends and added
// to `known` as a person.
void AddCueLine(std::string_view raw, std::size_t begin, std::size_t end, bool references,
                SourceMap& map, std::vector<Entity>& known);

// As WebVTT writes text: '&', '<' and '>' as references.
std::string CueEncoded(std::string_view text);

// Whether a sentence ends with this text: not after "Dr." or a single letter, nor at "…".
bool EndsSentence(std::string_view text);

// The seconds of a timing line, "00:01:02,500 --> 00:01:04,000 …" or with full stops, hours left
// out or not. Absent: it is none.
struct CueTimes {
  double begin_s = 0.0, end_s = 0.0;
};
std::optional<CueTimes> ParseTimingLine(std::string_view line);

}  // namespace sotto
