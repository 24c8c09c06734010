// Rényi differential privacy (Mironov 2017) of single mechanisms and of their composition.
#pragma once

#include <span>
#include <vector>

#include "dp/event.h"

namespace sotto {

// The orders most published values use: 1.1 to 10.9 in steps of 0.1, 11 to 63, 128, 256, 512.
std::vector<double> DefaultRdpOrders();

// Rényi divergence of order alpha > 1 between the outputs on neighbours (one record added or
// removed, the worse of both directions) of one use of the mechanism.
//
// Subsampled Gaussian (Mironov, Talwar & Zhang 2019): A − 1 for
//   A = E_{x ~ N(0, z²)} (1 − q + q·exp((2x − 1)/(2z²)))^alpha.
// Whole orders by the binomial sum. Fractional orders by quadrature of the expectation itself (the
// trapezoid rule converges exponentially here) in place of the paper's series, whose binomials
// change sign beyond alpha: a well-known accountant drops that sign and prints up to 2.16 times too
// much. In both forms 1 is taken off inside the sum, so that small q loses no digits.
double RdpOfEvent(const PrivacyEvent& event, double alpha);  // without its count

struct RdpEpsilon {
  double eps = 0.0;
  double order = 0.0;
};

// (eps, delta) of all events together from their divergences at `orders`: eps = rdp + ln((α−1)/α) −
// (ln δ + ln α)/(α−1), the smallest over the orders (Canonne, Kamath & Steinke 2020, proposition
// 12). What kApproximate events leave open (their own delta) is taken off `delta` first. Throws
// Error when nothing of it is left.
RdpEpsilon RdpCompose(std::span<const PrivacyEvent> events, double delta,
                      std::span<const double> orders);

}  // namespace sotto
