#include "assess/tandem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "assess/verification.h"
#include "base/error.h"

namespace sotto {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<double> Sorted(std::span<const double> scores, const char* what) {
  for (const double score : scores) {
    if (std::isnan(score)) throw Error(fmt::format("a {} score is NaN", what));
  }
  std::vector<double> sorted(scores.begin(), scores.end());
  SortScores(sorted);
  return sorted;
}

// Walks up a sorted class and gives the share of scores above the threshold.
class Walker {
 public:
  explicit Walker(std::vector<double> sorted) : sorted_(std::move(sorted)) {}
  double Next() const { return rejected_ < sorted_.size() ? sorted_[rejected_] : kInfinity; }
  bool Done() const { return rejected_ == sorted_.size(); }
  void RejectUpTo(double score) {
    while (rejected_ < sorted_.size() && sorted_[rejected_] <= score) ++rejected_;
  }
  double Rejected() const { return Share(rejected_); }
  double Accepted() const { return Share(sorted_.size() - rejected_); }

 private:
  double Share(std::size_t count) const {
    return sorted_.empty() ? 0.0 : static_cast<double>(count) / static_cast<double>(sorted_.size());
  }
  std::vector<double> sorted_;
  std::size_t rejected_ = 0;
};

template <typename Cost>
MinimumCost Minimise(std::span<const DetectionState> states, Cost cost) {
  MinimumCost best{kInfinity, kNaN};
  for (const DetectionState& state : states) {
    const double value = cost(state);
    if (value < best.value) best = {value, state.score};
  }
  return best;
}

struct TdcfTerms {
  double c0 = 0.0, c1 = 0.0, c2 = 0.0;
};

TdcfTerms MakeTerms(const AsvRates& asv, const TandemCosts& costs) {
  TdcfTerms terms;
  terms.c0 = costs.p_tar * costs.c_miss * asv.p_miss + costs.p_non * costs.c_fa * asv.p_fa;
  terms.c1 = costs.p_tar * costs.c_miss - terms.c0;
  terms.c2 = costs.p_spoof * costs.c_fa_spoof * asv.p_fa_spoof;
  if (terms.c1 < 0.0) {
    throw Error(
        fmt::format("t-DCF: the ASV's own cost {} exceeds that of rejecting everybody {}; "
                    "the ASV is too weak for these costs",
                    terms.c0, costs.p_tar * costs.c_miss));
  }
  return terms;
}

// C1 or C2 is 0: the better of "let all pass" and "stop all" already costs nothing.
double Divide(double cost, double default_cost) {
  return default_cost > 0.0 ? cost / default_cost : kNaN;
}

// The threshold ASVspoof calls that of the EER: the score at whose rejection both error rates
// differ least (the EER itself is EerArgmin).
double EerThreshold(const ScoreLevels& data) {
  double missed = 0.0;
  double accepted = data.n_non;
  double smallest_gap = 1.0;  // of accept-all: no miss, all false alarms
  double threshold = -kInfinity;
  const auto consider = [&](double score) {
    const double gap = std::abs(missed / data.n_tar - accepted / data.n_non);
    if (gap < smallest_gap) {
      smallest_gap = gap;
      threshold = score;
    }
  };
  for (const Level& level : data.levels) {
    missed += level.tar;  // ASVspoof rejects tied targets before non-targets
    if (level.tar > 0.0) consider(level.score);
    accepted -= level.non;
    consider(level.score);
  }
  return threshold;
}

}  // namespace

void TandemCosts::Validate() const {
  for (const auto& [name, value] :
       {std::pair("p_tar", p_tar), std::pair("p_non", p_non), std::pair("p_spoof", p_spoof)}) {
    if (!(value >= 0.0 && value <= 1.0)) {
      throw Error(fmt::format("{} is {}, a prior lies in [0, 1]", name, value));
    }
  }
  if (std::abs(p_tar + p_non + p_spoof - 1.0) > 1e-9) {
    throw Error(fmt::format("the priors {} + {} + {} do not add up to 1", p_tar, p_non, p_spoof));
  }
  for (const auto& [name, value] : {std::pair("c_miss", c_miss), std::pair("c_fa", c_fa),
                                    std::pair("c_fa_spoof", c_fa_spoof)}) {
    if (!(value >= 0.0 && std::isfinite(value))) {
      throw Error(fmt::format("{} is {}, a cost is finite and not negative", name, value));
    }
  }
}

