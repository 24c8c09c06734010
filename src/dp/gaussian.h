// The Gaussian mechanism's exact trade between epsilon, delta and noise (Balle & Wang 2018,
// "Improving the Gaussian Mechanism", theorem 8). mu = sensitivity / sigma throughout; mu-GDP
// (Dong, Roth & Su 2019) is the same curve. The textbook sigma = sqrt(2 ln(1.25/delta))/eps is not
// used: it fails above eps = 1 and wastes noise below.
#pragma once

#include <cstdint>

namespace sotto {

// The smallest delta for which mu-GDP gives (eps, delta)-DP.
double GaussianDelta(double mu, double eps);

// The smallest eps for this delta, rounded up; 0 where the mechanism is (0, delta)-DP already.
double GaussianEpsilon(double mu, double delta);

// The largest mu that gives (eps, delta)-DP, rounded down. sigma = sensitivity / mu.
double GaussianMu(double eps, double delta);

// The exact epsilon of one Gaussian draw on a sum that holds a record K times, K ~ Binomial(steps,
// q): N(K/noise, 1) against N(0, 1). A lower bound for training schemes whose released weights
// accumulate all of a record's participations but carry the noise of one step (SI-DPSGD,
// one draw of noise for all steps).
double RepeatedParticipationEpsilon(double q, std::uint64_t steps, double noise, double delta);

}  // namespace sotto
