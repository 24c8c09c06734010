// What a row of digits is: a card, a telephone number, an id, a number worth hiding, or none.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "text/entity.h"
#include "text/patterns_characters.h"

namespace sotto {

// What stands around the row.
struct NumberContext {
  bool plus = false;       // "+" or "plus" before it
  bool extension = false;  // "x506", "extension five oh six" behind it
  bool phone_cue = false, id_cue = false, card_cue = false, number_cue = false;  // words before it
  bool code_cue = false;
};

struct NumberVerdict {
  EntityType type = EntityType::kNumber;
  double confidence = 0.0;
};

// All items are digits.
std::string JoinedDigits(std::span<const CodeItem> items);

// 13 to 19 digits that satisfy Luhn's formula.
bool IsCard(std::span<const CodeItem> items);
// The first items, from items[first] on, that are a card of an issuer's own prefix and length;
// their number, 0 where there is none. For rows that are longer than a card: what follows it is a
// date and a code.
std::size_t CardWithin(std::span<const CodeItem> items, std::size_t first);

// The kind of the row as a whole; none where nobody is singled out by it (the rule stands in
// text/patterns.h).
std::optional<NumberVerdict> JudgeDigits(std::span<const CodeItem> items,
                                         const NumberContext& context);

}  // namespace sotto
