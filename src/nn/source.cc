#include "nn/source.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sotto {

float PitchFeature(double f0_hz) {
  return static_cast<float>((std::log(f0_hz) - std::log(kNeutralF0Hz)) / 0.5);
}

std::vector<double> FillUnvoiced(std::span<const double> f0_hz) {
  std::vector<double> filled(f0_hz.begin(), f0_hz.end());
  const auto voiced = [](double f) { return f > 0.0; };
  const auto first = std::find_if(filled.begin(), filled.end(), voiced);
  if (first == filled.end()) {
    std::fill(filled.begin(), filled.end(), kNeutralF0Hz);
    return filled;
  }
  std::fill(filled.begin(), first, *first);
  for (auto left = first;;) {
    const auto right = std::find_if(left + 1, filled.end(), voiced);
    if (right == filled.end()) {
      std::fill(left + 1, filled.end(), *left);
      return filled;
    }
    const double a = std::log(*left), b = std::log(*right);
    const auto gap = static_cast<double>(right - left);
    for (auto i = left + 1; i < right; ++i) {
      *i = std::exp(a + (b - a) * static_cast<double>(i - left) / gap);
    }
    left = right;
  }
}

double HarmonicSample(double phase, double f0_hz) {
  const double k = std::max(1.0, std::floor(kHighestHarmonicHz / f0_hz));
  const double below = 2.0 * std::sin(0.5 * phase);
  // Near a multiple of 2π every cosine is 1.
  const double sum = std::abs(below) < 1e-5 ? k : std::sin((k + 0.5) * phase) / below - 0.5;
  return std::sqrt(2.0 / k) * sum;
}

void SourceMaker::Emit(double from_hz, double to_hz, std::int64_t count, std::int64_t of,
                       std::vector<float>& harmonic, std::vector<float>& noise) {
  const double a = std::log(from_hz), b = std::log(to_hz);
  for (std::int64_t i = 0; i < count; ++i) {
    const double f0 = std::exp(a + (b - a) * static_cast<double>(i) / static_cast<double>(of));
    phase_ += 2.0 * std::numbers::pi * f0 / kSynthRateHz;
    if (phase_ > 2.0 * std::numbers::pi) phase_ -= 2.0 * std::numbers::pi;
    harmonic.push_back(static_cast<float>(HarmonicSample(phase_, f0)));
    noise.push_back(static_cast<float>(random_.Gaussian()));
  }
}

void SourceMaker::Push(double f0_hz, std::vector<float>& harmonic, std::vector<float>& noise) {
  if (last_hz_ == 0.0) {
    Emit(f0_hz, f0_hz, kSynthHop / 2, kSynthHop, harmonic, noise);
  } else {
    Emit(last_hz_, f0_hz, kSynthHop, kSynthHop, harmonic, noise);
  }
  last_hz_ = f0_hz;
}

void SourceMaker::Finish(std::vector<float>& harmonic, std::vector<float>& noise) {
  if (last_hz_ > 0.0) Emit(last_hz_, last_hz_, kSynthHop / 2, kSynthHop, harmonic, noise);
  last_hz_ = 0.0;
}

}  // namespace sotto
