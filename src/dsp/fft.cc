#include "dsp/fft.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dsp/fft.cc"
#include <hwy/foreach_target.h>  // must precede highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sotto {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// At most 8 lanes: the first stage of the smallest size has 8 butterflies.
using Wide = hn::CappedTag<float, 8>;
using Narrow = hn::CappedTag<float, 4>;

template <class D>
struct Butterfly {
  using V = hn::Vec<D>;
  V re[4], im[4];

  // Radix-4 decimation in frequency: outputs 1 … 3 are still to be multiplied by w, w², w³.
  HWY_INLINE Butterfly(D d, const float* x_re, const float* x_im, std::size_t quarter) {
    const V a_re = hn::LoadU(d, x_re), a_im = hn::LoadU(d, x_im);
    const V b_re = hn::LoadU(d, x_re + quarter), b_im = hn::LoadU(d, x_im + quarter);
    const V c_re = hn::LoadU(d, x_re + 2 * quarter), c_im = hn::LoadU(d, x_im + 2 * quarter);
    const V d_re = hn::LoadU(d, x_re + 3 * quarter), d_im = hn::LoadU(d, x_im + 3 * quarter);
    const V p_re = hn::Add(a_re, c_re), p_im = hn::Add(a_im, c_im);
    const V m_re = hn::Sub(a_re, c_re), m_im = hn::Sub(a_im, c_im);
    const V q_re = hn::Add(b_re, d_re), q_im = hn::Add(b_im, d_im);
    // i·(b − d)
    const V j_re = hn::Sub(d_im, b_im), j_im = hn::Sub(b_re, d_re);
    re[0] = hn::Add(p_re, q_re), im[0] = hn::Add(p_im, q_im);
    re[1] = hn::Sub(m_re, j_re), im[1] = hn::Sub(m_im, j_im);
    re[2] = hn::Sub(p_re, q_re), im[2] = hn::Sub(p_im, q_im);
    re[3] = hn::Add(m_re, j_re), im[3] = hn::Add(m_im, j_im);
  }

  HWY_INLINE void Twist(int k, V w_re, V w_im) {
    const V t = hn::NegMulAdd(im[k], w_im, hn::Mul(re[k], w_re));
    im[k] = hn::MulAdd(re[k], w_im, hn::Mul(im[k], w_re));
    re[k] = t;
  }
};

// One stage with stride s ≥ lanes: y[q + s(4p + k)] from x[q + s(p + k·quarter)].
template <class D>
HWY_INLINE void Stage(D d, const float* w, std::size_t quarter, std::size_t s, const float* x_re,
                      const float* x_im, float* y_re, float* y_im) {
  for (std::size_t p = 0; p < quarter; ++p) {
    hn::Vec<D> w_re[4], w_im[4];
    for (std::size_t k = 1; k < 4; ++k) {
      w_re[k] = hn::Set(d, w[(2 * k - 2) * quarter + p]);
      w_im[k] = hn::Set(d, w[(2 * k - 1) * quarter + p]);
    }
    for (std::size_t q = 0; q < s; q += hn::Lanes(d)) {
      Butterfly<D> f(d, x_re + q + s * p, x_im + q + s * p, s * quarter);
      for (int k = 1; k < 4; ++k) f.Twist(k, w_re[k], w_im[k]);
      for (std::size_t k = 0; k < 4; ++k) {
        hn::StoreU(f.re[k], d, y_re + q + s * (4 * p + k));
        hn::StoreU(f.im[k], d, y_im + q + s * (4 * p + k));
      }
    }
  }
}

// The first stage, s = 1: vectors run over p.
HWY_INLINE void FirstStage(const float* w, std::size_t quarter, const float* x_re,
                           const float* x_im, float* y_re, float* y_im) {
  const Wide d;
  for (std::size_t p = 0; p < quarter; p += hn::Lanes(d)) {
    Butterfly<Wide> f(d, x_re + p, x_im + p, quarter);
    for (std::size_t k = 1; k < 4; ++k) {
      f.Twist(static_cast<int>(k), hn::LoadU(d, w + (2 * k - 2) * quarter + p),
              hn::LoadU(d, w + (2 * k - 1) * quarter + p));
    }
    hn::StoreInterleaved4(f.re[0], f.re[1], f.re[2], f.re[3], d, y_re + 4 * p);
    hn::StoreInterleaved4(f.im[0], f.im[1], f.im[2], f.im[3], d, y_im + 4 * p);
  }
}

