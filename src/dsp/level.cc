#include "dsp/level.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

namespace sotto {

SpeechLevel ActiveSpeechLevel(std::span<const float> x, int rate_hz) {
  constexpr double kTimeConstantS = 0.03, kHangoverS = 0.2, kMarginDb = 15.9;
  constexpr std::size_t kThresholds = 16;  // 2^−1 … 2^−16 of full scale
  const double g = std::exp(-1.0 / (rate_hz * kTimeConstantS));
  const auto hangover = static_cast<std::size_t>(std::ceil(kHangoverS * rate_hz));
  std::array<std::size_t, kThresholds> active{}, since{};
  since.fill(hangover);
  double squares = 0.0, p = 0.0, q = 0.0;
  for (const float sample : x) {
    const double value = sample;
    squares += value * value;
    p = g * p + (1.0 - g) * std::abs(value);
    q = g * q + (1.0 - g) * p;
    double threshold = 0.5;
    for (std::size_t j = 0; j < kThresholds; ++j, threshold *= 0.5) {
      if (q >= threshold) {
        ++active[j];
        since[j] = 0;
      } else if (since[j] < hangover) {
        ++active[j];
        ++since[j];
      }
    }
  }
  if (squares <= 0.0) return {-std::numeric_limits<double>::infinity(), 0.0};
  // Walk from the lowest threshold up: the level over the active time rises more slowly than the
  // threshold; where they are kMarginDb apart is the answer, interpolated in dB.
  double last_level = 0.0, last_gap = std::numeric_limits<double>::infinity();
  for (std::size_t k = kThresholds; k-- > 0;) {
    if (active[k] == 0) break;
    const double level = 10.0 * std::log10(squares / static_cast<double>(active[k]));
    const double gap = level - 20.0 * std::log10(std::ldexp(1.0, -static_cast<int>(k) - 1));
    if (gap <= kMarginDb) {
      const double t = std::isinf(last_gap) ? 1.0 : (last_gap - kMarginDb) / (last_gap - gap);
      const double result = std::isinf(last_gap) ? level : last_level + t * (level - last_level);
      return {result, std::pow(10.0, -result / 10.0) * squares / static_cast<double>(x.size())};
    }
    last_level = level;
    last_gap = gap;
  }
  // Too quiet or too short for the method: the long-term level.
  return {RmsDb(x), 1.0};
}

double RmsDb(std::span<const float> x) {
  double squares = 0.0;
  for (const float value : x) squares += static_cast<double>(value) * value;
  return squares > 0.0 ? 10.0 * std::log10(squares / static_cast<double>(x.size()))
                       : -std::numeric_limits<double>::infinity();
}

}  // namespace sotto
