// What every figure carries besides its value, so that no number is printed without its meaning.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sotto {

enum class Direction {
  kHigherIsMorePrivate,
  kLowerIsMorePrivate,
  kHigherIsFairer,
  kLowerIsFairer,
  kLowerIsBetter,   // error rates of our own side: recognisers, countermeasures
  kHigherIsBetter,  // what a protection leaves: naturalness, melody
  kNeither,
};

std::string_view DirectionText(Direction direction);  // "higher is more private", …

// A bootstrap percentile interval.
struct Interval {
  double low = 0.0;
  double high = 0.0;
  double level = 0.95;
};

struct Figure {
  std::string name;  // the JSON name: "cllr_min"
  double value = 0.0;
  std::string unit;  // "bit", "dB", "probability", "" for plain ratios
  Direction direction = Direction::kNeither;
  std::string attacker;                                     // who made the scores, empty if unknown
  std::vector<std::pair<std::string, std::size_t>> counts;  // ("n_tar", 860), ("n_non", 23880)
  std::optional<Interval> interval;
  std::string remark;  // why the value is NaN, what else one must know
};

// Null when there is no figure of that name.
const Figure* FindFigure(std::span<const Figure> figures, std::string_view name);

}  // namespace sotto
