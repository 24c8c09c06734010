// Labels of tokens: outside, or the beginning or the inside of an entity of one of the tagged types
// (Ramshaw and Marcus 1995, in the form "IOB2": every entity begins with B).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "text/entity.h"
#include "text/tokens.h"

namespace sotto {

using BioLabel = std::uint8_t;
inline constexpr BioLabel kOutside = 0;
inline constexpr std::size_t kBioLabels = 1 + 2 * kTaggedTypes;

constexpr BioLabel BeginOf(EntityType type) {
  return static_cast<BioLabel>(1 + 2 * static_cast<std::size_t>(type));
}
constexpr BioLabel InsideOf(EntityType type) { return static_cast<BioLabel>(BeginOf(type) + 1); }
constexpr bool IsBegin(BioLabel label) { return label % 2 == 1; }
// Of a label other than kOutside.
constexpr EntityType TypeOf(BioLabel label) { return static_cast<EntityType>((label - 1) / 2); }
// Whether a label may follow another; at the beginning of a sentence it follows kOutside.
constexpr bool MayFollow(BioLabel before, BioLabel label) {
  if (label == kOutside || IsBegin(label)) return true;
  return before == label || before + 1 == label;
}

// The entities that the labels say, as bytes of the text. An inside without a beginning is one.
std::vector<Entity> EntitiesOf(std::span<const Token> tokens, std::span<const BioLabel> labels);

}  // namespace sotto
