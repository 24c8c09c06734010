#include "dp/pld.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>

#include "base/error.h"
#include "dp/double_fft.h"
#include "dp/loss_model.h"
#include "dp/normal.h"
#include "dp/parameters.h"

namespace sotto {
namespace {

using Complex = std::complex<double>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLogFolded = -36.0;  // mass outside the window of the FFT: below 2.4e-16

// Logarithm, mean and variance of Σ mass·exp(θ·loss), as a cumulant function.
struct Cumulants {
  double log_moment = 0.0;
  double mean = 0.0;
  double variance = 0.0;
  Cumulants& operator+=(const Cumulants& other) {
    log_moment += other.log_moment;
    mean += other.mean;
    variance += other.variance;
    return *this;
  }
};

struct Part {
  LossGrid grid;
  double count = 1.0;
};

Cumulants OfGrid(const LossGrid& grid, double theta) {
  const auto n = static_cast<std::int64_t>(grid.mass.size());
  const auto loss_at = [&](std::int64_t i) {
    return grid.offset + static_cast<double>(grid.first + i) * grid.step;
  };
  const double shift = std::max(theta * loss_at(n - 1), theta * loss_at(0));
  double m0 = 0.0;
  double m1 = 0.0;
  double m2 = 0.0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double mass = grid.mass[static_cast<std::size_t>(i)];
    if (mass <= 0.0) continue;
    const double loss = loss_at(i);
    const double weight = mass * std::exp(theta * loss - shift);
    m0 += weight;
    m1 += weight * loss;
    m2 += weight * loss * loss;
  }
  const double mean = m1 / m0;
  return {std::log(m0) + shift, mean, std::max(0.0, m2 / m0 - mean * mean)};
}

Cumulants OfParts(const std::vector<Part>& parts, double theta) {
  Cumulants total;
  for (const Part& part : parts) {
    Cumulants one = OfGrid(part.grid, theta);
    one.log_moment *= part.count;
    one.mean *= part.count;
    one.variance *= part.count;
    total += one;
  }
  return total;
}

// The tilt whose bulk lies where the epsilon of this delta is decided.
double ChooseTilt(const std::vector<Part>& parts, double delta, double highest) {
  const auto reached = [&](double theta) {
    const Cumulants c = OfParts(parts, theta);
    return c.log_moment - theta * c.mean <= std::log(delta);
  };
  if (reached(0.0)) return 0.0;
  double high = 1.0;
  const double limit = 300.0 / std::max(highest, 1e-6);
  while (!reached(high)) {
    high *= 2.0;
    if (high > limit) return limit;
  }
  return Bisect(0.0, high, 12, reached).high;
}

// Half-width beyond which the tilted sum has mass below exp(kLogFolded), by Chernoff's bound.
double HalfWidth(const std::vector<Part>& parts, double theta, const Cumulants& at) {
  const double deviation = std::sqrt(std::max(at.variance, 1e-300));
  double above = kInfinity;
  double below = kInfinity;
  for (const double factor : {1.0, 2.5, 5.0, 8.0}) {
    const double t = factor / deviation;
    const double up = OfParts(parts, theta + t).log_moment - at.log_moment;
    const double down = OfParts(parts, theta - t).log_moment - at.log_moment;
    above = std::min(above, (up - kLogFolded) / t - at.mean);
    below = std::min(below, (down - kLogFolded) / t + at.mean);
  }
  return std::max(above, below);
}

// The composed and untilted distribution on a window of the grid.
struct Composed {
  double step = 0.0;
  std::int64_t first = 0;                // grid index of w[0]
  std::array<std::vector<double>, 2> w;  // tilted masses; [0] for the upper result, [1] the lower
  std::array<double, 2> log_moment{};
  std::array<double, 2> rounding{};  // bound of the FFT's error in each w
  std::array<double, 2> infinite{};
  double theta = 0.0;
  double offset = 0.0;  // of all losses: the sum of the grids' offsets
};

void TiltInto(const LossGrid& grid, double theta, double log_moment, bool imaginary,
              std::vector<Complex>& x) {
  const auto n = static_cast<std::int64_t>(x.size());
  for (std::size_t i = 0; i < grid.mass.size(); ++i) {
    if (grid.mass[i] <= 0.0) continue;
    const std::int64_t k = grid.first + static_cast<std::int64_t>(i);
    const double loss = grid.offset + static_cast<double>(k) * grid.step;
    const double tilted = grid.mass[i] * std::exp(theta * loss - log_moment);
    Complex& slot = x[static_cast<std::size_t>(((k % n) + n) % n)];
    slot += imaginary ? Complex(0.0, tilted) : Complex(tilted, 0.0);
  }
}

Complex Power(Complex base, double count) {
  const double magnitude = std::abs(base);
  if (magnitude == 0.0) return 0.0;
  return std::polar(std::exp(count * std::log(magnitude)),
                    std::remainder(count * std::arg(base), 2.0 * M_PI));
}

Composed Convolve(const std::vector<Part>& upper, const std::vector<Part>& lower, double theta,
                  std::int64_t first, std::size_t size) {
  Composed out;
  out.step = upper.front().grid.step;
  out.first = first;
  out.theta = theta;
  const DoubleFft fft(size);
  std::array<std::vector<Complex>, 2> product;
  for (auto& spectrum : product) spectrum.assign(size / 2 + 1, Complex(1.0, 0.0));
  std::array<double, 2> uses{};
  for (std::size_t part = 0; part < upper.size(); ++part) {
    const std::array<const Part*, 2> both = {&upper[part], &lower[part]};
    std::vector<Complex> x(size);
    out.offset += upper[part].count * upper[part].grid.offset;
    for (std::size_t side = 0; side < 2; ++side) {
      const double log_moment = OfGrid(both[side]->grid, theta).log_moment;
      out.log_moment[side] += both[side]->count * log_moment;
      uses[side] += both[side]->count;
      const double log_finite = both[side]->count * std::log1p(-both[side]->grid.infinite);
      out.infinite[side] = 1.0 - (1.0 - out.infinite[side]) * std::exp(log_finite);
      TiltInto(both[side]->grid, theta, log_moment, side == 1, x);
    }
    fft.Forward(x);
    for (std::size_t k = 0; k <= size / 2; ++k) {  // two real sequences from one transform
      const Complex a = x[k];
      const Complex b = std::conj(x[(size - k) % size]);
      product[0][k] *= Power(0.5 * (a + b), both[0]->count);
      product[1][k] *= Power(Complex(0.0, -0.5) * (a - b), both[1]->count);
    }
  }
  const double unit =
      8.0 * std::numeric_limits<double>::epsilon() * static_cast<double>(std::bit_width(size));
  std::vector<Complex> y(size);
  for (std::size_t side = 0; side < 2; ++side) {
    double sum = 0.0;
    for (const Complex& value : product[side]) sum += std::abs(value);
    // |φ^T| moves by at most T·|φ|^{T−1}·unit; the inverse transform averages that.
    out.rounding[side] = unit * (uses[side] + 1.0) * 2.0 * sum / static_cast<double>(size);
  }
  for (std::size_t k = 0; k <= size / 2; ++k) {
    const Complex a = product[0][k];
    const Complex b = product[1][k];
    y[k] = a + Complex(0.0, 1.0) * b;
    if (k > 0 && k < size / 2) y[size - k] = std::conj(a) + Complex(0.0, 1.0) * std::conj(b);
  }
  fft.Inverse(y);
  const auto n = static_cast<std::int64_t>(size);
  const double scale = 1.0 / static_cast<double>(size);
  for (auto& w : out.w) w.resize(size);
  for (std::int64_t i = 0; i < n; ++i) {
    const Complex value = y[static_cast<std::size_t>((((first + i) % n) + n) % n)] * scale;
    out.w[0][static_cast<std::size_t>(i)] = std::max(0.0, value.real()) + out.rounding[0];
    out.w[1][static_cast<std::size_t>(i)] = std::max(0.0, value.imag() - out.rounding[1]);
  }
  return out;
}

// The epsilon of delta(eps) = Pr(∞) + Σ_{s > eps} p(s)·(1 − e^{eps − s}), for the upper (side 0) or
// the lower result.
double EpsilonOf(const Composed& c, std::size_t side, double delta) {
  const std::vector<double>& w = c.w[side];
  const auto loss = [&](std::size_t i) {
    return c.offset + static_cast<double>(c.first + static_cast<std::int64_t>(i)) * c.step;
  };
  const auto untilt = [&](std::size_t i) {
    return std::exp(c.log_moment[side] - c.theta * loss(i));
  };
  const double open = delta - c.infinite[side];
  if (open <= 0.0) return kInfinity;
  double above = side == 0 ? std::exp(kLogFolded) * untilt(w.size() - 1) : 0.0;  // of the window
  double discounted = 0.0;  // Σ p(s)·e^{loss(i) − s}
  for (std::size_t i = w.size(); i-- > 0;) {
    const double folded = side == 1 ? 2.0 * std::exp(kLogFolded) * untilt(i) : 0.0;
    if (above - discounted - folded > open) {  // crossed between points i and i + 1
      // above − e^{eps − loss(i)}·discounted = open, linear in e^eps.
      const double ratio = (above - folded - open) / discounted;
      return std::max(0.0, loss(i) + std::log(ratio));
    }
    if (loss(i) <= 0.0) return 0.0;
    const double mass = w[i] * untilt(i);
    above += mass;
    discounted = (discounted + mass) * std::exp(-c.step);
  }
  return 0.0;
}

std::vector<Part> Discretise(const std::vector<LossModel>& models,
                             const std::vector<double>& counts, double step, bool up) {
  std::vector<Part> parts;
  for (std::size_t i = 0; i < models.size(); ++i) {
    const double offset = BulkLoss(models[i], step);
    parts.push_back(
        {up ? DiscretiseUp(models[i], step, offset) : DiscretiseDown(models[i], step, offset),
         counts[i]});
  }
  return parts;
}

// A grid that holds the atoms, where they all lie on one: nothing of them is then rounded.
double FitAtoms(const std::vector<LossModel>& models, double step) {
  for (const LossModel& model : models) {
    if (model.atoms.empty()) continue;
    const double loss = std::abs(model.atoms.front().loss);
    return loss / std::ceil(loss / step);
  }
  return step;
}

double LossRange(const std::vector<LossModel>& models, double& highest) {
  double lowest = 0.0;
  highest = 0.0;
  for (const LossModel& model : models) {
    const auto [low, high] = model.Range();
    lowest = std::min(lowest, low);
    highest = std::max(highest, high);
  }
  return highest - lowest;
}

double TotalOffset(const std::vector<Part>& parts) {
  double sum = 0.0;
  for (const Part& part : parts) sum += part.count * part.grid.offset;
  return sum;
}

// One direction (all records added, or all removed).
Composed ComposeDirection(const std::vector<LossModel>& models, const std::vector<double>& counts,
                          double delta, const PldOptions& options) {
  double highest = 0.0;
  const double range = LossRange(models, highest);
  double uses = 0.0;
  for (const double count : counts) uses += count;
  // A coarse look finds the tilt and the width; then the grid follows from the tolerance.
  const auto coarse = Discretise(models, counts, range / 4096.0, true);
  double theta = ChooseTilt(coarse, delta, highest);
  const Cumulants rough = OfParts(coarse, theta);
  const auto most = static_cast<double>(options.max_points);
  double step = std::sqrt(12.0 * options.tolerance / (uses * (theta + 1.0)));
  step = std::min(step, range / 256.0);
  step = std::max({step, 20.0 * std::sqrt(rough.variance) / most, range / most});
  while (true) {
    step = FitAtoms(models, step);
    const auto upper = Discretise(models, counts, step, true);
    const Cumulants at = OfParts(upper, theta);
    const double width = HalfWidth(upper, theta, at) + 4.0 * step;
    const double needed = 2.0 * width / step + 16.0;
    if (needed > most) {
      step *= std::max(1.01 * needed / most, 1.5);
      continue;
    }
    const auto lower = Discretise(models, counts, step, false);
    const std::size_t size = std::bit_ceil(static_cast<std::size_t>(std::max(needed, 64.0)));
    const auto first =
        static_cast<std::int64_t>(std::floor((at.mean - TotalOffset(upper)) / step)) -
        static_cast<std::int64_t>(size / 2);
    return Convolve(upper, lower, theta, first, size);
  }
}

}  // namespace