std::vector<DetectionState> DetectionStates(std::span<const double> tar,
                                            std::span<const double> non,
                                            std::span<const double> spoof) {
  if (tar.empty()) throw Error("no positive (target or bona fide) score");
  if (non.empty() && spoof.empty()) throw Error("no negative (non-target or spoof) score");
  Walker up_tar(Sorted(tar, "positive"));
  Walker up_non(Sorted(non, "non-target"));
  Walker up_spoof(Sorted(spoof, "spoof"));
  std::vector<DetectionState> states;
  const auto add = [&](double score) {
    states.push_back({score, up_tar.Rejected(), up_non.Accepted(), up_spoof.Accepted()});
  };
  add(-kInfinity);
  while (!(up_tar.Done() && up_non.Done() && up_spoof.Done())) {
    const double score = std::min({up_tar.Next(), up_non.Next(), up_spoof.Next()});
    up_tar.RejectUpTo(score);
    up_non.RejectUpTo(score);
    up_spoof.RejectUpTo(score);
    add(score);
  }
  return states;
}

AsvRates AsvErrorRates(std::span<const double> tar, std::span<const double> non,
                       std::span<const double> spoof) {
  const ScoreLevels data = MakeLevels(tar, non);
  const double threshold = EerThreshold(data);
  const auto accepted = [&](std::span<const double> scores) {
    const auto n = std::count_if(scores.begin(), scores.end(),
                                 [&](double score) { return score >= threshold; });
    return scores.empty() ? 0.0 : static_cast<double>(n) / static_cast<double>(scores.size());
  };
  const auto missed =
      std::count_if(tar.begin(), tar.end(), [&](double score) { return score < threshold; });
  return {threshold, EerArgmin(data), static_cast<double>(missed) / static_cast<double>(tar.size()),
          accepted(non), accepted(spoof)};
}

MinimumCost MinTdcf2019(std::span<const DetectionState> cm, const AsvRates& asv,
                        const TandemCosts& costs) {
  const TdcfTerms c = MakeTerms(asv, costs);
  const double default_cost = std::min(c.c1, c.c2);
  return Minimise(cm, [&](const DetectionState& state) {
    return Divide(c.c1 * state.p_miss + c.c2 * state.p_fa_spoof, default_cost);
  });
}

MinimumCost MinTdcf2021(std::span<const DetectionState> cm, const AsvRates& asv,
                        const TandemCosts& costs) {
  const TdcfTerms c = MakeTerms(asv, costs);
  const double default_cost = c.c0 + std::min(c.c1, c.c2);
  return Minimise(cm, [&](const DetectionState& state) {
    return Divide(c.c0 + c.c1 * state.p_miss + c.c2 * state.p_fa_spoof, default_cost);
  });
}

double ConcurrentTeer(std::span<const DetectionState> cm, std::span<const DetectionState> asv) {
  constexpr double kRho = 0.5;  // at the concurrent point every spoof prevalence gives the same
  double best_gap = kInfinity;
  double value = kNaN;
  for (const DetectionState& a : asv) {
    const double asv_fa = (1.0 - kRho) * a.p_fa_non + kRho * a.p_fa_spoof;
    if (!(a.p_miss < asv_fa) || a.p_fa_spoof == 0.0) continue;  // no CM threshold can balance them
    // Kinnunen et al. 2023: tandem miss minus tandem false alarm, rising with the CM threshold.
    const auto h = [&](const DetectionState& c) {
      const double miss = c.p_miss + (1.0 - c.p_miss) * a.p_miss;
      const double fa =
          (1.0 - kRho) * (1.0 - c.p_miss) * a.p_fa_non + kRho * c.p_fa_spoof * a.p_fa_spoof;
      return miss - fa;
    };
    auto c = std::partition_point(cm.begin(), cm.end(),
                                  [&](const DetectionState& state) { return h(state) < 0.0; });
    if (c == cm.end() || (c != cm.begin() && -h(*(c - 1)) <= h(*c))) {
      const double level = h(*(c - 1));  // the first state of that height
      c = std::partition_point(cm.begin(), c,
                               [&](const DetectionState& state) { return h(state) < level; });
    }
    if (c->p_miss >= 1.0) continue;
    const double gap = std::abs(a.p_fa_non / a.p_fa_spoof - c->p_fa_spoof / (1.0 - c->p_miss));
    if (gap < best_gap) {
      best_gap = gap;
      value = a.p_fa_spoof * c->p_fa_spoof;
    }
  }
  return value;
}

MinimumCost MinAdcf(std::span<const DetectionState> system, const TandemCosts& costs) {
  const double reject_all = costs.p_tar * costs.c_miss;
  const double accept_all = costs.p_non * costs.c_fa + costs.p_spoof * costs.c_fa_spoof;
  const double default_cost = std::min(reject_all, accept_all);
  return Minimise(system, [&](const DetectionState& state) {
    return Divide(costs.p_tar * costs.c_miss * state.p_miss +
                      costs.p_non * costs.c_fa * state.p_fa_non +
                      costs.p_spoof * costs.c_fa_spoof * state.p_fa_spoof,
                  default_cost);
  });
}

}  // namespace sotto
