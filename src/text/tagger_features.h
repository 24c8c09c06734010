// What the tagger sees of each token: its word and those around it, beginnings and ends of words,
// shapes (only where the text has capitals), lists of names (gazetteers.h) and classes of words
// (numbers, months, titles, …), alone and in pairs. Each feature is a 32-bit hash of its template
// and its values (Weinberger et al. 2009); the model holds those that it has weights for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "text/gazetteers.h"
#include "text/tokens.h"

namespace sotto {

class FeatureRow {
 public:
  std::size_t Tokens() const { return ends_.size(); }
  std::span<const std::uint32_t> operator[](std::size_t token) const {
    const std::size_t begin = token == 0 ? 0 : ends_[token - 1];
    return {ids_.data() + begin, ends_[token] - begin};
  }
  void Clear() {
    ids_.clear();
    ends_.clear();
  }
  void Add(std::uint32_t id) { ids_.push_back(id); }
  void EndToken() { ends_.push_back(ids_.size()); }

 private:
  std::vector<std::uint32_t> ids_;
  std::vector<std::size_t> ends_;
};

// Features of all tokens of a sentence. Words with `unknown` set (empty: none) are taken for words
// nobody has seen: training leaves some out so that the rest must speak.
void ExtractFeatures(std::string_view text, std::span<const Token> tokens,
                     const Gazetteers& gazetteers, FeatureRow& row,
                     const std::vector<bool>& unknown = {});

}  // namespace sotto
