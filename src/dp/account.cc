#include "dp/account.h"

#include <cmath>

#include "dp/budget.h"
#include "dp/gaussian.h"
#include "dp/parameters.h"

namespace sotto {

Account MakeAccount(const PrivacyEvent& event, double delta) {
  CheckDelta(delta);
  Budget budget;
  budget.Spend(event);
  Account account;
  account.event = event;
  account.delta = delta;
  account.rdp = budget.RenyiEpsilon(delta);
  account.pld = budget.LossEpsilon(delta);
  if (event.kind != EventKind::kSubsampledGaussian) {
    account.sequential = budget.SequentialEpsilon(delta);
    account.advanced = budget.AdvancedEpsilon(delta);
  }
  account.rho = budget.Rho();
  account.concentrated = budget.ConcentratedEpsilon(delta);
  if (event.kind == EventKind::kGaussian || event.kind == EventKind::kSubsampledGaussian) {
    account.gdp = CompositionMu(event.q, event.noise, event.count);
  }
  return account;
}

void NoiseWish::Validate() const {
  CheckEpsilon(epsilon);
  CheckSensitivity(sensitivity);
  PrivacyEvent::SubsampledGaussian(q, 1.0, steps).Validate();
  if (delta != 0.0) CheckDelta(delta);
}

WishedNoise NoiseFor(const NoiseWish& wish) {
  wish.Validate();
  WishedNoise noise;
  const auto steps = static_cast<double>(wish.steps);
  noise.exact = wish.q == 1.0;
  if (wish.delta > 0.0) {
    noise.gaussian = noise.exact
                         ? std::sqrt(steps) / GaussianMu(wish.epsilon, wish.delta)
                         : CalibrateNoise(wish.q, wish.steps, wish.epsilon, wish.delta, wish.renyi);
  }
  if (wish.q == 1.0) noise.laplace_scale = wish.sensitivity * steps / wish.epsilon;
  return noise;
}

}  // namespace sotto