// Complex FFT of n points from a to a, with b as scratch. Returns true when the result lies in b.
bool ComplexFft(const float* w, std::size_t n, float* a_re, float* a_im, float* b_re, float* b_im) {
  bool in_b = false;
  std::size_t s = 1;
  while (n >= 4) {
    const std::size_t quarter = n / 4;
    if (s == 1) {
      FirstStage(w, quarter, a_re, a_im, b_re, b_im);
    } else if (s == 4) {  // NOLINT(bugprone-branch-clone): Wide is Narrow on some targets
      Stage(Narrow(), w, quarter, s, a_re, a_im, b_re, b_im);
    } else {
      Stage(Wide(), w, quarter, s, a_re, a_im, b_re, b_im);
    }
    w += 6 * quarter;
    n = quarter;
    s *= 4;
    std::swap(a_re, b_re);
    std::swap(a_im, b_im);
    in_b = !in_b;
  }
  if (n == 2) {
    const Wide d;
    for (std::size_t q = 0; q < s; q += hn::Lanes(d)) {
      const auto u_re = hn::LoadU(d, a_re + q), v_re = hn::LoadU(d, a_re + q + s);
      const auto u_im = hn::LoadU(d, a_im + q), v_im = hn::LoadU(d, a_im + q + s);
      hn::StoreU(hn::Add(u_re, v_re), d, b_re + q);
      hn::StoreU(hn::Sub(u_re, v_re), d, b_re + q + s);
      hn::StoreU(hn::Add(u_im, v_im), d, b_im + q);
      hn::StoreU(hn::Sub(u_im, v_im), d, b_im + q + s);
    }
    in_b = !in_b;
  }
  return in_b;
}

void Split(const float* x, std::size_t n, float* even, float* odd) {
  const Wide d;
  hn::Vec<Wide> a, b;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    hn::LoadInterleaved2(d, x + 2 * i, a, b);
    hn::StoreU(a, d, even + i);
    hn::StoreU(b, d, odd + i);
  }
}

void Merge(const float* even, const float* odd, std::size_t n, float* x) {
  const Wide d;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    hn::StoreInterleaved2(hn::LoadU(d, even + i), hn::LoadU(d, odd + i), d, x + 2 * i);
  }
}

// From Z, the FFT of even samples + i·odd samples, to X: with E = (Z[k] + Z*[m−k])/2 and
// O = (Z[k] − Z*[m−k])/2i, X[k] = E + w^k·O. Z[m] repeats Z[0]. m values; X[m] is left to the
// caller.
void Untangle(const float* z_re, const float* z_im, const float* w_re, const float* w_im,
              std::size_t m, float* re, float* im) {
  const Wide d;
  const std::size_t lanes = hn::Lanes(d);
  const auto half = hn::Set(d, 0.5F);
  for (std::size_t k = 0; k < m; k += lanes) {
    const auto a_re = hn::LoadU(d, z_re + k), a_im = hn::LoadU(d, z_im + k);
    const auto b_re = hn::Reverse(d, hn::LoadU(d, z_re + m - k - (lanes - 1)));
    const auto b_im = hn::Reverse(d, hn::LoadU(d, z_im + m - k - (lanes - 1)));
    const auto e_re = hn::Add(a_re, b_re), e_im = hn::Sub(a_im, b_im);
    const auto o_re = hn::Add(a_im, b_im), o_im = hn::Sub(b_re, a_re);
    const auto u_re = hn::LoadU(d, w_re + k), u_im = hn::LoadU(d, w_im + k);
    const auto t_re = hn::NegMulAdd(o_im, u_im, hn::MulAdd(o_re, u_re, e_re));
    const auto t_im = hn::MulAdd(o_im, u_re, hn::MulAdd(o_re, u_im, e_im));
    hn::StoreU(hn::Mul(half, t_re), d, re + k);
    hn::StoreU(hn::Mul(half, t_im), d, im + k);
  }
}

