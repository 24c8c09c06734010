#include "assess/figure.h"

#include <algorithm>

namespace sotto {

std::string_view DirectionText(Direction direction) {
  switch (direction) {
    case Direction::kHigherIsMorePrivate:
      return "higher is more private";
    case Direction::kLowerIsMorePrivate:
      return "lower is more private";
    case Direction::kHigherIsFairer:
      return "higher is fairer";
    case Direction::kLowerIsFairer:
      return "lower is fairer";
    case Direction::kLowerIsBetter:
      return "lower is better";
    case Direction::kHigherIsBetter:
      return "higher is better";
    case Direction::kNeither:
      break;
  }
  return "neither direction is more private";
}

const Figure* FindFigure(std::span<const Figure> figures, std::string_view name) {
  const auto found = std::find_if(figures.begin(), figures.end(),
                                  [name](const Figure& figure) { return figure.name == name; });
  return found == figures.end() ? nullptr : &*found;
}

}  // namespace sotto
