// Lists of names: of persons, places and countries. The tagger asks of a phrase in which of them it
// stands; a model file holds the lists as 32-bit hashes alone (of 250,000 phrases about one in
// 17,000 that stand in none has the hash of one that does).
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sotto {

// As they are written.
struct NameLists {
  std::vector<std::string> female, male;     // first names, English-speaking countries
  std::vector<std::string> first;            // first names of many countries, of any gender
  std::vector<std::string> common_surnames;  // the most frequent of the United States
  std::vector<std::string> surnames;         // of the United States
  std::vector<std::string> other_surnames;   // of other countries
  std::vector<std::string> cities, regions, countries;
};

// From a folder as ../shared/data/names has them. Error where nothing of it is there.
NameLists ReadNameLists(const std::filesystem::path& folder);

// A bit for each list.
using NameKinds = std::uint16_t;
inline constexpr NameKinds kFemaleName = 1, kMaleName = 2, kFirstName = 4, kCommonSurname = 8,
                           kSurname = 16, kOtherSurname = 32, kCity = 64, kRegion = 128,
                           kCountry = 256;
inline constexpr std::size_t kNameKinds = 9;

// FNV-1a (Fowler, Noll, Vo 1991), 32 bits, one word after the other; words are lower case.
inline constexpr std::uint32_t kNoWords = 0x811C9DC5U;
std::uint32_t HashOfWords(std::uint32_t before, std::string_view word);

class Gazetteers {
 public:
  static constexpr std::size_t kLongestPhrase = 5;  // in words

  Gazetteers() = default;
  explicit Gazetteers(const NameLists& lists);
  // Hashes ascend. Throws Error naming `where` when they do not, or the sizes differ.
  Gazetteers(std::vector<std::uint32_t> hashes, std::vector<NameKinds> kinds,
             const std::string& where);

  // Of the phrase that has this hash (HashOfWords over its words, from kNoWords); 0: none.
  NameKinds Find(std::uint32_t hash) const;

  std::span<const std::uint32_t> Hashes() const { return hashes_; }
  std::span<const NameKinds> Kinds() const { return kinds_; }

 private:
  void Index();

  std::vector<std::uint32_t> hashes_;
  std::vector<NameKinds> kinds_;
  std::vector<std::uint32_t> first_;  // of each value of the top bits, where its hashes begin
};

}  // namespace sotto
