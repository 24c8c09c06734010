#include "text/entity_scores.h"

#include <algorithm>
#include <limits>

namespace sotto {
namespace {

double Share(std::size_t part, std::size_t whole) {
  return whole == 0 ? std::numeric_limits<double>::quiet_NaN()
                    : static_cast<double>(part) / static_cast<double>(whole);
}

// Whether each token lies in one of the entities of the types, even in part.
std::vector<bool> Covered(std::span<const Entity> entities, std::span<const Token> tokens,
                          std::span<const EntityType> counted) {
  std::vector<bool> covered(tokens.size(), false);
  std::size_t at = 0;
  for (const auto& entity : entities) {
    if (std::find(counted.begin(), counted.end(), entity.type) == counted.end()) continue;
    while (at < tokens.size() && tokens[at].end <= entity.begin) ++at;
    for (std::size_t i = at; i < tokens.size() && tokens[i].begin < entity.end; ++i) {
      covered[i] = true;
    }
  }
  return covered;
}

}  // namespace

double EntityCounts::Precision() const { return Share(right, found); }
double EntityCounts::Recall() const { return Share(right, marked); }
double EntityCounts::F1() const { return Share(2 * right, marked + found); }

EntityCounts& EntityCounts::operator+=(const EntityCounts& other) {
  marked += other.marked;
  found += other.found;
  right += other.right;
  return *this;
}

double TokenCounts::Recall() const { return Share(covered, entity); }
double TokenCounts::Masked() const { return Share(masked, other); }

TokenCounts& TokenCounts::operator+=(const TokenCounts& more) {
  entity += more.entity;
  covered += more.covered;
  other += more.other;
  masked += more.masked;
  return *this;
}

EntityCounts EntityScores::Total(std::span<const EntityType> of) const {
  EntityCounts total;
  for (const auto type : of) total += types[static_cast<std::size_t>(type)];
  return total;
}

EntityScores& EntityScores::operator+=(const EntityScores& other) {
  for (std::size_t i = 0; i < types.size(); ++i) types[i] += other.types[i];
  tokens += other.tokens;
  return *this;
}

EntityScores ScoreEntities(std::span<const Entity> marked, std::span<const Entity> found,
                           std::span<const Token> tokens, std::span<const EntityType> counted) {
  EntityScores scores;
  const auto counts = [&](EntityType type) {
    return std::find(counted.begin(), counted.end(), type) != counted.end();
  };
  for (const auto& entity : marked) {
    if (!counts(entity.type)) continue;
    auto& own = scores.types[static_cast<std::size_t>(entity.type)];
    ++own.marked;
    own.right +=
        static_cast<std::size_t>(std::any_of(found.begin(), found.end(), [&](const Entity& other) {
          return other.type == entity.type && other.begin == entity.begin &&
                 other.end == entity.end;
        }));
  }
  for (const auto& entity : found) {
    if (counts(entity.type)) ++scores.types[static_cast<std::size_t>(entity.type)].found;
  }
  const auto of_marked = Covered(marked, tokens, counted);
  const auto of_found = Covered(found, tokens, counted);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    ++(of_marked[i] ? scores.tokens.entity : scores.tokens.other);
    if (of_found[i]) ++(of_marked[i] ? scores.tokens.covered : scores.tokens.masked);
  }
  return scores;
}

}  // namespace sotto
