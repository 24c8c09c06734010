// Which part of the corpora each sentence is of (labelled_corpora.h).
#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "text/labelled_corpora.h"
#include "text/utf8.h"

namespace sotto {
namespace {

// Words alone, for finding sentences that are one.
std::string Words(std::string_view text) {
  std::string words;
  for (const auto& token : Tokenise(text)) {
    if (!IsWordCharacter(DecodeUtf8(text, token.begin).code)) continue;
    words += LowerCase(text.substr(token.begin, token.end - token.begin));
    words += ' ';
  }
  return words;
}

std::uint64_t Fnv(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  hash ^= hash >> 32U;
  return hash * 0x9E3779B97F4A7C15U >> 11U;
}

}  // namespace

void SplitCorpora(std::vector<LabelledCorpus>& corpora) {
  std::vector<LabelledSentence*> all;
  for (auto& corpus : corpora) {
    for (auto& sentence : corpus.sentences) all.push_back(&sentence);
  }
  // Sentences that share words or a template, as sets (Tarjan 1975).
  std::vector<std::size_t> parent(all.size());
  std::iota(parent.begin(), parent.end(), std::size_t{0});
  const auto root = [&](std::size_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  std::map<std::string, std::size_t> first;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const auto& key : {"w " + Words(all[i]->text), "t " + Words(all[i]->pattern)}) {
      if (key.size() <= 2) continue;
      const auto at = first.try_emplace(key, i).first->second;
      // The smaller is the root, so that the hash below is of the first sentence.
      const std::size_t a = root(at), b = root(i);
      parent[std::max(a, b)] = std::min(a, b);
    }
  }
  std::vector<bool> reported(all.size(), false);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i]->part == CorpusPart::kReport) reported[root(i)] = true;
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t group = root(i);
    const auto draw = Fnv("split " + Words(all[group]->pattern)) % 100;
    all[i]->part = reported[group] || draw < 15 ? CorpusPart::kReport
                   : draw < 25                  ? CorpusPart::kTune
                                                : CorpusPart::kTrain;
  }
}

}  // namespace sotto
