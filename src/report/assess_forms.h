// What the forms of `sotto assess` have to say: the figures of a panel, how their intervals were
// made, and notes.
#pragma once

#include <functional>
#include <string>

#include "assess/fairness_trials.h"
#include "assess/legal.h"
#include "assess/panels.h"
#include "assess/similarity.h"
#include "assess/tandem.h"
#include "assess/verify.h"
#include "assess/wer.h"
#include "report/assess_page.h"

namespace sotto {

// Each made when it is asked for, of results that a form refers to.
struct AssessForm {
  std::function<std::string()> json, text;
  std::function<AssessPage()> page;
};

AssessForm SimilarityForm(const SimilarityResult& result, const Panel& panel,
                          const std::string& source);
AssessForm TandemForm(const TandemScores& scores, const TandemResult& result, const Panel& panel,
                      const TandemOptions& options, const std::string& source);

// What was compared, and by which columns.
struct FairnessSource {
  FairnessTrials trials;
  FairnessColumns columns;
  FairnessOptions options;
};
AssessForm FairnessForm(const FairnessResult& result, const Panel& panel,
                        const FairnessSource& source, const std::string& file);
AssessForm LegalForm(const LegalResult& result, const Panel& panel, const LegalOptions& options,
                     const Trials& trials, const std::string& source);
AssessForm WerForm(const WerResult& result, const Panel& panel, TextNormaliser normaliser,
                   const std::string& source);
AssessForm VerifyForm(const Trials& trials, const ScoreLevels& data, const VerifyResult& result,
                      const VerifyOptions& options, const std::string& source);

// "left out: 2 trials without a score, 1 scores without a trial"; none where there are none.
std::vector<std::string> LeftOutNotes(const Trials& trials);

}  // namespace sotto
