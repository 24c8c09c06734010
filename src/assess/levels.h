// Scores of two classes, sorted and with ties pooled: what every figure of this room is made from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sotto {

// One distinct score and how many (or with which bootstrap weight) targets and non-targets have it.
struct Level {
  double score = 0.0;
  double tar = 0.0;
  double non = 0.0;
};

// Rising scores, at least one target and one non-target in all. Counts are whole numbers held in
// doubles, so that sums are exact up to 2^53. Levels with no weight at all are allowed.
struct ScoreLevels {
  std::vector<Level> levels;
  double n_tar = 0.0;
  double n_non = 0.0;
};

// Throws Error when a class is empty or a score is NaN; infinities are legal. −0 equals +0.
ScoreLevels MakeLevels(std::span<const double> tar, std::span<const double> non);
ScoreLevels MakeLevels(std::span<const double> scores, std::span<const std::uint8_t> is_target);

// Sorts rising; no NaN allowed. A radix sort on the bits (−0 becomes +0): at ten million scores
// about four times faster than std::sort.
void SortScores(std::vector<double>& scores);

}  // namespace sotto
