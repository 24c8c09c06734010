// Plots and tables of fairness and spoofing results.
#include <fmt/format.h>

#include <cmath>

#include "report/assess_plots.h"

namespace sotto {
namespace {

std::string Cell(double value) {
  return std::isnan(value) ? "undefined" : fmt::format("{:.4g}", value);
}

std::size_t NearestAlpha(const FairnessResult& result, double alpha) {
  std::size_t best = 0;
  for (std::size_t a = 1; a < result.alphas.size(); ++a) {
    if (std::abs(result.alphas[a] - alpha) < std::abs(result.alphas[best] - alpha)) best = a;
  }
  return best;
}

PlotAxis PooledFmrAxis() {
  return {"pooled false match rate that sets the threshold", Scale::kLog, {}, {}, {}, true};
}

// At most `count` states of a walk, evenly spread; the ends stay.
std::vector<DetectionState> Thinned(const std::vector<DetectionState>& states, std::size_t count) {
  if (states.size() <= count) return states;
  std::vector<DetectionState> out;
  for (std::size_t k = 0; k < count; ++k)
    out.push_back(states[k * (states.size() - 1) / (count - 1)]);
  return out;
}

}  // namespace

std::vector<Plot> FairnessPlots(const FairnessResult& curve) {
  const auto line = [&](const std::string& name, auto value) {
    PlotSeries series{name, Mark::kLine};
    for (const FairnessPoint& point : curve.points) {
      series.Add(point.pooled_fmr_target, value(point));
      series.hints.push_back(fmt::format("threshold {:.6g}", point.threshold));
    }
    return series;
  };
  const std::size_t alpha = NearestAlpha(curve, 0.5);
  const std::string at = fmt::format(", α = {:g}", curve.alphas[alpha]);
  Plot fdr{"fdr",
           "FDR against the threshold",
           "Fairness discrepancy rate: 1 is fair. The threshold is given by the pooled false match "
           "rate it allows; the CSV file has its score.",
           PooledFmrAxis(),
           {"FDR"}};
  Plot garbe{"garbe",
             "GARBE against the threshold",
             "Gini aggregation rate: 0 is fair, 1 means that one group bears all errors.",
             PooledFmrAxis(),
             {"GARBE", Scale::kLinear, 0.0, 1.0}};
  for (std::size_t a = 0; a < curve.alphas.size(); ++a) {
    if (a != alpha && curve.alphas[a] != 0.0 && curve.alphas[a] != 1.0) continue;
    const std::string name = fmt::format("α = {:g}", curve.alphas[a]);
    fdr.series.push_back(line(name, [a](const FairnessPoint& point) { return point.fdr[a]; }));
    garbe.series.push_back(line(name, [a](const FairnessPoint& point) { return point.garbe[a]; }));
  }
  const auto by_group = [&](const char* id, const std::string& title, const char* axis,
                            double FairnessPoint::*pooled,
                            std::vector<double> FairnessPoint::*of_groups) {
    Plot plot{id,
              title,
              "At the common threshold. The dashed line is the pooled rate.",
              PooledFmrAxis(),
              {.label = axis, .low = 0.0, .percent = true}};
    plot.series = {line("pooled", [&](const FairnessPoint& point) { return point.*pooled; })};
    plot.series[0].mark = Mark::kReference;
    for (std::size_t g = 0; g < curve.groups.size(); ++g) {
      plot.series.push_back(
          line(curve.groups[g], [&](const FairnessPoint& point) { return (point.*of_groups)[g]; }));
    }
    return plot;
  };
  const Plot fmr = by_group("group-fmr", "False match rate of each group", "false match rate",
                            &FairnessPoint::pooled_fmr, &FairnessPoint::fmr);
  const Plot fnmr =
      by_group("group-fnmr", "False non-match rate of each group", "false non-match rate",
               &FairnessPoint::pooled_fnmr, &FairnessPoint::fnmr);
  return {garbe, fdr, fmr, fnmr};
}

PageTable GroupTable(const FairnessResult& result) {
  PageTable table{"Groups: FMR / FNMR at each pooled FMR", {"group", "targets", "non-targets"}};
  for (const FairnessPoint& point : result.points) {
    table.header.push_back(fmt::format("{:g} %", 100.0 * point.pooled_fmr_target));
  }
  for (std::size_t g = 0; g < result.groups.size(); ++g) {
    std::vector<std::string> row = {result.groups[g], fmt::format("{:.0f}", result.n_tar[g]),
                                    fmt::format("{:.0f}", result.n_non[g])};
    for (const FairnessPoint& point : result.points) {
      row.push_back(fmt::format("{:.2f} / {:.2f} %", 100.0 * point.fmr[g], 100.0 * point.fnmr[g]));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

PageTable CriteriaTable(const FairnessResult& result) {
  PageTable table{"Functional fairness measure criteria on this data",
                  {"metric", "FFMC 1: median FPD / median FND", "FFMC 2: range",
                   "bounded by [0, 1]", "FFMC 3: computable"}};
  for (const FairnessCriteria& one : result.criteria) {
    table.rows.push_back({one.metric, Cell(one.ffmc1_ratio),
                          fmt::format("{} … {}", Cell(one.ffmc2_lowest), Cell(one.ffmc2_highest)),
                          one.ffmc2_bounded ? "yes" : "no",
                          fmt::format("{:.0f} %", 100.0 * one.ffmc3_computable)});
  }
  return table;
}

std::vector<Plot> TandemPlots(const TandemScores& scores, const TandemResult& result,
                              const TandemOptions& options) {
  std::vector<double> asv_spoof;
  std::vector<double> cm_spoof;
  for (const auto& [name, attack] : scores.attacks) {
    asv_spoof.insert(asv_spoof.end(), attack.asv.begin(), attack.asv.end());
    cm_spoof.insert(cm_spoof.end(), attack.cm.begin(), attack.cm.end());
  }
  std::vector<Plot> plots;
  Plot det = DetPlot({});
  det.caption = "Error rates of the subsystems as their thresholds move, on normal-deviate axes.";
  det.series.resize(1);  // equal rates
  const auto add_det = [&](const std::string& name, std::span<const double> tar,
                           std::span<const double> other) {
    if (tar.empty() || other.empty()) return;
    PlotSeries series{name, Mark::kLine};
    for (const DetectionState& state : Thinned(DetectionStates(tar, {}, other), 600)) {
      series.Add(state.p_fa_spoof, state.p_miss);
    }
    det.series.push_back(std::move(series));
  };
  add_det("CM: bona fide, spoof", scores.cm_bona, cm_spoof);
  add_det("ASV: target, non-target", scores.asv_tar, scores.asv_non);
  add_det("ASV: target, spoof", scores.asv_tar, asv_spoof);
  add_det("fused: target, non-target", scores.fused_tar, scores.fused_non);
  add_det("fused: target, spoof", scores.fused_tar, scores.fused_spoof);
  if (result.asv.has_value()) {
    plots.push_back(ScoreHistogram("cm-scores", "Countermeasure scores", "bona fide", "spoof",
                                   MakeLevels(scores.cm_bona, cm_spoof)));
    plots.push_back(ScoreHistogram("asv-scores", "ASV scores", "target", "spoof",
                                   MakeLevels(scores.asv_tar, asv_spoof)));
    AsvRates rates = *result.asv;
    PlotSeries legacy{"2019 (legacy)", Mark::kLine};
    PlotSeries current{"2021", Mark::kLine};
    // The minimum over one state is that state's cost.
    for (const DetectionState& state :
         Thinned(DetectionStates(scores.cm_bona, {}, cm_spoof), 600)) {
      if (!std::isfinite(state.score)) continue;
      legacy.Add(state.score, MinTdcf2019({&state, 1}, rates, options.costs).value);
      current.Add(state.score, MinTdcf2021({&state, 1}, rates, options.costs).value);
    }
    const std::vector<double> ends = {legacy.x.front(), legacy.x.back()};
    plots.push_back({"tdcf",
                     "t-DCF against the CM threshold",
                     "Normalised cost of the tandem, all attacks pooled; 1 (dashed) is a "
                     "countermeasure that tells nothing. The lowest point is min t-DCF.",
                     {"CM threshold"},
                     {"normalised t-DCF (up to 2)", Scale::kLinear, 0.0, 2.0},
                     {{"uninformative CM", Mark::kReference, ends, {1.0, 1.0}}, legacy, current}});
    for (PlotSeries& series : plots.back().series) {
      for (double& value : series.y) {
        if (value > 2.0) value = std::nan("");
      }
    }
  } else {
    plots.push_back(ScoreHistogram("scores", "Scores", "target", "spoof",
                                   MakeLevels(scores.fused_tar, scores.fused_spoof)));
  }
  plots.push_back(std::move(det));
  return plots;
}

PageTable AttackTable(const TandemResult& result) {
  PageTable table{"Attacks",
                  {"attack", "CM trials", "ASV trials", "CM EER", "min t-DCF 2019",
                   "min t-DCF 2021", "ASV accepts"}};
  std::vector<const AttackResult*> rows = {&result.pooled};
  for (const AttackResult& attack : result.per_attack) rows.push_back(&attack);
  for (const AttackResult* one : rows) {
    if (!one->cm_eer) continue;
    table.rows.push_back({one->attack, fmt::to_string(one->n_cm), fmt::to_string(one->n_asv),
                          fmt::format("{:.2f} %", 100.0 * *one->cm_eer),
                          fmt::format("{:.4f}", one->min_tdcf_2019->value),
                          fmt::format("{:.4f}", one->min_tdcf_2021->value),
                          fmt::format("{:.1f} %", 100.0 * one->p_fa_spoof_asv)});
  }
  return table;
}

}  // namespace sotto