void PldOptions::Validate() const {
  if (!(tolerance > 0.0)) throw Error(fmt::format("PLD tolerance {}: must be above 0", tolerance));
  if (!std::has_single_bit(max_points) || max_points < 1024) {
    throw Error(fmt::format("PLD points {}: a power of two from 1024 up", max_points));
  }
}

PldEpsilon PldCompose(std::span<const PrivacyEvent> events, double delta,
                      const PldOptions& options) {
  CheckDelta(delta);
  PldEpsilon result;
  if (events.empty()) return result;
  options.Validate();
  double uses = 0.0;
  for (const PrivacyEvent& event : events) uses += static_cast<double>(event.count);
  const double tail = 1e-9 * delta / std::max(uses, 1.0);
  bool two = false;
  for (std::size_t direction = 0; direction < 2; ++direction) {
    std::vector<LossModel> models;
    std::vector<double> counts;
    for (const PrivacyEvent& event : events) {
      auto both = LossModels(event, tail);
      two = two || both.size() == 2;
      models.push_back(std::move(both[std::min(direction, both.size() - 1)]));
      counts.push_back(static_cast<double>(event.count));
    }
    const Composed composed = ComposeDirection(models, counts, delta, options);
    result.eps = std::max(result.eps, EpsilonOf(composed, 0, delta));
    result.eps_lower = std::max(result.eps_lower, EpsilonOf(composed, 1, delta));
    result.step = std::max(result.step, composed.step);
    result.points = std::max(result.points, composed.w[0].size());
    if (!two) break;
  }
  return result;
}

}  // namespace sotto
