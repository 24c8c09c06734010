#include "dp/parameters.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"

namespace sotto {

void CheckEpsilon(double eps) {
  if (!(eps > 0.0) || !std::isfinite(eps)) {
    throw Error(fmt::format("epsilon {}: must be a finite number above 0", eps));
  }
}

void CheckDelta(double delta) {
  if (!(delta > 0.0 && delta < 1.0)) {
    throw Error(fmt::format("delta {}: must lie between 0 and 1", delta));
  }
}

void CheckSensitivity(double sensitivity) {
  if (!(sensitivity > 0.0) || !std::isfinite(sensitivity)) {
    throw Error(fmt::format("sensitivity {}: must be a finite number above 0", sensitivity));
  }
}

std::string EpsilonWarning(double eps) {
  if (!(eps > kWeakEpsilon)) return {};
  return fmt::format(
      "epsilon {:.4g} promises next to nothing: it allows an attacker to be wrong about a person "
      "once in 10^{:.0f} tries. Do not call this private; below 1 is strong, up to about 10 is in "
      "use",
      eps, eps / std::log(10.0));
}

const char* NeighboursText(Neighbours neighbours) {
  return neighbours == Neighbours::kAddRemove ? "one person added or removed"
                                              : "one person's data replaced";
}

double ClippedSensitivity(double clip, Neighbours neighbours) {
  CheckSensitivity(clip);
  return neighbours == Neighbours::kAddRemove ? clip : 2.0 * clip;
}

}  // namespace sotto
