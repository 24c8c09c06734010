// A text read line by line in bounded memory, from a file, a pipe or memory. Lines are UTF-8
// without control characters (base/text.h); what breaks the rule is refused with its line and byte
// and never quoted, since messages end in logs.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace sotto {

// Bytes of one line, and of whatever is held together (an utterance, cues of one sentence).
inline constexpr std::size_t kLargestPassage = std::size_t{64} << 20;

// The next bytes, up to `count`; 0 at the end.
using ByteSource = std::function<std::size_t(char* to, std::size_t count)>;
ByteSource FileSource(const std::filesystem::path& path);  // throws Error as InputFile
ByteSource StandardInputSource();                          // a terminal too
ByteSource MemorySource(std::string text);

struct TextLine {
  std::string bytes;       // with its end: LF, CRLF, or none at the end of the text
  std::size_t number = 1;  // counts from 1

  std::string_view Text() const;  // without its end
  std::string_view End() const;
};

class LineReader {
 public:
  // `where` names the text in messages: "'talk.srt'", "standard input".
  LineReader(ByteSource source, std::string where)
      : source_(std::move(source)), where_(std::move(where)) {}

  // Absent at the end. Throws Error for what is no clean text, and for a line above
  // kLargestPassage.
  std::optional<TextLine> Next();
  // The line that Next() gives next.
  void PutBack(TextLine line) { waiting_ = std::move(line); }

  // What the text began with and no line holds: a byte-order mark of UTF-8, or nothing.
  const std::string& Mark() const { return mark_; }
  const std::string& Where() const { return where_; }

  // "where: line 3: what", "where: line 3, byte 7: what" (bytes count from 1).
  Error Failure(std::size_t line, const std::string& what) const;
  Error Failure(std::size_t line, std::size_t byte, const std::string& what) const;

 private:
  bool Fill();
  void TakeMark();

  ByteSource source_;
  std::string where_, mark_;
  std::string buffer_;
  std::size_t begin_ = 0;  // of what was not given away
  std::size_t lines_ = 0;
  bool ended_ = false;
  std::optional<TextLine> waiting_;
};

}  // namespace sotto
