// For tests only: the normal deviates that numpy.random.default_rng(seed) draws, so that golden
// values of large synthetic score sets can be checked without shipping the sets.
//
// SeedSequence: O'Neill, "Developing a seed_seq alternative" (2015). Generator: PCG XSL RR 128/64
// (O'Neill 2014). Normal deviates: ziggurat of 256 strips (Marsaglia & Tsang 2000), 52-bit
// mantissas, the tables computed here from r = 3.6541528853610088.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

namespace sotto::testing {

class NumpyRng {
 public:
  explicit NumpyRng(std::uint32_t seed) {
    const auto words = SeedWords(seed);
    const auto wide = [&words](std::size_t i) {
      return (static_cast<U128>(words[i]) << 64) | words[i + 1];
    };
    increment_ = (wide(2) << 1) | 1;
    Step();
    state_ += wide(0);
    Step();
    MakeTables();
  }

  double Normal(double mean, double deviation) { return mean + deviation * StandardNormal(); }

 private:
  __extension__ using U128 = unsigned __int128;

  static std::array<std::uint64_t, 4> SeedWords(std::uint32_t seed) {
    std::array<std::uint32_t, 4> pool{seed, 0, 0, 0};
    std::uint32_t constant = 0x43b0d7e5U;
    const auto hash = [&constant](std::uint32_t value) {
      value ^= constant;
      constant *= 0x931e8875U;
      value *= constant;
      return value ^ (value >> 16);
    };
    for (std::uint32_t& word : pool) word = hash(word);
    for (std::size_t from = 0; from < 4; ++from) {
      for (std::size_t to = 0; to < 4; ++to) {
        if (from == to) continue;
        const std::uint32_t mixed = 0xca01f9ddU * pool[to] - 0x4973f715U * hash(pool[from]);
        pool[to] = mixed ^ (mixed >> 16);
      }
    }
    std::array<std::uint64_t, 4> words{};
    constant = 0x8b51f9ddU;
    for (std::size_t i = 0; i < 8; ++i) {
      std::uint32_t value = pool[i % 4] ^ constant;
      constant *= 0x58f38dedU;
      value *= constant;
      value ^= value >> 16;
      words[i / 2] |= static_cast<std::uint64_t>(value) << (32 * (i % 2));
    }
    return words;
  }

  void Step() {
    constexpr U128 kMultiplier =
        (static_cast<U128>(2549297995355413924U) << 64) | 4865540595714422341U;
    state_ = state_ * kMultiplier + increment_;
  }

  std::uint64_t Next() {
    Step();
    const auto high = static_cast<std::uint64_t>(state_ >> 64);
    const auto low = static_cast<std::uint64_t>(state_);
    return std::rotr(high ^ low, static_cast<int>(high >> 58));
  }

  double NextDouble() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

  void MakeTables() {
    const long double r = kR;
    const auto f = [](long double x) { return std::exp(-x * x / 2); };
    // Area of each strip: the base rectangle with its tail.
    const long double area = r * f(r) + std::sqrt(std::numbers::pi_v<long double> / 2) *
                                            std::erfc(r / std::numbers::sqrt2_v<long double>);
    const long double scale = 0x1p52L;
    long double x = r;
    width_[0] = static_cast<double>(area / f(r) / scale);
    inside_[0] = static_cast<std::uint64_t>(r * f(r) / area * scale);
    density_[0] = 1.0;
    width_[255] = static_cast<double>(r / scale);
    density_[255] = static_cast<double>(f(r));
    for (std::size_t i = 254; i > 0; --i) {
      const long double next = std::sqrt(-2 * std::log(area / x + f(x)));
      inside_[i + 1] = static_cast<std::uint64_t>(next / x * scale);
      width_[i] = static_cast<double>(next / scale);
      density_[i] = static_cast<double>(f(next));
      x = next;
    }
    inside_[1] = 0;
  }

  double StandardNormal() {
    while (true) {
      std::uint64_t bits = Next();
      const std::size_t strip = bits & 0xff;
      bits >>= 8;
      const bool negative = (bits & 1) != 0;
      const std::uint64_t mantissa = (bits >> 1) & 0x000fffffffffffffU;
      const double size = static_cast<double>(mantissa) * width_[strip];
      const double x = negative ? -size : size;
      if (mantissa < inside_[strip]) return x;
      if (strip == 0) {
        while (true) {
          const double tail = -1.0 / kR * std::log1p(-NextDouble());
          const double y = -std::log1p(-NextDouble());
          if (y + y > tail * tail) {
            return ((mantissa >> 8) & 1) != 0 ? -(kR + tail) : kR + tail;
          }
        }
      }
      if ((density_[strip - 1] - density_[strip]) * NextDouble() + density_[strip] <
          std::exp(-0.5 * x * x)) {
        return x;
      }
    }
  }

  static constexpr double kR = 3.6541528853610088;
  U128 state_ = 0;
  U128 increment_ = 0;
  std::array<double, 256> width_{};
  std::array<std::uint64_t, 256> inside_{};
  std::array<double, 256> density_{};
};

// The golden recipe: a tenth targets N(2, 1.5), the rest N(−2, 1.5), rounded to 1e-4.
struct LargeTrials {
  std::vector<double> tar;
  std::vector<double> non;
};

inline LargeTrials MakeLargeTrials(std::size_t n, std::uint32_t seed) {
  NumpyRng rng(seed);
  LargeTrials trials;
  const auto draw = [&rng](std::size_t count, double mean, std::vector<double>& out) {
    out.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      out.push_back(std::nearbyint(rng.Normal(mean, 1.5) * 1e4) / 1e4);
    }
  };
  draw(n / 10, 2.0, trials.tar);
  draw(n - n / 10, -2.0, trials.non);
  return trials;
}

}  // namespace sotto::testing
