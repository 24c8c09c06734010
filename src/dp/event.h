// One use of a mechanism, as the accountants see it.
#pragma once

#include <cstdint>
#include <string>

namespace sotto {

enum class EventKind {
  kPure,                // eps-DP, nothing else known (exponential mechanism, randomised response)
  kApproximate,         // (eps, delta)-DP, nothing else known
  kLaplace,             // eps = sensitivity / scale
  kGaussian,            // noise = sigma / sensitivity
  kSubsampledGaussian,  // the same on a Poisson sample: every record is in with probability q
};

struct PrivacyEvent {
  std::string mechanism;  // for the record: "laplace", "voice-indistinguishability"
  EventKind kind = EventKind::kPure;
  double eps = 0.0;
  double delta = 0.0;
  double noise = 0.0;
  double q = 1.0;
  std::uint64_t count = 1;  // how often it was used on the same people

  static PrivacyEvent Pure(double eps, std::string mechanism);
  static PrivacyEvent Approximate(double eps, double delta, std::string mechanism);
  static PrivacyEvent Laplace(double eps);
  static PrivacyEvent Gaussian(double noise);
  static PrivacyEvent SubsampledGaussian(double q, double noise, std::uint64_t steps);

  void Validate() const;  // throws Error
};

}  // namespace sotto
