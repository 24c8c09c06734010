// What a mechanism used many times comes to by every accountant, and the noise for a wished
// epsilon.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "dp/allows.h"
#include "dp/event.h"
#include "dp/pld.h"
#include "dp/rdp.h"

namespace sotto {

struct Account {
  PrivacyEvent event;
  double delta = 0.0;
  RdpEpsilon rdp;
  PldEpsilon pld;
  std::optional<double> sequential, advanced;  // absent where one use has no epsilon (subsampling)
  std::optional<double> rho, concentrated;     // of zCDP, where the mechanism has one
  std::optional<GdpMu> gdp;                    // of Gaussian noise

  double Epsilon() const { return std::min(pld.eps, rdp.eps); }
};
// Throws Error for an event or a delta that cannot be.
Account MakeAccount(const PrivacyEvent& event, double delta);

struct NoiseWish {
  double epsilon = 0.0;  // of all steps together
  double delta = 0.0;    // 0: Laplace alone
  double q = 1.0;        // probability with which a record is in a step (Poisson)
  std::uint64_t steps = 1;
  double sensitivity = 1.0;  // L2 for Gaussian, L1 for Laplace noise
  bool renyi = false;        // subsampling is accounted by RDP, not by PLD

  void Validate() const;
};
// Neither where steps are subsampled and there is no delta.
struct WishedNoise {
  std::optional<double> gaussian;       // sigma over sensitivity, with a delta
  bool exact = false;                   // by no accountant
  std::optional<double> laplace_scale;  // without subsampling: sequential, delta 0
};
WishedNoise NoiseFor(const NoiseWish& wish);

}  // namespace sotto
