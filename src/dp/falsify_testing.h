// For tests only: tries to break a claim of differential privacy. A mechanism that passes is not
// proven private; one that fails is proven not to be, up to the stated error probability.
//
// Both inputs of a neighbouring pair are run many times. On the first half of the outputs the event
// that tells them apart best is searched among intervals, single values and their complements, of
// several features of the output (coordinates, the direction between the inputs, L1 distances, and
// the position of the lowest set bit, through which floating-point noise leaks). On the second half
// Clopper–Pearson bounds of the event's two probabilities must contradict Pr_a ≤ e^eps·Pr_b +
// delta. Use eps ≤ 1: at large eps no affordable number of samples can refute anything.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "dp/normal.h"
#include "dp/seeded_bits_testing.h"

namespace sotto::testing {

using TestedMechanism =
    std::function<std::vector<double>(std::span<const double> input, BitSource& bits)>;

struct NeighbourPair {
  std::vector<double> a;
  std::vector<double> b;
  double eps = 0.0;  // claimed for this pair
  double delta = 0.0;
};

struct FalsifyOptions {
  std::size_t samples = 20000;  // of each input
  double error = 1e-6;          // of rejecting a private mechanism, over all pairs and events
  std::uint64_t seed = 1;
};

struct Falsification {
  bool rejected = false;
  double eps_lower = 0.0;  // the largest epsilon that the samples prove to be needed
  std::string event;
};

namespace falsify_internal {

// Exponent of the lowest set bit of a double: the finest grid it lies on.
inline double LowestBit(double y) {
  if (y == 0.0 || !std::isfinite(y)) return 1000.0;
  int exponent = 0;
  const double mantissa = std::frexp(y, &exponent);
  const auto whole = static_cast<std::uint64_t>(std::abs(std::ldexp(mantissa, 53)));
  return exponent - 53 + std::countr_zero(whole);
}

inline std::map<std::string, double> Features(std::span<const double> y,
                                              const NeighbourPair& pair) {
  std::map<std::string, double> features;
  for (std::size_t i = 0; i < std::min<std::size_t>(y.size(), 4); ++i) {
    features["coordinate " + std::to_string(i)] = y[i];
    features["lowest bit of coordinate " + std::to_string(i)] = LowestBit(y[i]);
  }
  if (y.size() == pair.a.size() && y.size() == pair.b.size() && y.size() > 1) {
    double projection = 0.0;
    double distances = 0.0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      projection += y[i] * (pair.a[i] - pair.b[i]);
      distances += std::abs(y[i] - pair.b[i]) - std::abs(y[i] - pair.a[i]);
    }
    features["direction between the inputs"] = projection;
    features["L1 distances"] = distances;
  }
  return features;
}

struct Event {
  double low = 0.0;  // low ≤ feature ≤ high
  double high = 0.0;
  bool complement = false;
  bool Holds(double x) const { return (x >= low && x <= high) != complement; }
};

inline std::uint64_t Count(std::span<const double> values, const Event& event) {
  return static_cast<std::uint64_t>(
      std::count_if(values.begin(), values.end(), [&](double x) { return event.Holds(x); }));
}

// The event with the largest cautious estimate of ln((Pr_a − delta)/Pr_b).
inline Event BestEvent(std::span<const double> a, std::span<const double> b, double delta) {
  std::vector<double> pooled(a.begin(), a.end());
  pooled.insert(pooled.end(), b.begin(), b.end());
  std::sort(pooled.begin(), pooled.end());
  std::set<double> edges = {pooled.back()};
  constexpr std::size_t kEdges = 96;
  for (std::size_t i = 0; i < kEdges; ++i) edges.insert(pooled[i * pooled.size() / kEdges]);
  const std::vector<double> cuts(edges.begin(), edges.end());
  // Counts of (cut[i-1], cut[i]); the cell of value cut[i] itself belongs to i.
  const auto histogram = [&](std::span<const double> values) {
    std::vector<double> cells(cuts.size() + 1, 0.0);
    for (const double x : values) {
      const auto at = std::lower_bound(cuts.begin(), cuts.end(), x) - cuts.begin();
      cells[static_cast<std::size_t>(at)] += 1.0;
    }
    for (std::size_t i = 1; i < cells.size(); ++i) cells[i] += cells[i - 1];
    return cells;
  };
  const auto in_a = histogram(a);
  const auto in_b = histogram(b);
  const auto n = static_cast<double>(a.size());
  double best = -std::numeric_limits<double>::infinity();
  Event event;
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    for (std::size_t j = i; j < cuts.size(); ++j) {
      // Above cut[i−1] up to cut[j].
      const double from_a = i == 0 ? 0.0 : in_a[i - 1];
      const double from_b = i == 0 ? 0.0 : in_b[i - 1];
      for (const bool complement : {false, true}) {
        const double ka = complement ? n - (in_a[j] - from_a) : in_a[j] - from_a;
        const double kb = complement ? n - (in_b[j] - from_b) : in_b[j] - from_b;
        const double pa = (ka - 4.0 * std::sqrt(ka) - 8.0) / n - delta;
        if (pa <= 0.0) continue;
        const double score = std::log(pa / ((kb + 4.0 * std::sqrt(kb) + 8.0) / n));
        if (score <= best) continue;
        best = score;
        const double below = -std::numeric_limits<double>::infinity();
        event = {i == 0 ? below : std::nextafter(cuts[i - 1], 1e300), cuts[j], complement};
      }
    }
  }
  return event;
}

}  // namespace falsify_internal

inline Falsification FalsifyDp(const TestedMechanism& mechanism,
                               std::span<const NeighbourPair> pairs,
                               const FalsifyOptions& options = {}) {
  using namespace falsify_internal;
  Falsification result;
  SeededBits bits(options.seed);
  for (const NeighbourPair& pair : pairs) {
    std::map<std::string, std::vector<double>> a;
    std::map<std::string, std::vector<double>> b;
    for (std::size_t i = 0; i < options.samples; ++i) {
      for (const auto& [name, x] : Features(mechanism(pair.a, bits), pair)) a[name].push_back(x);
      for (const auto& [name, x] : Features(mechanism(pair.b, bits), pair)) b[name].push_back(x);
    }
    const double error =
        options.error / (4.0 * static_cast<double>(a.size()) * static_cast<double>(pairs.size()));
    const std::size_t half = options.samples / 2;
    for (const auto& [name, first] : a) {
      for (const bool swapped : {false, true}) {
        const std::span<const double> x = swapped ? b.at(name) : first;
        const std::span<const double> y = swapped ? first : b.at(name);
        const Event event = BestEvent(x.first(half), y.first(half), pair.delta);
        const std::size_t rest = options.samples - half;
        // The lower bound of hits is one less the upper bound of misses.
        const double low =
            1.0 - ClopperPearsonHigh(rest - Count(x.subspan(half), event), rest, error);
        const double high = ClopperPearsonHigh(Count(y.subspan(half), event), rest, error);
        if (low > pair.delta) {
          const double shown = std::log((low - pair.delta) / high);
          if (shown > result.eps_lower) {
            result.eps_lower = shown;
            result.event = name;
          }
        }
        if (low > std::exp(pair.eps) * high + pair.delta) result.rejected = true;
      }
    }
  }
  return result;
}

}  // namespace sotto::testing