// The way back: Z[k] = E + i·O with O = (X[k] − X*[m−k])/2·w^−k, times `scale`.
void Tangle(const float* re, const float* im, const float* w_re, const float* w_im, std::size_t m,
            float scale, float* z_re, float* z_im) {
  const Wide d;
  const std::size_t lanes = hn::Lanes(d);
  const auto half = hn::Set(d, 0.5F * scale);
  for (std::size_t k = 0; k < m; k += lanes) {
    const auto a_re = hn::LoadU(d, re + k), a_im = hn::LoadU(d, im + k);
    const auto b_re = hn::Reverse(d, hn::LoadU(d, re + m - k - (lanes - 1)));
    const auto b_im = hn::Reverse(d, hn::LoadU(d, im + m - k - (lanes - 1)));
    const auto e_re = hn::Add(a_re, b_re), e_im = hn::Sub(a_im, b_im);
    const auto f_re = hn::Sub(a_re, b_re), f_im = hn::Add(a_im, b_im);
    const auto u_re = hn::LoadU(d, w_re + k), u_im = hn::LoadU(d, w_im + k);
    const auto o_re = hn::MulAdd(f_im, u_im, hn::Mul(f_re, u_re));
    const auto o_im = hn::NegMulAdd(f_re, u_im, hn::Mul(f_im, u_re));
    hn::StoreU(hn::Mul(half, hn::Sub(e_re, o_im)), d, z_re + k);
    hn::StoreU(hn::Mul(half, hn::Add(e_im, o_re)), d, z_im + k);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace sotto
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sotto {

HWY_EXPORT(ComplexFft);
HWY_EXPORT(Split);
HWY_EXPORT(Merge);
HWY_EXPORT(Untangle);
HWY_EXPORT(Tangle);

RealFft::RealFft(std::size_t size) : size_(size) {
  if (!std::has_single_bit(size) || size < 64 || size > (std::size_t{1} << 24)) {
    throw Error(fmt::format("FFT of {} points: must be a power of two from 64 to 2^24", size));
  }
  const std::size_t m = size / 2;
  for (std::size_t n = m; n >= 4; n /= 4) {
    for (std::size_t k = 1; k < 4; ++k) {
      const auto angle = [&](std::size_t p) {
        return -2.0 * std::numbers::pi * static_cast<double>(k * p) / static_cast<double>(n);
      };
      for (std::size_t p = 0; p < n / 4; ++p)
        twiddles_.push_back(static_cast<float>(std::cos(angle(p))));
      for (std::size_t p = 0; p < n / 4; ++p)
        twiddles_.push_back(static_cast<float>(std::sin(angle(p))));
    }
  }
  for (std::size_t k = 0; k <= m; ++k) {
    const double angle =
        -2.0 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(size);
    half_re_.push_back(static_cast<float>(std::cos(angle)));
    half_im_.push_back(static_cast<float>(std::sin(angle)));
  }
  for (auto* scratch : {&a_re_, &a_im_, &b_re_, &b_im_}) scratch->resize(m + 1);
  even_.resize(size);
  unused_.resize(m + 1);
}

void RealFft::Forward(std::span<const float> x, std::span<float> re, std::span<float> im) {
  const std::size_t m = size_ / 2;
  HWY_DYNAMIC_DISPATCH(Split)(x.data(), m, a_re_.data(), a_im_.data());
  const bool in_b = HWY_DYNAMIC_DISPATCH(ComplexFft)(twiddles_.data(), m, a_re_.data(),
                                                     a_im_.data(), b_re_.data(), b_im_.data());
  auto& z_re = in_b ? b_re_ : a_re_;
  auto& z_im = in_b ? b_im_ : a_im_;
  z_re[m] = z_re[0];
  z_im[m] = z_im[0];
  HWY_DYNAMIC_DISPATCH(Untangle)
  (z_re.data(), z_im.data(), half_re_.data(), half_im_.data(), m, re.data(), im.data());
  im[0] = 0.0F;
  re[m] = z_re[0] - z_im[0];
  im[m] = 0.0F;
}

void RealFft::Inverse(std::span<const float> re, std::span<const float> im, std::span<float> x) {
  const std::size_t m = size_ / 2;
  HWY_DYNAMIC_DISPATCH(Tangle)
  (re.data(), im.data(), half_re_.data(), half_im_.data(), m, 1.0F / static_cast<float>(m),
   a_re_.data(), a_im_.data());
  // Imaginary parts at the two ends count as zero.
  a_re_[0] = 0.5F * (re[0] + re[m]) / static_cast<float>(m);
  a_im_[0] = 0.5F * (re[0] - re[m]) / static_cast<float>(m);
  // Swapping real and imaginary parts turns the forward transform into the inverse one.
  const bool in_b = HWY_DYNAMIC_DISPATCH(ComplexFft)(twiddles_.data(), m, a_im_.data(),
                                                     a_re_.data(), b_im_.data(), b_re_.data());
  HWY_DYNAMIC_DISPATCH(Merge)
  ((in_b ? b_re_ : a_re_).data(), (in_b ? b_im_ : a_im_).data(), m, x.data());
}

void RealFft::Even(std::span<float> s) {
  const std::size_t m = size_ / 2;
  std::copy(s.begin(), s.begin() + static_cast<std::ptrdiff_t>(m) + 1, even_.begin());
  for (std::size_t n = 1; n < m; ++n) even_[size_ - n] = s[n];
  Forward(even_, s, unused_);
}

}  // namespace sotto
#endif  // HWY_ONCE
