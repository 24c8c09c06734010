#include "dp/event.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/error.h"
#include "dp/parameters.h"

namespace sotto {

PrivacyEvent PrivacyEvent::Pure(double eps, std::string mechanism) {
  PrivacyEvent event;
  event.mechanism = std::move(mechanism);
  event.eps = eps;
  return event;
}

PrivacyEvent PrivacyEvent::Approximate(double eps, double delta, std::string mechanism) {
  PrivacyEvent event = Pure(eps, std::move(mechanism));
  event.kind = EventKind::kApproximate;
  event.delta = delta;
  return event;
}

PrivacyEvent PrivacyEvent::Laplace(double eps) {
  PrivacyEvent event = Pure(eps, "laplace");
  event.kind = EventKind::kLaplace;
  return event;
}

PrivacyEvent PrivacyEvent::Gaussian(double noise) {
  PrivacyEvent event;
  event.mechanism = "gaussian";
  event.kind = EventKind::kGaussian;
  event.noise = noise;
  return event;
}

PrivacyEvent PrivacyEvent::SubsampledGaussian(double q, double noise, std::uint64_t steps) {
  PrivacyEvent event = Gaussian(noise);
  event.mechanism = "subsampled gaussian";
  event.kind = q == 1.0 ? EventKind::kGaussian : EventKind::kSubsampledGaussian;
  event.q = q;
  event.count = steps;
  return event;
}

void PrivacyEvent::Validate() const {
  if (count == 0) throw Error(fmt::format("{}: used 0 times; must be at least 1", mechanism));
  if (kind == EventKind::kGaussian || kind == EventKind::kSubsampledGaussian) {
    if (!(noise > 0.0) || !std::isfinite(noise)) {
      throw Error(fmt::format("noise {}: sigma over sensitivity must be above 0", noise));
    }
    if (!(q > 0.0 && q <= 1.0)) {
      throw Error(fmt::format("q {}: the sampling probability lies above 0 and up to 1", q));
    }
    return;
  }
  CheckEpsilon(eps);
  if (kind == EventKind::kApproximate) CheckDelta(delta);
}

}  // namespace sotto
