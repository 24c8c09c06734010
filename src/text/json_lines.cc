#include "text/json_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/text.h"
#include "text/utf8.h"

namespace sotto {
namespace {

constexpr int kDeepest = 200;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// A string of the line: where it stands, quotes included, and what it says.
struct JsonString {
  std::size_t begin = 0, end = 0;
  SourceMap map;
};

// One line by RFC 8259, with the places of what it holds: the readers of JSON at hand do not tell
// them.
class JsonCursor {
 public:
  JsonCursor(const LineReader& lines, const TextLine& line)
      : lines_(lines), number_(line.number), text_(line.Text()) {}

  [[noreturn]] void Fail(const std::string& what) const {
    throw lines_.Failure(number_, std::min(at_, text_.size()) + 1, what);
  }
  std::size_t At() const { return at_; }
  std::string_view From(std::size_t begin) const { return text_.substr(begin, at_ - begin); }
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void SkipBlanks() {
    while (Peek() == ' ' || Peek() == '\t') ++at_;
  }
  bool Take(char c) {
    SkipBlanks();
    if (Peek() != c) return false;
    ++at_;
    return true;
  }
  void Expect(char c, const char* what) {
    if (!Take(c)) Fail(what);
  }
  void ExpectEnd() {
    SkipBlanks();
    if (at_ < text_.size()) Fail("more than one JSON object; each has a line of its own");
  }

  JsonString String() {
    SkipBlanks();
    JsonString string;
    string.begin = at_;
    Expect('"', "no JSON: a string was expected");
    while (true) {
      std::size_t stop = at_;
      // Tabs are control characters to JSON.
      while (stop < text_.size() && text_[stop] != '"' && text_[stop] != '\\' &&
             text_[stop] != '\t') {
        ++stop;
      }
      string.map.Add(at_, text_.substr(at_, stop - at_));
      at_ = stop;
      if (Peek() == '"') break;
      if (Peek() != '\\') Fail("no JSON: a string does not end");
      Escape(string.map);
    }
    string.end = ++at_;
    return string;
  }

  void SkipValue(int depth = 0) {
    if (depth > kDeepest) Fail(fmt::format("JSON is nested deeper than {} levels", kDeepest));
    SkipBlanks();
    const char c = Peek();
    if (c == '"') {
      String();
    } else if (c == '{') {
      ++at_;
      for (bool more = !Take('}'); more; more = Next('}')) {
        String();
        Expect(':', "no JSON: ':' was expected");
        SkipValue(depth + 1);
      }
    } else if (c == '[') {
      ++at_;
      for (bool more = !Take(']'); more; more = Next(']')) SkipValue(depth + 1);
    } else if (c == '-' || IsDigit(c)) {
      Number();
    } else {
      Word();
    }
  }

  // After an element: whether there is another one.
  bool Next(char close) {
    if (Take(',')) return true;
    if (!Take(close)) Fail(fmt::format("no JSON: ',' or '{}' was expected", close));
    return false;
  }

 private:
  void Digits() {
    if (!IsDigit(Peek())) Fail("no JSON: a digit was expected");
    while (IsDigit(Peek())) ++at_;
  }

  void Number() {
    if (Peek() == '-') ++at_;
    if (Peek() == '0') {
      ++at_;
    } else {
      Digits();
    }
    if (Peek() == '.') {
      ++at_;
      Digits();
    }
    if (Peek() == 'e' || Peek() == 'E') {
      ++at_;
      if (Peek() == '+' || Peek() == '-') ++at_;
      Digits();
    }
  }

  void Word() {
    for (const std::string_view word : {"true", "false", "null"}) {
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return;
      }
    }
    Fail("no JSON: a value was expected");
  }

  char32_t Hex4() {
    char32_t code = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = Peek();
      const char lower = static_cast<char>(c | 0x20);
      if (!IsDigit(c) && (lower < 'a' || lower > 'f')) {
        Fail("no JSON: \\u takes four hexadecimal digits");
      }
      code = code << 4U | static_cast<char32_t>(IsDigit(c) ? c - '0' : lower - 'a' + 10);
    }
    return code;
  }

