#include "text/own_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "base/error.h"
#include "base/files.h"
#include "text/text_stream.h"
#include "text/utf8.h"

namespace sotto {
namespace {

constexpr std::uint32_t kUnknown = std::numeric_limits<std::uint32_t>::max();

std::vector<Token> Runs(std::string_view text) {
  std::vector<Token> runs;
  std::size_t begin = 0;
  bool inside = false;
  for (std::size_t at = 0; at < text.size();) {
    const Rune rune = DecodeUtf8(text, at);
    const bool word = rune.valid && IsWordCharacter(rune.code);
    if (word && !inside) begin = at;
    if (!word && inside) runs.push_back({begin, at});
    inside = word;
    at += rune.size;
  }
  if (inside) runs.push_back({begin, text.size()});
  return runs;
}

std::string_view Of(std::string_view text, const Token& token) {
  return text.substr(token.begin, token.end - token.begin);
}

}  // namespace

OwnWords::OwnWords(std::string_view list, const std::string& where) {
  LineReader lines(MemorySource(std::string(list)), where);
  while (const std::optional<TextLine> line = lines.Next()) {
    if (line->Text().find_first_not_of(" \t") == std::string_view::npos) continue;
    const std::string lower = LowerCase(line->Text());
    const std::vector<Token> runs = Runs(lower);
    if (runs.empty()) throw lines.Failure(line->number, "no word; each line is a word or a phrase");
    std::size_t node = 0;
    for (const Token& run : runs) {
      const auto number = static_cast<std::uint32_t>(words_.size());
      const std::uint32_t word = words_.emplace(Of(lower, run), number).first->second;
      const auto [next, is_new] = nodes_[node].next.emplace(word, nodes_.size());
      node = next->second;
      if (is_new) nodes_.emplace_back();
    }
    phrases_ += nodes_[node].ends ? 0 : 1;
    nodes_[node].ends = true;
  }
  if (phrases_ == 0) throw Error(fmt::format("{}: empty; each line is a word or a phrase", where));
}

OwnWords OwnWords::Read(const std::filesystem::path& path) {
  return {ReadTextFile(path), fmt::format("'{}'", path.string())};
}

std::vector<Token> OwnWords::Find(std::string_view text) const {
  const std::string lower = LowerCase(text);
  const std::vector<Token> runs = Runs(lower);
  std::vector<std::uint32_t> numbers(runs.size());
  std::string word;
  std::transform(runs.begin(), runs.end(), numbers.begin(), [&](const Token& run) {
    word = Of(lower, run);
    const auto known = words_.find(word);
    return known == words_.end() ? kUnknown : known->second;
  });
  std::vector<Token> found;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::size_t node = 0;
    for (std::size_t k = i; k < runs.size(); ++k) {
      const auto next = nodes_[node].next.find(numbers[k]);
      if (next == nodes_[node].next.end()) break;
      node = next->second;
      if (!nodes_[node].ends) continue;
      if (!found.empty() && found.back().end > runs[i].begin) {
        found.back().end = std::max(found.back().end, runs[k].end);
      } else {
        found.push_back({runs[i].begin, runs[k].end});
      }
    }
  }
  return found;
}

}  // namespace sotto
