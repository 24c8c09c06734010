// Any bytes as plain text, JSON lines, CTM, SRT or WebVTT (the first byte says which): an Error, or
// passages that are the text again where nothing is replaced; and where all tokens are replaced, or
// rows of some, what comes out can be read again and no token of the input is in it.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "text/redact.h"

namespace {

constexpr std::string_view kPlaceholder = "[X]";

sotto::TextFormat FormatBy(std::uint8_t byte) {
  switch (byte) {
    case 'j':
      return sotto::TextFormat::kJsonLines;
    case 'c':
      return sotto::TextFormat::kCtm;
    case 's':
      return sotto::TextFormat::kSrt;
    case 'v':
      return sotto::TextFormat::kWebVtt;
    default:
      return sotto::TextFormat::kPlain;
  }
}

// Rows of `length` tokens, each of them an edit.
std::vector<sotto::TextEdit> AllReplaced(const std::string& text, std::size_t length) {
  const auto tokens = sotto::Tokenise(text);
  std::vector<sotto::TextEdit> edits;
  for (std::size_t i = 0; i < tokens.size(); i += length) {
    const std::size_t last = std::min(i + length, tokens.size()) - 1;
    edits.push_back({tokens[i].begin, tokens[last].end, std::string(kPlaceholder)});
  }
  return edits;
}

std::string Written(const std::string& text, sotto::TextFormat format, std::size_t length) {
  sotto::LineReader lines(sotto::MemorySource(text), "fuzz");
  const auto reader = sotto::ReadPassages(lines, format);
  std::string written;
  while (const auto passage = reader->Next()) {
    for (const sotto::Entity& known : passage->Known()) {
      if (known.begin >= known.end || known.end > passage->Text().size()) std::abort();
    }
    written +=
        length == 0 ? passage->Write({}) : passage->Write(AllReplaced(passage->Text(), length));
  }
  return lines.Mark() + written;
}

// Throws Error where `text` is none of the format.
void RequireOnlyPlaceholders(const std::string& text, sotto::TextFormat format) {
  constexpr std::array<std::string_view, 5> kAllowed = {"[", "X", "]", ".", "…"};
  sotto::LineReader lines(sotto::MemorySource(text), "fuzz");
  const auto reader = sotto::ReadPassages(lines, format);
  while (const auto passage = reader->Next()) {
    const std::string_view searched = passage->Text();
    for (const sotto::Token& token : sotto::Tokenise(searched)) {
      const std::string_view word = searched.substr(token.begin, token.end - token.begin);
      bool known = false;
      for (const std::string_view allowed : kAllowed) known = known || word == allowed;
      if (!known) std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const sotto::TextFormat format = FormatBy(data[0]);
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::string same;
  try {
    same = Written(text, format, 0);
  } catch (const sotto::Error&) {
    return 0;
  }
  if (same != text) std::abort();
  for (const std::size_t length : {1, 3}) {
    RequireOnlyPlaceholders(Written(text, format, length), format);
  }
  return 0;
}
