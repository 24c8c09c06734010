// Entities of a text replaced with a known epsilon: algorithm 1 of the COMPRISE text transformer
// (D2.2, § 2.4). With probability p an entity becomes a surrogate t ~ π(t), which may be the entity
// itself, and with 1 − p it stays. Neighbours are texts of which one entity differs; what ε bounds,
// and what not, stands in replacement_epsilon.h.
//
// Three things that the source leaves open are decided here, since its lemma fails without them:
// - an entity that is no surrogate of its class cannot be drawn, so keeping it would tell it with
//   certainty: it is always replaced;
// - what stays is written as the surrogate would be (capitals, blanks), since its writing would
//   tell that it stayed;
// - whether the coin fell on "stay" is no figure of a record: counts are of entities found.
//
// Surrogates follow nothing of the entity but its type, unless asked: `keep_gender` and
// `keep_format` make π a distribution given the first name's gender, or given the form (how many
// words, which form of a date, lower or upper case, where digits and letters stand and whether a
// checksum holds). Then these are told, and ε holds among entities that are alike in them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "text/entity.h"
#include "text/letter_case.h"
#include "text/surrogates.h"

namespace sotto {

// A probability as a fraction, so that a coin of it can be thrown exactly.
struct Chance {
  std::uint64_t numerator = 1, denominator = 1;

  double Value() const { return static_cast<double>(numerator) / static_cast<double>(denominator); }
  bool IsOne() const { return numerator == denominator; }
  // "0.9", "9/10", "1". Throws Error for what is no number from 0 to 1 of up to 15 digits.
  static Chance Parse(std::string_view text, const std::string& name);

  friend bool operator==(const Chance&, const Chance&) = default;
};

enum class ReplaceWith : std::uint8_t { kSurrogate, kPlaceholder };  // "[PER]"

struct ReplacementOptions {
  ReplaceWith with = ReplaceWith::kSurrogate;
  Chance p;  // that a name, place, organisation, date or time is replaced
  // Patterns (e-mail … spelled) are always replaced: each digit of one that is kept costs ln 10
  // more, so that no p below 1 is of use. True: by p like the rest.
  bool p_for_patterns = false;
  // One draw, of coin and surrogate, for all mentions of an entity in a dialogue. It costs ε once,
  // and tells which mentions are of one entity. False: a draw for each mention.
  bool consistent = true;
  bool keep_gender = false;
  bool keep_format = false;
  std::array<bool, kEntityTypes> types = AllTypes();  // the others stay as they are

  static constexpr std::array<bool, kEntityTypes> AllTypes() {
    std::array<bool, kEntityTypes> all{};
    all.fill(true);
    return all;
  }
  Chance ChanceOf(EntityType type) const {
    return static_cast<std::size_t>(type) < kTaggedTypes || p_for_patterns ? p : Chance{};
  }
};

// Where a text comes from. Draws depend on it and on the key: two texts of one place are drawn
// together, so number the texts of a dialogue.
struct TextPlace {
  std::string_view dialogue;  // a conversation or a file
  std::uint64_t part = 0;     // the line, utterance or record within it
};

struct ReplacedText {
  // What was drawn for an entity. None of it belongs into a record but by ReplacementAccount.
  struct Draw {
    std::uint64_t id = 0;  // equal for mentions that share it; by the key
    EntityType type = EntityType::kPerson;
    double eps = 0.0;  // of this draw, given what it tells
  };

  std::string text;
  std::vector<Entity> entities;                      // where they stand in the new text
  std::array<std::uint64_t, kEntityTypes> counts{};  // of entities found and of the types asked
  std::vector<Draw> draws;                           // one for each entity
};

// Safe to use from several threads at a time; the result does not depend on their number.
class Replacer {
 public:
  // Throws Error where a type that is asked for has no surrogates. `surrogates` must outlive it.
  Replacer(const Surrogates& surrogates, const ReplacementOptions& options, const Key& key);

  // `entities` in order and without overlap (WithoutOverlap). Throws Error where they are not.
  ReplacedText Replace(std::string_view text, const std::vector<Entity>& entities,
                       const TextPlace& place) const;

  const ReplacementOptions& Options() const { return options_; }
  const Surrogates& Of() const { return surrogates_; }

 private:
  // Of the words around an entity.
  struct Letters {
    LetterCase rest = LetterCase::kAsItIs;
    bool begins_sentence = false;
  };
  struct Substitute;
  Substitute Draw(EntityType type, std::string_view original, BitSource& bits,
                  const Letters& letters) const;

  const Surrogates& surrogates_;
  ReplacementOptions options_;
  Key key_;
};

}  // namespace sotto