  // At a backslash.
  void Escape(SourceMap& map) {
    const std::size_t begin = at_++;
    const char c = Peek();
    constexpr std::string_view kNames = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
    std::string meant;
    if (c == 'u') {
      ++at_;
      char32_t code = Hex4();
      if (code >= 0xD800 && code < 0xDC00 && text_.substr(at_).starts_with("\\u")) {
        at_ += 2;
        const char32_t low = Hex4();
        if (low < 0xDC00 || low > 0xDFFF) Fail("half of a surrogate pair");
        code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
      }
      if (code >= 0xD800 && code <= 0xDFFF) Fail("half of a surrogate pair");
      AppendUtf8(code, meant);
    } else {
      const std::size_t name = at_ < text_.size() ? kNames.find(c) : std::string_view::npos;
      if (name == std::string_view::npos) Fail("no JSON: no such escape");
      meant = kMeant[name];
      ++at_;
    }
    map.AddCoded(begin, at_, meant);
  }

  const LineReader& lines_;
  const std::size_t number_;
  const std::string_view text_;
  std::size_t at_ = 0;
};

// What stands between quotes. `ascii`: a line without other characters stays without them.
std::string Encoded(std::string_view text, bool ascii) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const Rune rune = DecodeUtf8(text, at);
    const char32_t code = rune.code;
    if (code == '"' || code == '\\') {
      result += '\\';
      result += static_cast<char>(code);
    } else if (code < 0x20 || (ascii && code >= 0x10000) || (ascii && code >= 0x7F)) {
      if (code >= 0x10000) {
        result += fmt::format("\\u{:04x}\\u{:04x}",
                              static_cast<std::uint32_t>(0xD800 + ((code - 0x10000) >> 10U)),
                              static_cast<std::uint32_t>(0xDC00 + (code & 0x3FFU)));
      } else {
        result += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(code));
      }
    } else {
      result += text.substr(at, rune.size);
    }
    at += rune.size;
  }
  return result;
}

class JsonLines : public PassageReader {
 public:
  JsonLines(LineReader& lines, JsonLineFields fields) : lines_(lines), fields_(std::move(fields)) {}

  std::unique_ptr<Passage> Next() override {
    std::optional<TextLine> line = lines_.Next();
    if (!line) return nullptr;
    if (line->Text().find_first_not_of(" \t") == std::string_view::npos) {
      return std::make_unique<VerbatimPassage>(std::move(line->bytes));
    }
    return Read(std::move(*line));
  }

 private:
  // The strings of the text field, all in one: what is between them is in none of them.
  void Append(const JsonString& string, const TextLine& line, SourceMap& text) const {
    if (FindUnclean(string.map.Text()) != std::string::npos) {
      throw lines_.Failure(line.number, string.begin + 1,
                           fmt::format("'{}' holds a control character behind an escape; text "
                                       "without control characters is read",
                                       fields_.text));
    }
    if (!text.Text().empty()) text.AddJoint("\n");
    text.Append(string.map);
  }

  std::unique_ptr<Passage> Read(TextLine line) const {
    JsonCursor cursor(lines_, line);
    SourceMap text;
    std::string dialogue;
    bool has_text = false, has_dialogue = fields_.dialogue.empty();
    cursor.Expect('{', "no JSON object; each line holds one");
    for (bool more = !cursor.Take('}'); more; more = cursor.Next('}')) {
      const std::string name = cursor.String().map.Text();
      cursor.Expect(':', "no JSON: ':' was expected");
      cursor.SkipBlanks();
      if (name == fields_.text) {
        if (cursor.Peek() != '"') cursor.Fail(fmt::format("'{}' is no string", fields_.text));
        Append(cursor.String(), line, text);
        has_text = true;
        continue;
      }
      const std::size_t begin = cursor.At();
      cursor.SkipValue();
      if (name == fields_.dialogue && !fields_.dialogue.empty()) {
        dialogue = cursor.From(begin);
        has_dialogue = true;
      }
    }
    cursor.ExpectEnd();
    if (!has_text) throw Missing(line, fields_.text);
    if (!has_dialogue) throw Missing(line, fields_.dialogue);
    const bool ascii = std::all_of(line.bytes.begin(), line.bytes.end(),
                                   [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    return std::make_unique<MappedPassage>(
        std::move(line.bytes), std::move(text),
        [ascii](std::string_view added) { return Encoded(added, ascii); }, std::move(dialogue));
  }

  Error Missing(const TextLine& line, const std::string& field) const {
    return lines_.Failure(line.number, fmt::format("no field '{}'", field));
  }

  LineReader& lines_;
  const JsonLineFields fields_;
};

}  // namespace

std::unique_ptr<PassageReader> ReadJsonLines(LineReader& lines, JsonLineFields fields) {
  return std::make_unique<JsonLines>(lines, std::move(fields));
}

}  // namespace sotto
