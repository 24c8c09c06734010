// Linear prediction of one frame, and the two filters made of it. The loops that cost time are
// written with Highway; lpc_test.cc holds them to plain scalar loops.
#pragma once

#include <span>
#include <vector>

namespace sotto {

// r[k] = Σ_n x[n]·x[n+k] for k = 0 … r.size()−1.
void Autocorrelate(std::span<const double> x, std::span<double> r);

struct LpcResult {
  // a[0] = 1, …, a[order]: the prediction-error filter A(z) = Σ a[k] z^−k.
  std::vector<double> a;
  // Energy of the prediction error, the same unit as r[0].
  double error_energy = 0.0;
};

// Levinson–Durbin recursion on an autocorrelation of order+1 values. r[0] is raised by
// `noise_correction` (relative), which keeps the recursion well conditioned for band-limited and
// tonal signals and every pole inside the unit circle. r[0] must be positive.
LpcResult LevinsonDurbin(std::span<const double> r, double noise_correction = 1e-9);

// y[n] = Σ_k a[k]·x[n−k] with x zero before the frame.
void FilterFir(std::span<const double> a, std::span<const double> x, std::span<double> y);

// y[n] = x[n] − Σ_{k≥1} a[k]·y[n−k] with y zero before the frame; a[0] must be 1. x and y may be
// the same frame. a.size() ≤ 65.
void FilterAllPole(std::span<const double> a, std::span<const double> x, std::span<double> y);

}  // namespace sotto
