#include "assess/figure.h"

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

}  // namespace sotto
