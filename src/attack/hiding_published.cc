#include "attack/hiding_published.h"

#include <limits>

namespace sotto {

const std::vector<PublishedHiding>& PublishedGenderAae() {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  static const std::vector<PublishedHiding> points = {
      {"unprotected", {}, {}, 0.011, 1.0, "AUC of nearly 1"},
      {"auto-encoder without noise", kInf, {}, 0.0186, 0.9845, ""},
      {"trained with noise", 15.0, {}, 0.081, 0.55, ""},
      {"trained with noise", 20.0, {}, {}, 0.76, ""},
      {"the same noise at use", 15.0, 15.0, 0.281, 0.50, "EER worse by around 20 points"},
      {"the same noise at use", 20.0, 20.0, {}, 0.55, "EER worse by around 20 points"},
      {"less noise at use", 15.0, 35.0, 0.10, 0.55, "EER around 10 %"},
      {"less noise at use", 20.0, 40.0, 0.10, 0.68, "EER around 10 %"}};
  return points;
}

}  // namespace sotto
