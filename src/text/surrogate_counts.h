// π(t) from a corpus: entities counted, and the rare ones left out.
//
// A surrogate is a word that somebody of the corpus said. Who reads a pack learns that it was said,
// and a rare name is a person's: only words that at least `min_people` different people used become
// surrogates. That is a threshold on counts and no differential privacy: a pack of a private corpus
// is for those who may see the corpus.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "text/entity.h"
#include "text/surrogates.h"

namespace sotto {

inline constexpr std::uint64_t kDefaultMinPeople = 5;

class SurrogateCounts {
 public:
  // `who` said it: a speaker; where a corpus does not name them, a line. What no pack may hold (no
  // UTF-8, control characters, longer than 200 bytes) is left out and counted.
  void Add(EntityType type, std::string_view entity, std::string_view who);

  struct OfType {
    std::uint64_t entities = 0, words = 0;  // counted: all, different
    std::uint64_t kept_entities = 0, kept_words = 0;
    std::uint64_t unfit = 0;
  };
  // The words of `min_people` people or more. First names that `genders` has get their gender.
  // Classes that the corpus leaves empty are `fill`'s, where it is given. Throws Error where
  // nothing is left.
  Surrogates Build(std::uint64_t min_people, const std::string& source,
                   const Surrogates* genders = nullptr, const Surrogates* fill = nullptr) const;
  std::array<OfType, kEntityTypes> Summary(std::uint64_t min_people) const;

 private:
  struct Word {
    std::map<std::string, std::uint64_t, std::less<>> writings;  // with other capitals
    std::uint64_t count = 0;
    std::set<std::uint64_t> people;  // hashes
  };
  std::array<std::map<std::string, Word, std::less<>>, kEntityTypes> words_;
  std::array<std::uint64_t, kEntityTypes> unfit_{};
};

}  // namespace sotto
