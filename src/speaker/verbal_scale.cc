#include "speaker/verbal_scale.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"

namespace sotto {

std::string VerbalScale(double llr) {
  if (std::isnan(llr)) throw Error("verbal scale: the LLR is not a number");
  const double ratio = std::exp(std::abs(llr));
  if (ratio <= 2.0) return "no support for either (same or different speakers)";
  struct Step {
    double from;
    const char* words;
  };
  constexpr Step kSteps[] = {{1e6, "extremely strong"},    {1e4, "very strong"}, {1e3, "strong"},
                             {100.0, "moderately strong"}, {10.0, "moderate"},   {0.0, "weak"}};
  const char* words = "";
  for (const Step& step : kSteps) {
    if (ratio > step.from) {
      words = step.words;
      break;
    }
  }
  const std::string times = ratio >= 1e6 ? "more than a million" : fmt::format("{:.3g}", ratio);
  return fmt::format("{} support for {} (the evidence is {} times as probable)", words,
                     llr > 0.0 ? "the same speaker" : "different speakers", times);
}

}  // namespace sotto
