// The trial readers on any bytes: they return trials or throw Error, and every figure of what they
// return can be computed. The first byte chooses the reader; a key and a score file are parted by
// the first zero byte.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "assess/verify.h"
#include "base/error.h"

namespace {

sotto::Trials Parse(std::uint8_t reader, std::string_view text) {
  using namespace sotto;
  switch (reader % 4) {
    case 0:
      return ParseTrialTsv(text, "fuzz");
    case 1: {
      TrialTsvOptions options;
      options.extra_column = "group";
      options.allow_missing = true;
      return ParseTrialTsv(text, "fuzz", options);
    }
    case 2: {
      const std::size_t end = std::min(text.find('\0'), text.size());
      const std::string_view key = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      return ParseKaldiTrials(text, "scores", key, "key", {(reader & 4) != 0});
    }
    default: {
      Trials trials;
      trials.scores = (reader & 4) != 0 ? ParseNpy(text, "fuzz") : ParseF64(text, "fuzz");
      for (std::size_t i = 0; i < trials.size(); ++i) trials.is_target.push_back(i % 2);
      return trials;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    const sotto::Trials trials = Parse(data[0], text);
    const sotto::ScoreLevels levels = MakeLevels(trials);
    sotto::VerifyOptions options;
    options.resamples = 2;
    Verify(trials, levels, options, &levels);
    MakeEceProfile(levels, FitPav(levels));
    RocPoints(levels, 10);
    if (trials.HasSpeakers()) MeasureZoo(trials, FitPav(levels, sotto::PavRule::kLaplace));
  } catch (const sotto::Error&) {
    // Refusing is allowed; crashing, looping and undefined behaviour are not.
  }
  return 0;
}
