#include "dp/loss_model.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "dp/normal.h"

namespace sotto {
namespace {

double NormalDensity(double x, double sigma) {
  const double u = x / sigma;
  return std::exp(-0.5 * u * u) / (sigma * std::sqrt(2.0 * M_PI));
}

// N(0, z²) against (1 − q)·N(0, z²) + q·N(1, z²): ln of mixture over plain is
// ln(1 − q + q·e^u), u = (2x − 1)/(2z²).
double MixtureLoss(double x, double q, double z) {
  const double u = (2.0 * x - 1.0) / (2.0 * z * z);
  if (q == 1.0) return u;
  return u > 500.0 ? u + std::log(q) : std::log1p(q * std::expm1(u));
}

double MixturePoint(double loss, double q, double z) {
  double u = loss;
  if (q != 1.0) {
    if (loss > 30.0) {
      u = loss + std::log1p((q - 1.0) * std::exp(-loss)) - std::log(q);
    } else {
      u = std::log((std::expm1(loss) + q) / q);  // −inf or NaN below the lowest loss, ln(1 − q)
    }
  }
  return u * z * z + 0.5;
}

class RemoveCurve final : public LossCurve {  // P has the record
 public:
  RemoveCurve(double q, double z, double reach) : q_(q), z_(z) {
    low = (q == 1.0 ? 1.0 : 0.0) - reach * z;
    high = 1.0 + reach * z;
    panel = 0.1 * z;
    mass_below = (1.0 - q) * NormalCdf(low / z) + q * NormalCdf((low - 1.0) / z);
    mass_above = (1.0 - q) * NormalCdf(-high / z) + q * NormalCdf(-reach);
  }
  double Density(double y) const override {
    const double with = q_ * NormalDensity(y - 1.0, z_);
    return q_ == 1.0 ? with : with + (1.0 - q_) * NormalDensity(y, z_);
  }
  double Loss(double y) const override { return MixtureLoss(y, q_, z_); }
  double At(double loss) const override {
    const double y = MixturePoint(loss, q_, z_);
    return y > low ? std::min(y, high) : low;  // NaN goes to low
  }

 private:
  double q_, z_;
};

class AddCurve final : public LossCurve {  // Q has the record; y = −x
 public:
  AddCurve(double q, double z, double reach) : q_(q), z_(z) {
    low = -reach * z;
    high = reach * z;
    panel = 0.1 * z;
    mass_below = mass_above = NormalCdf(-reach);
  }
  double Density(double y) const override { return NormalDensity(y, z_); }
  double Loss(double y) const override { return -MixtureLoss(-y, q_, z_); }
  double At(double loss) const override {
    const double y = -MixturePoint(-loss, q_, z_);
    return y < high ? std::max(y, low) : high;
  }

 private:
  double q_, z_;
};

class LaplaceCurve final : public LossCurve {  // y is the loss itself
 public:
  explicit LaplaceCurve(double eps) : eps_(eps) {
    low = -eps;
    high = eps;
    panel = 0.2;
  }
  double Density(double y) const override { return 0.25 * std::exp(0.5 * (y - eps_)); }
  double Loss(double y) const override { return y; }
  double At(double loss) const override { return std::clamp(loss, low, high); }

