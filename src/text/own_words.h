// Words and phrases of the user's own that are to go, whatever a finder says of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/tokens.h"

namespace sotto {

// What stands in their place; they have no type, so no surrogate.
inline constexpr std::string_view kOwnWordName = "WORD";
inline constexpr std::string_view kOwnWordPlaceholder = "[WORD]";

// Phrases as rows of whole words. Words are runs of letters, digits and marks; whatever stands
// between them (blanks, line ends, punctuation, signs) does not count: "smith jones" is found in
// "Smith-Jones" and in "Smith, Jones", "smith" in "Smith's", but not in "Smithson". Capitals do
// not count, accents do.
class OwnWords {
 public:
  // One phrase a line; blank lines count for nothing. Throws Error for a line without a word, and
  // where there is no phrase; `where` names the list, no message quotes it.
  OwnWords(std::string_view list, const std::string& where);
  static OwnWords Read(const std::filesystem::path& path);

  // In order, without overlap: what overlaps is one.
  std::vector<Token> Find(std::string_view text) const;
  std::size_t Phrases() const { return phrases_; }

 private:
  // A tree of phrases, word by word.
  struct Node {
    std::unordered_map<std::uint32_t, std::size_t> next;  // by the word's number
    bool ends = false;
  };

  std::unordered_map<std::string, std::uint32_t> words_;
  std::vector<Node> nodes_{1};
  std::size_t phrases_ = 0;
};

}  // namespace sotto
