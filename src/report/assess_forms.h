// What the forms of `sotto assess` have to say, printed (as text, or `json`) and as a page: the
// figures of its panel, how their intervals were made, and notes (report/verify_page.h has `assess
// verify`).
#pragma once

#include <string>

#include "assess/fairness_trials.h"
#include "assess/legal.h"
#include "assess/panels.h"
#include "assess/similarity.h"
#include "assess/tandem.h"
#include "assess/wer.h"
#include "report/assess_page.h"

namespace sotto {

std::string PrintedSimilarity(const SimilarityResult& result, const Panel& panel, bool json);
AssessPage SimilarityPage(const SimilarityResult& result, const Panel& panel,
                          const std::string& source);

std::string PrintedTandem(const TandemResult& result, const Panel& panel,
                          const TandemOptions& options, bool json);
AssessPage TandemPage(const TandemScores& scores, const TandemResult& result, const Panel& panel,
                      const TandemOptions& options, const std::string& source);

// What was compared, and by which columns.
struct FairnessSource {
  FairnessTrials trials;
  FairnessColumns columns;
  FairnessOptions options;
};
std::string PrintedFairness(const FairnessResult& result, const Panel& panel,
                            const FairnessSource& source, bool json);
AssessPage FairnessPage(const FairnessResult& result, const Panel& panel,
                        const FairnessSource& source, const std::string& file);

std::string PrintedLegal(const LegalResult& result, const Panel& panel, const LegalOptions& options,
                         const Trials& trials, bool json);
AssessPage LegalPage(const LegalResult& result, const Panel& panel, const LegalOptions& options,
                     const Trials& trials, const std::string& source);

std::string PrintedWer(const WerResult& result, const Panel& panel, TextNormaliser normaliser,
                       bool json);
AssessPage WerPage(const WerResult& result, const Panel& panel, TextNormaliser normaliser,
                   const std::string& source);

// "left out: 2 trials without a score, 1 scores without a trial"; empty where there are none.
std::string LeftOutText(const Trials& trials);

}  // namespace sotto
