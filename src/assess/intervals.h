// Bootstrap intervals for figures that are not made from trials alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
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

// How figure b stands to figure a.
enum class PairedAs { kDifference, kRatio };  // b − a, b/a
double ComparePair(PairedAs as, double a, double b);

// The percentile interval of that over resamples in which both were measured on the same draws:
// place r of `a` and of `b` is resample r (Error unless they are as many). What both figures owe to
// the speakers drawn cancels, so that it is narrower than two intervals side by side. Resamples
// without one of the values, and ratios to 0, are left out.
std::optional<Interval> PairedInterval(PairedAs as, const std::vector<double>& a,
                                       const std::vector<double>& b, double level);

}  // namespace sotto
