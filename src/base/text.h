// Text from outside: ids, labels, transcripts, names of files. One rule for all of it: UTF-8
// without control characters, those that turn the direction of writing among them. A table that
// breaks the rule is refused with its line, so that no output (JSON, a page, a released table) has
// to carry what it cannot. Messages quote what they found all the same; whatever is printed is
// escaped first, since a terminal obeys control characters.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sotto {

// Where the rule is broken first, npos where it holds. Control characters are C0, DEL, C1, and the
// embeddings, overrides and isolates of U+202A–202E and U+2066–2069, after which text is shown in
// another order than it has; tabs and line ends (LF, CRLF) are allowed.
std::size_t FindUnclean(std::string_view text);

// What is wrong there: "'a\xff' is no UTF-8", "'a\u001b' holds a control character".
std::string DescribeUnclean(std::string_view text, std::size_t at);

// Throws Error "<where>: line <n>: …" for the first line that breaks the rule; the first line of
// `text` is number `first_line`.
void RequireClean(std::string_view text, const std::string& where, std::size_t first_line = 1);

// For the eyes: bytes that are no UTF-8 as \xff; control characters, tabs and line ends, and what
// turns the direction of writing, as \u001b (which in JSON means the same as before).
std::string Printable(std::string_view text);

// The same for a stream that comes in pieces, where tabs and line ends stay as they are.
class Escaper {
 public:
  // What can be printed of all that was pushed; the beginning of a character waits for its rest.
  std::string Push(std::string_view bytes);
  // What still waits, at the end.
  std::string Finish();

 private:
  std::string waiting_;
};

}  // namespace sotto
