// The one door to finding: a tagger for names, dates and times, and the patterns, as one list.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/entity.h"

namespace sotto {

// What finds some types of entities. Finders are safe to use from several threads at a time.
class EntityFinder {
 public:
  virtual ~EntityFinder() = default;
  // In order, without overlap. A text of any length in one call; memory grows with it.
  virtual std::vector<Entity> Find(std::string_view text) const = 0;
};

}  // namespace sotto
