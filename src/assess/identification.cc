#include "assess/identification.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"

namespace sotto {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Comparison {
  double score = 0.0;
  bool target = false;
};

// The trials of each test recording side by side, by counting: first[t] … first[t + 1] are those of
// recording t.
struct ByRecording {
  std::vector<std::size_t> first;
  std::vector<Comparison> comparisons;
  std::vector<std::uint32_t> some_trial;  // one trial number per recording
};

ByRecording Group(const Trials& trials) {
  const auto& test = trials.test.index;
  ByRecording group;
  group.first.assign(trials.test.names.size() + 1, 0);
  group.some_trial.assign(trials.test.names.size(), 0);
  for (const std::uint32_t t : test) ++group.first[t + 1];
  std::partial_sum(group.first.begin(), group.first.end(), group.first.begin());
  std::vector<std::size_t> next(group.first.begin(), group.first.end() - 1);
  group.comparisons.resize(test.size());
  for (std::uint32_t i = 0; i < test.size(); ++i) {
    group.comparisons[next[test[i]]++] = {trials.scores[i], trials.is_target[i] != 0};
    group.some_trial[test[i]] = i;
  }
  return group;
}

// For each k the expected share of targets among the k highest scores when ties are broken at
// random; NaN where there are fewer comparisons than k.
std::vector<double> PrecisionsAt(std::span<Comparison> comparisons,
                                 std::span<const std::size_t> k) {
  std::vector<double> precisions(k.size(), kNan);
  std::size_t most = 0;
  for (const std::size_t one : k) most = one <= comparisons.size() ? std::max(most, one) : most;
  if (most == 0) return precisions;
  // Only the highest scores and what ties with the last of them need sorting.
  const auto higher = [](const Comparison& x, const Comparison& y) { return x.score > y.score; };
  const auto border = comparisons.begin() + static_cast<std::ptrdiff_t>(most - 1);
  std::nth_element(comparisons.begin(), border, comparisons.end(), higher);
  const auto end =
      std::partition(border + 1, comparisons.end(),
                     [score = border->score](const Comparison& c) { return c.score == score; });
  std::sort(comparisons.begin(), end, higher);
  double above = 0.0;
  double targets_above = 0.0;
  for (auto c = comparisons.begin(); c != end;) {
    double tied = 0.0;
    double targets = 0.0;
    for (const double score = c->score; c != end && c->score == score; ++c) {
      tied += 1.0;
      targets += c->target ? 1.0 : 0.0;
    }
    for (std::size_t j = 0; j < k.size(); ++j) {
      const auto taken = static_cast<double>(k[j]);
      if (taken <= above || taken > above + tied) continue;
      precisions[j] = (targets_above + targets * (taken - above) / tied) / taken;
    }
    above += tied;
    targets_above += targets;
  }
  return precisions;
}

// Rank of the best target; NaN without targets.
double RankOf(std::span<const Comparison> comparisons) {
  double best = -std::numeric_limits<double>::infinity();
  bool any = false;
  for (const Comparison& c : comparisons) {
    if (!c.target) continue;
    best = std::max(best, c.score);
    any = true;
  }
  double rank = 1.0;
  for (const Comparison& c : comparisons) {
    if (c.target) continue;
    rank += c.score > best ? 1.0 : 0.0;
    rank += c.score == best ? 0.5 : 0.0;
  }
  return any ? rank : kNan;
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
  ByRecording group = Group(trials);
  for (std::uint32_t t = 0; t + 1 < group.first.size(); ++t) {
    const auto mine =
        std::span(group.comparisons).subspan(group.first[t], group.first[t + 1] - group.first[t]);
    Query query;
    query.test = t;
    query.rank = RankOf(mine);
    if (std::isnan(query.rank)) continue;
    query.some_trial = group.some_trial[t];
    query.precision = PrecisionsAt(mine, k);
    result.queries.push_back(std::move(query));
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

std::vector<ZooSpeaker> MeasureZoo(const Trials& trials, const Pav& laplace) {
  if (!trials.HasSpeakers()) throw Error("the zoo needs the columns 'enrol_spk' and 'test_spk'");
  const std::vector<double> llrs = PavLlrs(laplace, trials.scores);
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
