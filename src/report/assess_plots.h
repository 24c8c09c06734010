// The pictures that stand beside such figures in the literature, made from the results of room
// assess.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "assess/fairness.h"
#include "assess/identification.h"
#include "assess/legal.h"
#include "assess/levels.h"
#include "assess/linkability.h"
#include "assess/similarity.h"
#include "assess/tandem.h"
#include "assess/verification.h"
#include "assess/wer.h"
#include "assess/zebra.h"
#include "report/assess_page.h"

namespace sotto {

// Verification and disclosure.
Plot EcePlot(const EceProfile& profile);
Plot DetPlot(std::span<const RocPoint> points);
Plot ScoreHistogram(const std::string& id, const std::string& title, const std::string& tar_name,
                    const std::string& non_name, const ScoreLevels& data);
// Scores taken for natural-log LLRs: the share of targets among trials of one predicted posterior.
Plot CalibrationPlot(const ScoreLevels& data);
Plot LinkabilityPlot(const Linkability& linkability);
Plot ZooPlot(std::span<const ZooSpeaker> speakers);  // most exposed first

Plot SimilarityPlot(const SimilarityResult& result);
// Diagonal against mean off-diagonal of OP, the speakers with the largest difference named.
Plot SimilarityZooPlot(const SimilarityResult& result);

std::vector<Plot> LegalPlots(const LegalResult& result);

// `curve` is measured on a finer grid of thresholds than the table.
std::vector<Plot> FairnessPlots(const FairnessResult& curve);
PageTable GroupTable(const FairnessResult& result);
PageTable CriteriaTable(const FairnessResult& result);

std::vector<Plot> TandemPlots(const TandemScores& scores, const TandemResult& result,
                              const TandemOptions& options);
PageTable AttackTable(const TandemResult& result);

Plot WerPlot(const WerResult& result);
PageTable WorstUtterances(const WerResult& result);

}  // namespace sotto
