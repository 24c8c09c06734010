// Bootstrap intervals for figures that are not made from trials alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "assess/figure.h"
#include "base/random.h"

namespace sotto {

struct IntervalOptions {
  int resamples = 1000;  // 0 for no intervals
  double level = 0.95;
  std::uint64_t seed = 1;
  int jobs = 1;  // the intervals do not depend on it
  void Validate() const;
};

// The generator of resample r: depends on the seed and r alone.
SeededRng ResampleRng(std::uint64_t seed, std::uint64_t r);

// How often each of n units (speakers, utterances) was drawn in n draws with replacement.
std::vector<double> DrawUnits(SeededRng& rng, std::size_t n);

// n of n values, with replacement.
std::vector<double> DrawValues(SeededRng& rng, const std::vector<double>& values);

// Percentile intervals of all figures; `measure(r)` gives their values on resample r in the same
// order, NaN where one does not exist.
void AddIntervals(std::vector<Figure>& figures, const IntervalOptions& options,
                  const std::function<std::vector<double>(std::uint64_t)>& measure);

}  // namespace sotto
