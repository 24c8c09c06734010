// What a guarantee allows: how well the best possible test can tell two neighbouring inputs apart
// (membership, or which of two people), whatever the attacker knows or computes.
//
// A test with false-alarm rate a misses at least f(a), the trade-off curve (Dong, Roth & Su 2019;
// Kairouz, Oh & Viswanath 2015): f(a) = max(0, 1 − δ − e^ε·a, e^−ε·(1 − δ − a)) for (ε, δ)-DP and
// Φ(Φ⁻¹(1 − a) − μ) for μ-GDP.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dp/event.h"

namespace sotto {

double TradeOff(double eps, double delta, double false_alarm);
// EER ≥ (1 − δ)/(1 + e^ε); AUC ≤ 1 − (1 − δ)²/(1 + e^ε), the area above f.
double EerFloor(double eps, double delta);
double AucCeiling(double eps, double delta);

double GdpEerFloor(double mu);    // Φ(−μ/2)
double GdpAucCeiling(double mu);  // Φ(μ/√2)

// Naming one of n people, each equally likely before, from one output: right at most
// (e^ε + (n − 1)·δ)/(e^ε + n − 1) of the time. (Sum Pr_i(S_i) ≤ e^ε·Pr_j(S_i) + δ over all i ≠ j.)
double TopOneCeiling(double eps, double delta, std::size_t n);

// The mu of a composition: exact for Gaussian uses on all data, else the central limit
// q·sqrt(T·(e^{1/z²} − 1)) (Bu et al. 2020), which is an approximation and no bound.
struct GdpMu {
  double mu = 0.0;
  bool exact = false;
};
GdpMu CompositionMu(double q, double noise, std::uint64_t steps);

struct TradeOffPoint {
  double false_alarm = 0.0;
  double miss = 0.0;  // at least
};
// From 0 to 1, finer near the ends.
std::vector<TradeOffPoint> TradeOffCurve(double eps, double delta, std::size_t points);

}  // namespace sotto