 private:
  double eps_;
};

// ∫ p and ∫ (1 − e^{g − loss})·p over [a, b]: four-point Gauss–Legendre on panels.
struct Masses {
  double p = 0.0;
  double excess = 0.0;
};

Masses Integrate(const LossCurve& curve, double a, double b, double g) {
  constexpr std::array<double, 4> kNodes = {-0.8611363115940526, -0.3399810435848563,
                                            0.3399810435848563, 0.8611363115940526};
  constexpr std::array<double, 4> kWeights = {0.3478548451374538, 0.6521451548625461,
                                              0.6521451548625461, 0.3478548451374538};
  Masses sum;
  if (!(b > a)) return sum;
  const auto panels = static_cast<int>(std::ceil((b - a) / curve.panel));
  const double half = 0.5 * (b - a) / panels;
  for (int i = 0; i < panels; ++i) {
    const double middle = a + (2 * i + 1) * half;
    for (std::size_t j = 0; j < kNodes.size(); ++j) {
      const double y = middle + half * kNodes[j];
      const double p = kWeights[j] * half * curve.Density(y);
      sum.p += p;
      sum.excess -= p * std::expm1(g - curve.Loss(y));
    }
  }
  return sum;
}

std::int64_t FloorIndex(double loss, double step) {
  return static_cast<std::int64_t>(std::floor(loss / step));
}

// An empty grid that reaches from the lowest to the highest loss of the model.
LossGrid EmptyGrid(const LossModel& model, double step, double offset) {
  const auto [low, high] = model.Range();
  LossGrid grid;
  grid.step = step;
  grid.offset = offset;
  grid.first = FloorIndex(low - offset, step) - 1;
  grid.mass.assign(static_cast<std::size_t>(FloorIndex(high - offset, step) + 4 - grid.first), 0.0);
  grid.infinite = model.infinite;
  return grid;
}

double& At(LossGrid& grid, std::int64_t index) {
  return grid.mass[static_cast<std::size_t>(
      std::clamp<std::int64_t>(index - grid.first, 0, std::ssize(grid.mass) - 1))];
}

}  // namespace

std::pair<double, double> LossModel::Range() const {
  double lowest = 1e300;
  double highest = -1e300;
  for (const Atom& atom : atoms) {
    lowest = std::min(lowest, atom.loss);
    highest = std::max(highest, atom.loss);
  }
  if (curve) {
    lowest = std::min(lowest, curve->Loss(curve->low));
    highest = std::max(highest, curve->Loss(curve->high));
  }
  return {lowest, highest};
}

std::vector<LossModel> LossModels(const PrivacyEvent& event, double tail) {
  event.Validate();
  std::vector<LossModel> models(1);
  LossModel& model = models.front();
  switch (event.kind) {
    case EventKind::kGaussian:
    case EventKind::kSubsampledGaussian: {
      const double reach = -NormalQuantile(std::max(tail, 1e-290));
      model.curve = std::make_unique<RemoveCurve>(event.q, event.noise, reach);
      if (event.kind == EventKind::kSubsampledGaussian) {
        models.emplace_back();
        models.back().curve = std::make_unique<AddCurve>(event.q, event.noise, reach);
      }
      break;
    }
    case EventKind::kLaplace:
      model.curve = std::make_unique<LaplaceCurve>(event.eps);
      model.atoms = {{event.eps, 0.5}, {-event.eps, 0.5 * std::exp(-event.eps)}};
      break;
    case EventKind::kPure:
    case EventKind::kApproximate: {
      const double keep = 1.0 / (1.0 + std::exp(-event.eps));
      model.atoms = {{event.eps, (1.0 - event.delta) * keep},
                     {-event.eps, (1.0 - event.delta) * (1.0 - keep)}};
      model.infinite = event.delta;
      break;
    }
  }
  return models;
}

LossGrid DiscretiseUp(const LossModel& model, double step, double offset) {
  LossGrid grid = EmptyGrid(model, step, offset);
  const auto point = [&](std::int64_t k) { return offset + static_cast<double>(k) * step; };
  const double whole = -std::expm1(-step);
  for (const LossModel::Atom& atom : model.atoms) {
    const std::int64_t k = FloorIndex(atom.loss - offset, step);
    const double up = atom.mass * -std::expm1(point(k) - atom.loss) / whole;
    At(grid, k + 1) += up;
    At(grid, k) += atom.mass - up;
  }
  if (!model.curve) return grid;
  const LossCurve& curve = *model.curve;
  const double highest = curve.Loss(curve.high);
  std::int64_t k = FloorIndex(curve.Loss(curve.low) - offset, step);
  At(grid, k + 1) += curve.mass_below;
  grid.infinite += curve.mass_above;
  double y = curve.low;
  for (; point(k) < highest; ++k) {
    const double next = curve.At(point(k + 1));
    const Masses masses = Integrate(curve, y, next, point(k));
    const double up = std::clamp(masses.excess / whole, 0.0, masses.p);
    At(grid, k + 1) += up;
    At(grid, k) += masses.p - up;
    y = std::max(y, next);
  }
  return grid;
}

LossGrid DiscretiseDown(const LossModel& model, double step, double offset) {
  LossGrid grid = EmptyGrid(model, step, offset);
  for (const LossModel::Atom& atom : model.atoms) {
    // An atom on a grid point must not fall one step by a rounding error of the division.
    At(grid, FloorIndex(atom.loss - offset + 1e-9 * step, step)) += atom.mass;
  }
  if (!model.curve) return grid;
  const LossCurve& curve = *model.curve;
  const double highest = curve.Loss(curve.high);
  double y = curve.low;
  while (y < curve.high) {
    const double edge = curve.Loss(y);
    const auto k = static_cast<std::int64_t>(std::ceil((edge - offset) / step + 1e-3));
    const double g = offset + static_cast<double>(k) * step;
    const double middle = curve.At(g);
    const Masses left = Integrate(curve, y, middle, g);
    double next = curve.At(std::min(2.0 * g - edge, highest));
    double low = middle;
    double high = curve.high;
    Masses right;
    bool closed = false;
    for (int i = 0; i < 60 && g < highest; ++i) {
      right = Integrate(curve, middle, next, g);
      const double balance = left.excess + right.excess;
      if (std::abs(balance) <= 1e-9 * std::abs(left.excess)) {
        closed = true;
        break;
      }
      (balance > 0.0 ? high : low) = next;
      if (balance < 0.0 && next >= curve.high)
        break;  // even the whole rest does not reach the grid point
      const double slope = -std::expm1(g - curve.Loss(next)) * curve.Density(next);
      const double newton = next - balance / slope;
      next = slope > 0.0 && newton > low && newton < high ? newton : 0.5 * (low + high);
      if (high - low <= 1e-14 * (1.0 + std::abs(high)) && high < curve.high) {
        closed = true;
        break;
      }
      if (curve.high - low <= 1e-14 * (1.0 + std::abs(low))) next = curve.high;
    }
    if (!closed) break;
    At(grid, k) += left.p + right.p;
    y = next;
  }
  if (y < curve.high) {
    const Masses rest = Integrate(curve, y, curve.high, curve.Loss(y));
    if (rest.p > 0.0) {  // one last bucket, rounded down
      const double loss = curve.Loss(y) - std::log1p(-std::min(rest.excess / rest.p, 1.0 - 1e-16));
      At(grid, FloorIndex(std::min(loss, highest) - offset, step)) += rest.p;
    }
  }
  At(grid, FloorIndex(highest - offset, step)) += curve.mass_above;
  return grid;
}

double BulkLoss(const LossModel& model, double step) {
  if (!model.curve || !model.atoms.empty()) return 0.0;
  const LossCurve& curve = *model.curve;
  const double lowest = curve.Loss(curve.low);
  if (lowest < -2.0 * step || lowest > 0.0) return 0.0;  // finer than the bulk: no need
  const Masses bulk = Integrate(curve, curve.low, curve.At(0.5 * step), 0.0);
  return bulk.p > 0.5 ? -std::log1p(-bulk.excess / bulk.p) : 0.0;
}

}  // namespace sotto
