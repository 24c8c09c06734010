// How well entities are found: by whole entities (the CoNLL-2003 rule: an entity is right when its
// passage and its type are, Tjong Kim Sang and De Meulder 2003) and by tokens (what of the
// entities is covered at all, whatever it was taken for: what is not covered leaks).
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "text/bio_labels.h"
#include "text/entity.h"

namespace sotto {

struct EntityCounts {
  std::size_t marked = 0, found = 0, right = 0;

  // NaN where there is nothing to divide by.
  double Precision() const;
  double Recall() const;
  double F1() const;
  EntityCounts& operator+=(const EntityCounts& other);
};

struct TokenCounts {
  std::size_t entity = 0, covered = 0;  // tokens of marked entities, and those covered
  std::size_t other = 0, masked = 0;    // all other tokens, and those covered all the same

  double Recall() const;
  double Masked() const;
  TokenCounts& operator+=(const TokenCounts& other);
};

struct EntityScores {
  std::array<EntityCounts, kEntityTypes> types;
  TokenCounts tokens;

  // Of these types together ("micro").
  EntityCounts Total(std::span<const EntityType> types) const;
  EntityScores& operator+=(const EntityScores& other);
};

// Both in order and without overlap. `counted`: types whose entities are compared; found entities
// of other types are left out, and marked ones count in no way.
EntityScores ScoreEntities(std::span<const Entity> marked, std::span<const Entity> found,
                           std::span<const Token> tokens, std::span<const EntityType> counted);

}  // namespace sotto
