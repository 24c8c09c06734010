// Surrogates: what stands in for an entity, a word or a row of words of the same type (COMPRISE
// D2.2, § 2.4: π(t), the relative frequency of t among the entities of its class in a corpus).
//
// A class holds words with counts ("anna 12") and forms with counts, whose slots are drawn from
// lists: "{first} {last}", "{day} of {month}". Of a form's surrogate, π is the share of the form
// times the share of what is in each slot. A text that comes about in several ways has more than
// LeastShare() says of each: ε from it is an upper bound.
//
// Draws are exact: whole numbers below the sum of counts, no floating-point number (dp/bits.h).
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/gender.h"
#include "dp/bits.h"
#include "text/check_digits.h"
#include "text/entity.h"

namespace sotto {

// What of an entity its surrogate keeps and therefore tells: π is a distribution for each value.
struct SurrogateCondition {
  Gender gender = Gender::kUnknown;  // of a person's first name; unknown: either, or none
  // Of Surrogates' groups: one form, or the words of a class that are equally many; absent: all.
  std::optional<std::size_t> group;

  friend bool operator==(const SurrogateCondition&, const SurrogateCondition&) = default;
};

// Blanks in runs become one, letters lower case: what is one entity in a dialogue.
std::string NormalisedEntity(std::string_view text);

class Surrogates {
 public:
  // A row of the file: `word` of a class, `form` of a class, or `part` of a list.
  struct Row {
    std::string kind, name;
    Gender gender = Gender::kUnknown;
    std::uint64_t count = 1;
    std::string text;
  };

  // Throws Error that names `where`, the line and what is allowed there.
  Surrogates(std::string source, std::uint64_t min_count, std::vector<Row> rows,
             const std::string& where);

  const std::string& Source() const { return source_; }
  // How many people (or lines, where a corpus does not name them) used each word at least.
  std::uint64_t MinCount() const { return min_count_; }
  const std::vector<Row>& Rows() const { return rows_; }

  bool Has(EntityType type) const { return !Of(type).empty(); }
  // Throws Error for a class without any.
  void Require(EntityType type) const;

  // What these tell of an entity: the gender of its first name, and the group it belongs to (where
  // it is no surrogate itself, the words that are as many as its own; where there are none, all).
  SurrogateCondition Told(EntityType type, std::string_view entity, bool gender, bool form) const;
  // Every condition that Told() may give.
  std::vector<SurrogateCondition> Conditions(EntityType type, bool gender, bool form) const;

  // t ~ π(t | condition).
  std::string Draw(EntityType type, const SurrogateCondition& condition, BitSource& bits) const;
  // The surrogate that is this entity but for capitals and blanks, as Draw would write it; absent
  // where Draw never gives it.
  std::optional<std::string> Find(EntityType type, const SurrogateCondition& condition,
                                  std::string_view entity) const;
  // ln of the least π(t | condition).
  double LogLeastShare(EntityType type, const SurrogateCondition& condition) const;

  // π(t | condition) of every t, as exactly as doubles are: for small classes. Throws Error above
  // 100,000 texts.
  std::map<std::string, double> Shares(EntityType type, const SurrogateCondition& condition) const;

 private:
  // Texts with counts, all of them or those of one gender.
  struct List {
    struct Choice {
      std::vector<std::size_t> members;       // of `texts`
      std::vector<std::uint64_t> cumulative;  // counts up to and including each
      std::uint64_t least = 0;

      std::uint64_t Total() const { return cumulative.empty() ? 0 : cumulative.back(); }
    };
    std::vector<std::string> texts;
    std::vector<Gender> genders;
    std::vector<std::uint64_t> counts;
    std::map<std::string, std::size_t, std::less<>> by_normalised;
    std::array<Choice, 3> choices;  // of any gender, female, male

    bool Gendered() const { return choices[1].Total() + choices[2].Total() > 0; }
    // All where the gender is not known, or where the list does not know any.
    const Choice& Of(Gender gender) const;
  };
  // Between slots, or a slot.
  struct Piece {
    std::string literal;
    const List* list = nullptr;  // null: a literal, or check digits
    CheckDigits check = CheckDigits::kNone;
  };
  // One form, or the words of a class that are equally many.
  struct Group {
    std::uint64_t count = 0;  // of a form
    std::size_t words = 0;
    std::vector<Piece> pieces;  // one, of a list, for words
    bool is_form = false;

    // 0 where there is none of the gender.
    std::uint64_t Count(Gender gender) const;
  };
  struct Matching;

  const std::vector<Group>& Of(EntityType type) const {
    return classes_[static_cast<std::size_t>(type)];
  }
  void AddRow(const Row& row, const std::string& where);
  void AddForm(const Row& row, const std::string& where);
  // Those of the condition, with their counts in it.
  std::vector<std::pair<const Group*, std::uint64_t>> Groups(
      EntityType type, const SurrogateCondition& condition) const;
  Gender GenderOf(EntityType type, const std::string& normalised) const;

  std::string source_;
  std::uint64_t min_count_ = 1;
  std::vector<Row> rows_;
  std::map<std::string, std::unique_ptr<List>, std::less<>> lists_;  // "first"; "PER 2"
  std::array<std::vector<Group>, kEntityTypes> classes_;
};

// The file: "sotto-surrogates<TAB>1", "source<TAB>…", "min_count<TAB>…", then a table with the
// columns kind, name, gender, count, text. Throws Error that names `where` and the line.
Surrogates ParseSurrogates(std::string_view text, const std::string& where);
Surrogates ReadSurrogates(const std::filesystem::path& path);
std::string SurrogatesText(const Surrogates& surrogates);

// Those of the program, from public lists of names and places (docs/provenance.md).
const Surrogates& ProgramSurrogates();

}  // namespace sotto
