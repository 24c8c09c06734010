// JSON lines (one object a line): the text is the string of one field, and all else of the line
// stays byte for byte. A field that is there twice is searched twice, since programs differ in
// which of the two they take.
#pragma once

#include <string>

#include "text/passage.h"
#include "text/text_stream.h"

namespace sotto {

struct JsonLineFields {
  std::string text = "text";
  std::string dialogue{};  // whose value names the conversation of a line; empty: none does
};

// Throws Error for a line that is no JSON object, for a field that is missing or no string, and for
// control characters behind escapes (what a finder reads has to be what is shown). Blank lines are
// kept. `lines` must outlive it.
std::unique_ptr<PassageReader> ReadJsonLines(LineReader& lines, JsonLineFields fields);

}  // namespace sotto
