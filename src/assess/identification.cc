#include "assess/identification.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "assess/pav.h"
#include "base/error.h"

namespace sotto {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Trials ordered by test id, then from the highest score down.
std::vector<std::uint32_t> ByTestThenScore(const Trials& trials) {
  std::vector<std::uint32_t> order(trials.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (trials.test.index[a] != trials.test.index[b]) {
      return trials.test.index[a] < trials.test.index[b];
    }
    if (trials.scores[a] != trials.scores[b]) return trials.scores[a] > trials.scores[b];
    return a < b;
  });
  return order;
}

// The figures of one recording from its trials, highest score first.
Query Ask(const Trials& trials, std::span<const std::uint32_t> ordered,
          std::span<const std::size_t> k) {
  Query query;
  query.test = trials.test.index[ordered.front()];
  query.first_trial = ordered.front();
  query.precision.assign(k.size(), kNan);
  double targets_above = 0.0;
  for (std::size_t i = 0; i < ordered.size();) {
    std::size_t end = i;
    double targets = 0.0;
    while (end < ordered.size() && trials.scores[ordered[end]] == trials.scores[ordered[i]]) {
      targets += trials.is_target[ordered[end++]];
    }
    const auto tied = static_cast<double>(end - i);
    if (targets > 0.0 && targets_above == 0.0) {
      query.rank = 1.0 + static_cast<double>(i) + (tied - targets) / 2.0;
    }
    for (std::size_t j = 0; j < k.size(); ++j) {
      if (k[j] <= i || k[j] > end) continue;
      const double taken = static_cast<double>(k[j] - i);
      query.precision[j] = (targets_above + targets * taken / tied) / static_cast<double>(k[j]);
    }
    targets_above += targets;
    i = end;
  }
  if (targets_above == 0.0) query.rank = kNan;
  return query;
}

double Quartile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double at = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

void NameAnimals(std::vector<ZooSpeaker>& zoo) {
  std::vector<double> tar;
  std::vector<double> non;
  for (const ZooSpeaker& s : zoo) {
    if (s.n_tar == 0 || s.n_non == 0) continue;
    tar.push_back(s.mean_tar_llr);
    non.push_back(s.mean_non_llr);
  }
  if (tar.size() < 4) return;  // quartiles of fewer speakers say nothing
  const double tar_low = Quartile(tar, 0.25);
  const double tar_high = Quartile(tar, 0.75);
  const double non_low = Quartile(non, 0.25);
  const double non_high = Quartile(non, 0.75);
  for (ZooSpeaker& s : zoo) {
    if (s.n_tar == 0 || s.n_non == 0) continue;
    const bool high = s.mean_tar_llr >= tar_high;
    const bool low = s.mean_tar_llr <= tar_low;
    if (high == low) continue;
    if (s.mean_non_llr <= non_low) s.animal = high ? "dove" : "phantom";
    if (s.mean_non_llr >= non_high) s.animal = high ? "chameleon" : "worm";
  }
}

}  // namespace

Identification MeasureIdentification(const Trials& trials, std::span<const std::size_t> k) {
  if (!trials.test.Present()) throw Error("top-k and rank need the column 'test'");
  for (const std::size_t one : k) {
    if (one == 0) throw Error("top-k needs k of at least 1");
  }
  Identification result;
  result.k.assign(k.begin(), k.end());
  const auto order = ByTestThenScore(trials);
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    while (end < order.size() && trials.test.index[order[end]] == trials.test.index[order[i]]) {
      ++end;
    }
    Query query = Ask(trials, std::span(order).subspan(i, end - i), k);
    if (!std::isnan(query.rank)) result.queries.push_back(std::move(query));
    i = end;
  }
  std::vector<double> ranks;
  for (const Query& query : result.queries) ranks.push_back(query.rank);
  const bool none = ranks.empty();
  result.mean_rank =
      none ? kNan
           : std::accumulate(ranks.begin(), ranks.end(), 0.0) / static_cast<double>(ranks.size());
  result.median_rank = none ? kNan : Quartile(ranks, 0.5);
  for (std::size_t j = 0; j < k.size(); ++j) {
    double sum = 0.0;
    std::size_t n = 0;
    for (const Query& query : result.queries) {
      if (std::isnan(query.precision[j])) continue;
      sum += query.precision[j];
      ++n;
    }
    result.top_k.push_back(n == 0 ? kNan : sum / static_cast<double>(n));
    result.top_k_n.push_back(n);
  }
  return result;
}

std::vector<ZooSpeaker> MeasureZoo(const Trials& trials) {
  if (!trials.HasSpeakers()) throw Error("the zoo needs the columns 'enrol_spk' and 'test_spk'");
  const auto llrs =
      PavLlrs(std::span(trials.scores), std::span(trials.is_target), PavRule::kLaplace);
  std::vector<ZooSpeaker> zoo(trials.enrol_spk.names.size());
  for (std::size_t i = 0; i < zoo.size(); ++i) zoo[i].name = trials.enrol_spk.names[i];
  for (std::size_t i = 0; i < trials.size(); ++i) {
    ZooSpeaker& speaker = zoo[trials.enrol_spk.index[i]];
    const bool target = trials.is_target[i] != 0;
    ++(target ? speaker.n_tar : speaker.n_non);
    (target ? speaker.mean_tar : speaker.mean_non) += trials.scores[i];
    (target ? speaker.mean_tar_llr : speaker.mean_non_llr) += llrs[i];
  }
  for (ZooSpeaker& s : zoo) {
    const auto n_tar = static_cast<double>(s.n_tar);
    const auto n_non = static_cast<double>(s.n_non);
    s.mean_tar = s.n_tar == 0 ? kNan : s.mean_tar / n_tar;
    s.mean_tar_llr = s.n_tar == 0 ? kNan : s.mean_tar_llr / n_tar;
    s.mean_non = s.n_non == 0 ? kNan : s.mean_non / n_non;
    s.mean_non_llr = s.n_non == 0 ? kNan : s.mean_non_llr / n_non;
  }
  NameAnimals(zoo);
  std::sort(zoo.begin(), zoo.end(), [](const ZooSpeaker& a, const ZooSpeaker& b) {
    if ((a.n_tar == 0) != (b.n_tar == 0)) return b.n_tar == 0;
    if (a.n_tar != 0 && a.mean_tar_llr != b.mean_tar_llr) return a.mean_tar_llr > b.mean_tar_llr;
    return a.name < b.name;
  });
  return zoo;
}

}  // namespace sotto
