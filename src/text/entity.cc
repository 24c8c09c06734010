#include "text/entity.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "base/error.h"

namespace sotto {

EntityType ParseEntityType(std::string_view name) {
  std::string upper(name);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const auto* at = std::find(kEntityNames.begin(), kEntityNames.end(), upper);
  if (at == kEntityNames.end()) {
    throw Error(fmt::format("'{}' is no type of entity: these are {}", name,
                            fmt::join(kEntityNames, ", ")));
  }
  return static_cast<EntityType>(at - kEntityNames.begin());
}

namespace {

// The rule, of entities that overlap each other.
std::vector<Entity> Settled(std::span<Entity> entities) {
  const auto by_place = [](const Entity& a, const Entity& b) { return a.begin < b.begin; };
  std::sort(entities.begin(), entities.end(), [](const Entity& a, const Entity& b) {
    return std::tuple(b.end - b.begin, b.confidence, a.type, a.begin) <
           std::tuple(a.end - a.begin, a.confidence, b.type, b.begin);
  });
  std::vector<Entity> kept;  // in order of place
  for (const auto& entity : entities) {
    // The first that ends behind the beginning of this one, and all that overlap it after that.
    auto at = std::partition_point(kept.begin(), kept.end(),
                                   [&](const Entity& k) { return k.end <= entity.begin; });
    std::vector<Entity> pieces;
    Entity piece = entity;
    for (; at != kept.end() && at->begin < entity.end; ++at) {
      piece.end = at->begin;
      if (piece.begin < piece.end) pieces.push_back(piece);
      piece.begin = at->end;
    }
    piece.end = entity.end;
    if (piece.begin < piece.end) pieces.push_back(piece);
    for (const auto& p : pieces) {
      kept.insert(std::upper_bound(kept.begin(), kept.end(), p, by_place), p);
    }
  }
  return kept;
}

}  // namespace

std::vector<Entity> WithoutOverlap(std::vector<Entity> entities) {
  std::sort(entities.begin(), entities.end(), [](const Entity& a, const Entity& b) {
    return std::tuple(a.begin, a.end, a.type) < std::tuple(b.begin, b.end, b.type);
  });
  // Those that overlap, directly or by others, are settled among themselves: a text with many
  // entities takes no longer for each.
  std::vector<Entity> kept;
  for (std::size_t first = 0; first < entities.size();) {
    std::size_t last = first + 1, end = entities[first].end;
    while (last < entities.size() && entities[last].begin < end) {
      end = std::max(end, entities[last++].end);
    }
    if (last == first + 1) {
      kept.push_back(entities[first]);
    } else {
      const auto settled = Settled(std::span(entities).subspan(first, last - first));
      kept.insert(kept.end(), settled.begin(), settled.end());
    }
    first = last;
  }
  std::erase_if(kept, [](const Entity& entity) { return entity.begin >= entity.end; });
  return kept;
}

}  // namespace sotto
