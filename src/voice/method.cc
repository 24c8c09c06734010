#include "voice/method.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/tsv.h"

namespace sotto {

std::string Range::Text() const {
  return IsFixed() ? fmt::format("{}", lo) : fmt::format("{}:{}", lo, hi);
}

Range Range::Parse(const std::string& text, const std::string& name) {
  const std::size_t colon = text.find(':');
  Range range;
  range.lo = ParseNumber(text.substr(0, colon), name);
  range.hi = colon == std::string::npos ? range.lo : ParseNumber(text.substr(colon + 1), name);
  if (range.lo > range.hi) {
    throw Error(fmt::format("{} '{}': the lower end comes first", name, text));
  }
  return range;
}

McAdamsMethod::McAdamsMethod(Range alpha, TargetDraws draws)
    : alpha_(alpha), draws_(std::move(draws)) {
  for (const double end : {alpha.lo, alpha.hi}) {
    McAdamsOptions options;
    options.alpha = end;
    options.Validate();
  }
}

std::unique_ptr<StreamTransformer> McAdamsMethod::MakeTransformer(
    int rate_hz, double peak_limit, const std::string& speaker,
    const std::string& utterance) const {
  McAdamsOptions options;
  options.alpha = alpha_.IsFixed()
                      ? alpha_.lo
                      : draws_.Uniform("alpha", alpha_.lo, alpha_.hi, speaker, utterance);
  options.peak_limit = peak_limit;
  return MakeMcAdams(rate_hz, options);
}

}  // namespace sotto
