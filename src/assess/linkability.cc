#include "assess/linkability.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace sotto {
namespace {

constexpr int kMostBins = 1000000;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Histogram {
  std::vector<double> edges;  // bins + 1
  std::vector<double> tar;
  std::vector<double> non;
};

// Equal bins over the finite scores; bins are closed below and open above, the last closed. Edges
// are rounded as start + i·step, which decides where scores on an edge fall.
Histogram Count(const ScoreLevels& data, int bins) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const Level& level : data.levels) {
    if (level.tar + level.non == 0.0 || std::isinf(level.score)) continue;
    low = std::min(low, level.score);
    high = level.score;
  }
  Histogram histogram;
  const auto n = static_cast<std::size_t>(bins);
  histogram.tar.assign(n, 0.0);
  histogram.non.assign(n, 0.0);
  const double step = (high - low) / bins;
  for (int i = 0; i < bins; ++i) histogram.edges.push_back(i * step + low);
  histogram.edges.push_back(high);
  std::size_t bin = 0;
  for (const Level& level : data.levels) {
    while (bin + 1 < n && level.score >= histogram.edges[bin + 1]) ++bin;
    histogram.tar[bin] += level.tar;
    histogram.non[bin] += level.non;
  }
  return histogram;
}

bool HasWidth(const Histogram& histogram) {
  return std::isfinite(histogram.edges.front()) && histogram.edges.back() > histogram.edges.front();
}

double DOf(double mated, double non_mated, double omega) {
  if (non_mated == 0.0) return 1.0;
  const double ratio = omega * (mated / non_mated);
  return ratio <= 1.0 ? 0.0 : 2.0 * (ratio / (1.0 + ratio)) - 1.0;
}

// Σ D(bin)·P(bin | mated). Without a width (one finite score, or none) every score is a bin.
double RectangleSum(const ScoreLevels& data, const Histogram& histogram, double omega) {
  double sum = 0.0;
  const auto add = [&](double tar, double non) {
    const double share = tar / data.n_tar;
    if (share > 0.0) sum += share * DOf(share, non / data.n_non, omega);
  };
  if (HasWidth(histogram)) {
    for (std::size_t i = 0; i < histogram.tar.size(); ++i) add(histogram.tar[i], histogram.non[i]);
  } else {
    for (const Level& level : data.levels) add(level.tar, level.non);
  }
  return sum;
}

// The same over two bins, cut where false matches and false non-matches are most nearly equal: no
// outlier moves that cut, as it does move equal bins. 1 where a threshold separates the classes.
double CutSum(const ScoreLevels& data, double omega) {
  double tar = 0.0, non = 0.0, cut_tar = 0.0, cut_non = 0.0;
  double nearest = 1.0;  // below all scores: every other score matches, no mated one is missed
  for (const Level& level : data.levels) {
    tar += level.tar;
    non += level.non;
    const double difference = std::abs(tar / data.n_tar - (1.0 - non / data.n_non));
    if (difference >= nearest) continue;
    nearest = difference;
    cut_tar = tar;
    cut_non = non;
  }
  double sum = 0.0;
  for (const bool below : {true, false}) {
    const double share = (below ? cut_tar : data.n_tar - cut_tar) / data.n_tar;
    const double others = (below ? cut_non : data.n_non - cut_non) / data.n_non;
    if (share > 0.0) sum += share * DOf(share, others, omega);
  }
  return sum;
}

}  // namespace

void LinkabilityOptions::Validate() const {
  if (!(omega > 0.0 && std::isfinite(omega))) {
    throw Error(fmt::format("omega {} must be positive and finite", omega));
  }
  if (bins < 0 || bins > kMostBins) {
    throw Error(fmt::format("{} bins: 0 (automatic) to {} are allowed", bins, kMostBins));
  }
}

Linkability MeasureLinkability(const ScoreLevels& data, const LinkabilityOptions& options) {
  options.Validate();
  Linkability result;
  result.bins = options.bins > 0 ? options.bins
                                 : static_cast<int>(std::min(std::floor(data.n_tar / 10.0), 100.0));
  constexpr int kFewestBins = 10;
  const Histogram histogram = Count(data, result.bins < 2 ? kFewestBins : result.bins);
  result.d_sys_unbiased =
      std::max(RectangleSum(data, histogram, options.omega), CutSum(data, options.omega));
  if (!HasWidth(histogram)) {
    // One value for all: no evidence where the rule chooses the bins, undefined densities where
    // the caller did.
    result.d_sys = options.bins > 0 ? kNan : 0.0;
    return result;
  }
  if (result.bins < 2) return result;
  const auto& edges = histogram.edges;
  for (std::size_t i = 0; i < histogram.tar.size(); ++i) {
    const double width = edges[i + 1] - edges[i];
    result.centre.push_back((edges[i + 1] + edges[i]) / 2.0);
    result.mated.push_back(histogram.tar[i] / width / data.n_tar);
    result.non_mated.push_back(histogram.non[i] / width / data.n_non);
    result.d.push_back(DOf(result.mated[i], result.non_mated[i], options.omega));
  }
  for (std::size_t i = 0; i + 1 < result.d.size(); ++i) {
    result.d_sys += (result.centre[i + 1] - result.centre[i]) *
                    (result.d[i] * result.mated[i] + result.d[i + 1] * result.mated[i + 1]) / 2.0;
  }
  return result;
}

double MaximalLinkability(const ScoreLevels& data, int bins) {
  if (bins < 1 || bins > kMostBins) {
    throw Error(fmt::format("{} bins: 1 to {} are allowed", bins, kMostBins));
  }
  const Histogram histogram = Count(data, bins);
  if (!HasWidth(histogram)) return kNan;
  double sum = 0.0;
  for (std::size_t i = 0; i < histogram.tar.size(); ++i) {
    sum += std::max(histogram.tar[i] / data.n_tar, histogram.non[i] / data.n_non);
  }
  return std::log2(sum);
}

}  // namespace sotto
