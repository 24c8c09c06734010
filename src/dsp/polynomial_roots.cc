#include "dsp/polynomial_roots.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <optional>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dsp/polynomial_roots.cc"
#include <hwy/foreach_target.h>  // must precede highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sotto {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// One Ehrlich–Aberth step for all roots: with N = p(z)/p'(z) and S = Σ_{j≠i} 1/(z_i − z_j), root i
// moves by N/(1 − N·S). `re`, `im` are padded to whole vectors; the padding moves but is not summed
// over. Returns the largest squared step of the first `degree` roots.
double AberthStep(const double* a, std::size_t degree, double* re, double* im, double* new_re,
                  double* new_im) {
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto zero = hn::Zero(d);
  const auto one = hn::Set(d, 1.0);
  double largest = 0.0;
  for (std::size_t i = 0; i < degree; i += lanes) {
    const auto x = hn::LoadU(d, re + i);
    const auto y = hn::LoadU(d, im + i);
    // Horner for p and p' together: p' first, since it uses the old p.
    auto p_re = one, p_im = zero, q_re = zero, q_im = zero;
    for (std::size_t k = 1; k <= degree; ++k) {
      const auto t_re = hn::MulAdd(q_re, x, hn::NegMulAdd(q_im, y, p_re));
      q_im = hn::MulAdd(q_re, y, hn::MulAdd(q_im, x, p_im));
      q_re = t_re;
      const auto u_re = hn::MulAdd(p_re, x, hn::NegMulAdd(p_im, y, hn::Set(d, a[k])));
      p_im = hn::MulAdd(p_re, y, hn::Mul(p_im, x));
      p_re = u_re;
    }
    auto s_re = zero, s_im = zero;
    for (std::size_t j = 0; j < degree; ++j) {
      const auto dx = hn::Sub(x, hn::Set(d, re[j]));
      const auto dy = hn::Sub(y, hn::Set(d, im[j]));
      const auto norm = hn::MulAdd(dx, dx, hn::Mul(dy, dy));
      // The root itself, and any that coincides with it, is left out of the sum.
      const auto inverse = hn::IfThenElseZero(hn::Gt(norm, zero), hn::Div(one, norm));
      s_re = hn::MulAdd(dx, inverse, s_re);
      s_im = hn::NegMulAdd(dy, inverse, s_im);
    }
    // p/(p' − p·S), the same step without dividing by p', which may vanish.
    const auto b_re = hn::Sub(q_re, hn::MulSub(p_re, s_re, hn::Mul(p_im, s_im)));
    const auto b_im = hn::Sub(q_im, hn::MulAdd(p_re, s_im, hn::Mul(p_im, s_re)));
    const auto norm = hn::MulAdd(b_re, b_re, hn::Mul(b_im, b_im));
    const auto inverse = hn::IfThenElseZero(hn::Gt(norm, zero), hn::Div(one, norm));
    const auto w_re = hn::Mul(hn::MulAdd(p_re, b_re, hn::Mul(p_im, b_im)), inverse);
    const auto w_im = hn::Mul(hn::MulSub(p_im, b_re, hn::Mul(p_re, b_im)), inverse);
    hn::StoreU(hn::Sub(x, w_re), d, new_re + i);
    hn::StoreU(hn::Sub(y, w_im), d, new_im + i);
    const auto step = hn::MulAdd(w_re, w_re, hn::Mul(w_im, w_im));
    const auto live = hn::FirstN(d, degree - i);
    largest = std::max(largest, hn::GetLane(hn::MaxOfLanes(d, hn::IfThenElseZero(live, step))));
    // NaN compares false with everything: make it count as a step that never settles.
    if (!hn::AllTrue(d, hn::Or(hn::Not(live), hn::Ge(step, zero)))) largest = HUGE_VAL;
  }
  return largest;
}

}  // namespace HWY_NAMESPACE
}  // namespace sotto
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sotto {

HWY_EXPORT(AberthStep);

namespace {

// Imaginary parts below this are rounding (a double real root splits by about sqrt(1e-16)).
constexpr double kRealTolerance = 1e-7;
constexpr std::size_t kPadding = 8;  // the widest vector: 8 doubles (AVX-512)
constexpr int kMaxSteps = 60;

template <typename GetRoot>
std::optional<RealPolynomialRoots> Classify(std::size_t degree, const GetRoot& root) {
  RealPolynomialRoots roots;
  std::size_t below = 0;
  for (std::size_t i = 0; i < degree; ++i) {
    const std::complex<double> z = root(i);
    if (std::abs(z.imag()) <= kRealTolerance) {
      roots.reals.push_back(z.real());
    } else if (z.imag() > 0.0) {
      roots.pairs.push_back(z);
    } else {
      ++below;
    }
  }
  if (below != roots.pairs.size()) return std::nullopt;
  return roots;
}

}  // namespace

RealPolynomialRoots CompanionRoots(std::span<const double> a) {
  const auto degree = static_cast<Eigen::Index>(a.size()) - 1;
  Eigen::MatrixXd companion = Eigen::MatrixXd::Zero(degree, degree);
  for (Eigen::Index k = 0; k < degree; ++k) companion(0, k) = -a[static_cast<std::size_t>(k) + 1];
  companion.diagonal(-1).setOnes();
  const Eigen::VectorXcd values = companion.eigenvalues();
  // Eigenvalues of a real matrix come in exact conjugate pairs, so this always classifies.
  return Classify(static_cast<std::size_t>(degree),
                  [&](std::size_t i) { return values(static_cast<Eigen::Index>(i)); })
      .value();
}

void RootTracker::Restart(std::size_t degree) {
  re_.assign(degree + kPadding, 2.0);
  im_.assign(degree + kPadding, 2.0);
  // On a circle of the radius typical for LPC poles, off the real axis' symmetry (Aberth 1973).
  for (std::size_t i = 0; i < degree; ++i) {
    const double angle = 2.0 * M_PI * (static_cast<double>(i) + 0.3) / static_cast<double>(degree);
    re_[i] = 0.9 * std::cos(angle);
    im_[i] = 0.9 * std::sin(angle);
  }
}

RealPolynomialRoots RootTracker::Find(std::span<const double> a) {
  const std::size_t degree = a.size() - 1;
  if (re_.size() != degree + kPadding) {
    Restart(degree);
  } else {
    // The iteration keeps conjugate symmetry, so a pair could never become two real roots: turn
    // every start a little, each by another angle, to break it.
    for (std::size_t i = 0; i < degree; ++i) {
      const double turn = 1e-3 * (1.0 + 0.37 * static_cast<double>(i % 5));
      const double x = re_[i];
      re_[i] = x - turn * im_[i];
      im_[i] = im_[i] + turn * x + 1e-4;
    }
  }
  // The convergence is cubic: after a step of 1e-7 the error is below rounding.
  constexpr double kSettled = 1e-14;  // squared step
  std::vector<double> next_re(re_.size()), next_im(im_.size());
  bool settled = false;
  for (int i = 0; i < kMaxSteps && !settled; ++i) {
    const double largest = HWY_DYNAMIC_DISPATCH(AberthStep)(
        a.data(), degree, re_.data(), im_.data(), next_re.data(), next_im.data());
    std::swap(re_, next_re);
    std::swap(im_, next_im);
    if (!std::isfinite(largest)) break;
    settled = largest < kSettled;
  }
  if (settled) {
    if (auto roots =
            Classify(degree, [&](std::size_t i) { return std::complex<double>(re_[i], im_[i]); })) {
      return *std::move(roots);
    }
  }
  re_.clear();
  return CompanionRoots(a);
}

}  // namespace sotto
#endif  // HWY_ONCE
