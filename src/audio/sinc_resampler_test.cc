#include "audio/sinc_resampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/error.h"

namespace sotto {
namespace {

std::vector<float> Tone(double hz, double rate_hz, std::size_t n) {
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = static_cast<float>(
        0.5 * std::sin(2.0 * std::numbers::pi * hz * static_cast<double>(i) / rate_hz));
  }
  return x;
}

std::vector<float> Convert(double from_hz, double to_hz, const std::vector<float>& x,
                           std::size_t piece) {
  SincResampler resampler(from_hz, to_hz);
  std::vector<float> out;
  for (std::size_t at = 0; at < x.size(); at += piece) {
    resampler.Push(std::span(x).subspan(at, std::min(piece, x.size() - at)), out);
  }
  resampler.Finish(out);
  return out;
}

double PeakInside(const std::vector<float>& x) {
  float peak = 0.0F;
  for (std::size_t i = x.size() / 4; i < 3 * x.size() / 4; ++i)
    peak = std::max(peak, std::abs(x[i]));
  return peak;
}

TEST(SincResampler, TonesInTheBandComeOutAsTheyAre) {
  for (const auto& [from, to] : std::vector<std::pair<double, double>>{{8000, 16000},
                                                                       {16000, 8000},
                                                                       {48000, 16000},
                                                                       {16000, 48000},
                                                                       {44100, 16000},
                                                                       {16000, 11025},
                                                                       {16000, 192000},
                                                                       {12345, 16000}}) {
    const double low = std::min(from, to);
    for (const double share : {0.01, 0.3, 0.8}) {
      const double hz = share * low / 2.0;
      const auto n = static_cast<std::size_t>(0.2 * from);
      const std::vector<float> y = Convert(from, to, Tone(hz, from, n), 160);
      ASSERT_EQ(y.size(), static_cast<std::size_t>(std::ceil(static_cast<double>(n) * to / from)));
      const std::vector<float> expected = Tone(hz, to, y.size());
      for (std::size_t i = y.size() / 4; i < 3 * y.size() / 4; ++i) {
        ASSERT_NEAR(y[i], expected[i], 2e-4) << from << " to " << to << ", " << hz << " Hz";
      }
    }
  }
}

TEST(SincResampler, WhatLiesAboveTheBandIsGone) {
  for (const double from : {22050.0, 44100.0, 48000.0, 192000.0}) {
    const double hz = std::min(1.12 * 8000.0, 0.98 * from / 2.0);
    const auto n = static_cast<std::size_t>(0.2 * from);
    EXPECT_LT(PeakInside(Convert(from, 16000.0, Tone(hz, from, n), n)), 0.5 * 2e-4) << from;
  }
  // No images of what was there.
  const std::vector<float> y = Convert(8000.0, 16000.0, Tone(3000.0, 8000.0, 1600), 1600);
  double image = 0.0, real = 0.0;
  for (std::size_t i = 800; i < 2400; ++i) {  // 300 and 500 periods
    const double t = static_cast<double>(i) / 16000.0;
    image += y[i] * std::sin(2.0 * std::numbers::pi * 5000.0 * t);
    real += y[i] * std::sin(2.0 * std::numbers::pi * 3000.0 * t);
  }
  EXPECT_LT(std::abs(image), 1e-3 * std::abs(real));
}

TEST(SincResampler, DoesNotDependOnThePiecesAndHoldsBackItsReach) {
  const std::vector<float> x = Tone(700.0, 44100.0, 30000);
  const std::vector<float> whole = Convert(44100.0, 16000.0, x, x.size());
  EXPECT_EQ(whole, Convert(44100.0, 16000.0, x, 1));
  EXPECT_EQ(whole, Convert(44100.0, 16000.0, x, 997));
  SincResampler resampler(8000.0, 16000.0);
  EXPECT_EQ(resampler.Reach(), 20U);
  EXPECT_EQ(SincResampler(48000.0, 16000.0).Reach(), 60U);
  std::vector<float> out;
  const std::vector<float> one = {0.1F};
  for (std::size_t n = 1; n <= 200; ++n) {
    resampler.Push(one, out);
    EXPECT_EQ(out.size(), n > 20 ? 2 * (n - 20) : 0U);
  }
}

TEST(SincResampler, RefusesRatesThatAreNone) {
  EXPECT_THROW(SincResampler(0.0, 16000.0), Error);
  EXPECT_THROW(SincResampler(16000.0, std::nan("")), Error);
}

TEST(SincResampler, OfNothingGivesNothing) {
  EXPECT_TRUE(Convert(8000.0, 16000.0, {}, 1).empty());
  EXPECT_EQ(Convert(8000.0, 16000.0, {0.5F}, 1).size(), 2U);
}

}  // namespace
}  // namespace sotto
