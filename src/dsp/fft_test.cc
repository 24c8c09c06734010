#include "dsp/fft.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "base/error.h"
#include "base/random.h"
#include "dsp/vector_math.h"

namespace sotto {
namespace {

std::vector<float> Noise(std::size_t n) {
  SeededRng rng(n);
  std::vector<float> x(n);
  for (float& v : x) v = static_cast<float>(rng.Gaussian());
  return x;
}

TEST(RealFft, AgreesWithTheDefinitionAndInverts) {
  for (std::size_t n = 64; n <= 4096; n *= 2) {
    const auto x = Noise(n);
    RealFft fft(n);
    std::vector<float> re(fft.Bins()), im(fft.Bins()), back(n);
    fft.Forward(x, re, im);
    for (std::size_t k = 0; k < fft.Bins(); k += 1 + n / 64) {
      std::complex<double> sum = 0.0;
      for (std::size_t i = 0; i < n; ++i) {
        sum +=
            static_cast<double>(x[i]) *
            std::polar(1.0, -2.0 * M_PI * static_cast<double>(k * i % n) / static_cast<double>(n));
      }
      EXPECT_NEAR(re[k], sum.real(), 1e-6 * static_cast<double>(n)) << n << " " << k;
      EXPECT_NEAR(im[k], sum.imag(), 1e-6 * static_cast<double>(n)) << n << " " << k;
    }
    fft.Inverse(re, im, back);
    for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(back[i], x[i], 1e-5) << n;
  }
}

TEST(RealFft, OfAnEvenSequenceTwiceIsNTimesIt) {
  RealFft fft(256);
  const auto s = Noise(fft.Bins());
  auto t = s;
  fft.Even(t);
  fft.Even(t);
  for (std::size_t k = 0; k < s.size(); ++k) EXPECT_NEAR(t[k] / 256.0F, s[k], 1e-5);
}

TEST(RealFft, RefusesOtherSizes) {
  EXPECT_THROW(RealFft(32), Error);
  EXPECT_THROW(RealFft(1000), Error);
}

TEST(VectorMath, AgreesWithTheStandardLibraryAtEveryLength) {
  for (std::size_t n = 1; n < 40; ++n) {
    const auto x = Noise(n);
    std::vector<float> e(n), l(n), re(n), im(n);
    ExpInto(x, e);
    LogInto(e, 1e-30F, l);
    ExpPolarInto(l, x, re, im);
    float dot = 0.0F;
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_NEAR(e[i] / std::exp(x[i]), 1.0F, 1e-6);
      EXPECT_NEAR(l[i], x[i], 1e-5);
      EXPECT_NEAR(re[i], e[i] * std::cos(x[i]), 1e-5 * e[i]);
      EXPECT_NEAR(im[i], e[i] * std::sin(x[i]), 1e-5 * e[i]);
      dot += x[i] * e[i];
    }
    EXPECT_NEAR(Dot(x, e), dot, 1e-4);
    const auto longer = Noise(2 * n - 1);
    std::vector<float> y(n);
    Correlate(longer, x, y);
    for (std::size_t i = 0; i < n; ++i) {
      float sum = 0.0F;
      for (std::size_t k = 0; k < n; ++k) sum += x[k] * longer[i + k];
      EXPECT_NEAR(y[i], sum, 1e-4);
    }
  }
}

TEST(VectorMath, BitsSumsAndRotationsAreThoseOfPlainLoops) {
  for (const std::size_t n : {1U, 15U, 16U, 63U, 64U, 65U, 200U}) {
    const auto x = Noise(n);
    std::vector<std::uint64_t> bits;
    PositiveBits(x, bits);
    for (std::size_t i = 0; i < n; ++i)
      EXPECT_EQ((bits[i / 64] >> (i % 64)) & 1U, x[i] > 0.0F ? 1U : 0U) << i;
  }
  const auto a = Noise(48), b = Noise(96), c = Noise(144), s = Noise(192);
  FourSums expected{};
  for (std::size_t i = 0; i < 48; ++i) {
    expected.ac += a[i] * c[i];
    expected.as += a[i] * s[i];
    expected.bc += b[i] * c[i];
    expected.bs += b[i] * s[i];
  }
  const std::span<const float> bv(b.data(), 48), cv(c.data(), 48), sv(s.data(), 48);
  const FourSums sums = SumProducts(a, bv, cv, sv);
  EXPECT_NEAR(sums.ac, expected.ac, 1e-4);
  EXPECT_NEAR(sums.as, expected.as, 1e-4);
  EXPECT_NEAR(sums.bc, expected.bc, 1e-4);
  EXPECT_NEAR(sums.bs, expected.bs, 1e-4);
  std::vector<float> re(cv.begin(), cv.end()), im(sv.begin(), sv.end());
  Rotate(a, bv, re, im);
  for (std::size_t i = 0; i < 48; ++i) {
    EXPECT_NEAR(re[i], c[i] * a[i] - s[i] * b[i], 1e-5);
    EXPECT_NEAR(im[i], s[i] * a[i] + c[i] * b[i], 1e-5);
  }
}

}  // namespace
}  // namespace sotto
