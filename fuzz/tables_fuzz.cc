// The readers of tandem, similarity, transcript and grouped tables on any bytes: they return data
// or throw Error, and the figures of what they return can be computed. The first byte chooses the
// reader; two files are parted by the first zero byte.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "assess/fairness.h"
#include "assess/legal.h"
#include "assess/similarity.h"
#include "assess/tandem.h"
#include "assess/wer.h"
#include "base/error.h"

namespace {

using namespace sotto;

std::pair<std::string_view, std::string_view> Halves(std::string_view text) {
  const std::size_t end = std::min(text.find('\0'), text.size());
  return {text.substr(0, end), text.substr(std::min(end + 1, text.size()))};
}

void Measure(std::uint8_t reader, std::string_view text) {
  const auto [first, second] = Halves(text);
  switch (reader % 6) {
    case 0: {
      const auto normaliser = static_cast<TextNormaliser>(reader / 6 % 3);
      ComputeWer(ParseTranscripts(first, "ref"), ParseTranscripts(second, "hyp"),
                 {normaliser, true});
      break;
    }
    case 1: {
      TandemScores scores;
      ReadAsvScores(first, "asv", scores);
      ReadCmScores(second, "cm", scores);
      MeasureTandem(scores, {});
      break;
    }
    case 2:
      MeasureTandem(ReadSasvScores(text, "sasv"), {});
      break;
    case 3: {
      const SegmentComparisons data = ParseSegmentComparisons(text, "comparisons");
      MeasureSimilarity(data, data, data);
      break;
    }
    case 4: {
      TrialTsvOptions options;
      options.extra_column = "group";
      const Trials trials = ParseTrialTsv(text, "trials", options);
      FairnessMeter(GroupTrials(trials, trials.extra, nullptr, nullptr, false).trials, {})
          .Measure();
      break;
    }
    default:
      LegalMeter(ParseTrialTsv(text, "trials")).Measure({{2, 3}, {1, 2}});
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    Measure(data[0], text);
  } catch (const sotto::Error&) {
    // Refusing is allowed; crashing, looping and undefined behaviour are not.
  }
  return 0;
}
