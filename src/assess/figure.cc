#include "assess/figure.h"

#include <algorithm>

namespace sotto {

std::string_view DirectionText(Direction direction) {
  // In the order of the enumeration.
  constexpr std::string_view kTexts[] = {
      "higher is more private",
      "lower is more private",
      "higher is fairer",
      "lower is fairer",
      "lower is better",
      "higher is better",
      "neither direction is more private",
  };
  return kTexts[static_cast<std::size_t>(direction)];
}

const Figure* FindFigure(std::span<const Figure> figures, std::string_view name) {
  const auto found = std::find_if(figures.begin(), figures.end(),
                                  [name](const Figure& figure) { return figure.name == name; });
  return found == figures.end() ? nullptr : &*found;
}

}  // namespace sotto
