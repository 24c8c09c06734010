#include "assess/intervals.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "assess/bootstrap.h"
#include "assess/interner.h"
#include "base/error.h"
#include "base/parallel.h"

namespace sotto {

void IntervalOptions::Validate() const {
  if (resamples < 0 || resamples > 10000000) {
    throw Error(fmt::format("{} resamples: 0 to 10000000 are allowed", resamples));
  }
  if (!(level > 0.0 && level < 1.0)) {
    throw Error(fmt::format("level {} of the intervals must lie between 0 and 1", level));
  }
}

SeededRng ResampleRng(std::uint64_t seed, std::uint64_t r) {
  return SeededRng(MixBits(MixBits(seed + 1) ^ (r + 0x9e3779b97f4a7c15U)));
}

std::vector<double> DrawUnits(SeededRng& rng, std::size_t n) {
  std::vector<double> weights(n);
  for (std::size_t i = 0; i < n; ++i) weights[rng.Below(n)] += 1.0;
  return weights;
}

std::vector<double> DrawValues(SeededRng& rng, const std::vector<double>& values) {
  std::vector<double> drawn(values.size());
  for (double& value : drawn) value = values[rng.Below(values.size())];
  return drawn;
}

void AddIntervals(std::vector<Figure>& figures, const IntervalOptions& options,
                  const std::function<std::vector<double>(std::uint64_t)>& measure) {
  options.Validate();
  if (options.resamples == 0) return;
  std::vector<std::vector<double>> values(static_cast<std::size_t>(options.resamples));
  ParallelFor(values.size(), options.jobs, [&](std::size_t r) { values[r] = measure(r); });
  for (std::size_t k = 0; k < figures.size(); ++k) {
    std::vector<double> column(values.size());
    for (std::size_t r = 0; r < values.size(); ++r) column[r] = values[r][k];
    figures[k].interval = PercentileInterval(std::move(column), options.level);
  }
}

double ComparePair(PairedAs as, double a, double b) {
  if (as == PairedAs::kDifference) return b - a;
  return a == 0.0 ? std::numeric_limits<double>::quiet_NaN() : b / a;
}

std::optional<Interval> PairedInterval(PairedAs as, const std::vector<double>& a,
                                       const std::vector<double>& b, double level) {
  if (a.size() != b.size()) {
    throw Error(fmt::format("paired interval: {} resamples of one figure, {} of the other",
                            a.size(), b.size()));
  }
  std::vector<double> values(a.size());
  for (std::size_t r = 0; r < a.size(); ++r) values[r] = ComparePair(as, a[r], b[r]);
  return PercentileInterval(std::move(values), level);
}

}  // namespace sotto
