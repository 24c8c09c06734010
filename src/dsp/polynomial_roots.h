// Roots of real polynomials whose roots lie inside or near the unit circle (LPC polynomials).
#pragma once

#include <complex>
#include <span>
#include <vector>

namespace sotto {

// The roots of a real polynomial: the one of each conjugate pair with positive imaginary part, and
// the real ones. 2·pairs + reals = degree.
struct RealPolynomialRoots {
  std::vector<std::complex<double>> pairs;
  std::vector<double> reals;
};

// All roots of z^n + a[1] z^(n−1) + … + a[n] by eigenvalues of the companion matrix. Slow (42 µs at
// degree 20) and robust: the oracle of the tests and the way out when the iteration does not
// settle.
RealPolynomialRoots CompanionRoots(std::span<const double> a);

// The same roots by the Ehrlich–Aberth iteration (Aberth 1973), all roots at once, started from the
// roots of the previous call, since neighbouring speech frames have neighbouring roots. Keeps no
// other state: whatever the start, the result is the same to about 1e−12.
class RootTracker {
 public:
  RealPolynomialRoots Find(std::span<const double> a);

 private:
  void Restart(std::size_t degree);
  std::vector<double> re_, im_;
};

}  // namespace sotto
