#include "assess/panels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "assess/verification.h"
#include "assess/zebra.h"

namespace sotto {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

using Counts = std::vector<std::pair<std::string, std::size_t>>;

Figure Make(std::string name, double value, std::string unit, Direction direction, Counts counts,
            std::string remark = "") {
  Figure figure;
  figure.name = std::move(name);
  figure.value = value;
  figure.unit = std::move(unit);
  figure.direction = direction;
  figure.counts = std::move(counts);
  figure.remark = std::move(remark);
  return figure;
}

std::string Describe(const IntervalOptions& options, const std::string& what) {
  if (options.resamples == 0) return "none";
  return fmt::format("{}, {} resamples, seed {}", what, options.resamples, options.seed);
}

double CostOf(const std::optional<MinimumCost>& cost) { return cost ? cost->value : kNaN; }

std::vector<double> TandemValues(const TandemResult& result) {
  return {CostOf(result.pooled.min_tdcf_2019), CostOf(result.pooled.min_tdcf_2021),
          result.pooled.cm_eer.value_or(kNaN), result.t_eer.value_or(kNaN), CostOf(result.a_dcf)};
}

// One bootstrap draw, all attacks pooled into one since the headline figures are pooled.
TandemScores DrawTandem(const TandemScores& scores, SeededRng rng) {
  TandemScores drawn;
  drawn.asv_tar = DrawValues(rng, scores.asv_tar);
  drawn.asv_non = DrawValues(rng, scores.asv_non);
  drawn.cm_bona = DrawValues(rng, scores.cm_bona);
  drawn.fused_tar = DrawValues(rng, scores.fused_tar);
  drawn.fused_non = DrawValues(rng, scores.fused_non);
  drawn.fused_spoof = DrawValues(rng, scores.fused_spoof);
  TandemScores::Attack& pooled = drawn.attacks["pooled"];
  for (const auto& [name, attack] : scores.attacks) {
    for (const double score : DrawValues(rng, attack.asv)) pooled.asv.push_back(score);
    for (const double score : DrawValues(rng, attack.cm)) pooled.cm.push_back(score);
  }
  return drawn;
}

// The two analogues of a view need its PAV; this holds what all resamples share.
class WeightedView {
 public:
  explicit WeightedView(const SimilarityView& view)
      : view_(view), levels_(MakeLevels(view.data.scores, view.data.IsTarget())) {
    for (const double score : view.data.scores) {
      const auto found =
          std::lower_bound(levels_.levels.begin(), levels_.levels.end(), score,
                           [](const Level& level, double value) { return level.score < value; });
      level_of_.push_back(static_cast<std::size_t>(found - levels_.levels.begin()));
    }
  }
  struct Values {
    double d_ece_bits = kNaN, cllr_min = kNaN;
  };
  Values Measure(std::span<const double> weights) const {
    ScoreLevels drawn = levels_;
    drawn.n_tar = drawn.n_non = 0.0;
    for (Level& level : drawn.levels) level.tar = level.non = 0.0;
    for (std::size_t i = 0; i < level_of_.size(); ++i) {
      const std::uint32_t a = view_.data.spk_a[i];
      const std::uint32_t b = view_.data.spk_b[i];
      const double weight = weights[a] * weights[b];
      (a == b ? drawn.levels[level_of_[i]].tar : drawn.levels[level_of_[i]].non) += weight;
      (a == b ? drawn.n_tar : drawn.n_non) += weight;
    }
    if (drawn.n_tar == 0.0 || drawn.n_non == 0.0) return {};
    const Pav pav = FitPav(drawn);
    return {ExpectedDisclosure(pav), CllrMin(pav)};
  }

 private:
  const SimilarityView& view_;
  ScoreLevels levels_;
  std::vector<std::size_t> level_of_;
};

std::vector<double> Analogues(const WeightedView::Values& oo, const WeightedView::Values& op,
                              const WeightedView::Values& pp) {
  return {1.0 - op.d_ece_bits / oo.d_ece_bits, (op.cllr_min - oo.cllr_min) / (1.0 - oo.cllr_min),
          10.0 * std::log10(pp.d_ece_bits / oo.d_ece_bits),
          10.0 * std::log10((1.0 - pp.cllr_min) / (1.0 - oo.cllr_min))};
}

std::vector<double> FairnessValues(const FairnessResult& result, std::size_t alpha) {
  std::vector<double> values = {result.au_fdr_linear[alpha], result.au_fdr_log[alpha]};
  for (const FairnessPoint& point : result.points) {
    values.insert(values.end(), {point.fdr[alpha], point.garbe[alpha], point.ir[alpha]});
  }
  return values;
}

}  // namespace

Panel TandemPanel(const TandemScores& scores, const TandemResult& result,
                  const TandemOptions& options, const IntervalOptions& intervals) {
  const Counts counts = {{"n_asv_tar", result.n_asv_tar},
                         {"n_asv_non", result.n_asv_non},
                         {"n_asv_spoof", result.n_asv_spoof},
                         {"n_cm_bona", result.n_cm_bona},
                         {"n_cm_spoof", result.n_cm_spoof}};
  const Counts single = {
      {"n_tar", scores.fused_tar.empty() ? result.n_asv_tar : scores.fused_tar.size()},
      {"n_non", scores.fused_tar.empty() ? result.n_asv_non : scores.fused_non.size()},
      {"n_spoof", scores.fused_tar.empty() ? result.n_asv_spoof : scores.fused_spoof.size()}};
  const Counts cm = {{"n_cm_bona", result.n_cm_bona}, {"n_cm_spoof", result.n_cm_spoof}};
  const std::vector<double> values = TandemValues(result);
  const Direction better = Direction::kLowerIsBetter;
  std::vector<Figure> all = {
      Make("min_tdcf_2019", values[0], "normalised cost", better, counts, "legacy form"),
      Make("min_tdcf_2021", values[1], "normalised cost", better, counts),
      Make("cm_eer", values[2], "probability", better, cm, "ASVspoof's rule"),
      Make("t_eer", values[3], "probability", better, counts, "concurrent"),
      Make("a_dcf", values[4], "normalised cost", better, single,
           "of the score: " + result.a_dcf_system)};
  AddIntervals(all, intervals, [&](std::uint64_t r) {
    const TandemScores drawn = DrawTandem(scores, ResampleRng(intervals.seed, r));
    return TandemValues(MeasureTandem(drawn, options));
  });
  Panel panel{{}, Describe(intervals, "trial-level within each class (no speakers given)")};
  for (Figure& figure : all) {
    if (!std::isnan(figure.value)) panel.figures.push_back(std::move(figure));
  }
  return panel;
}

Panel FairnessPanel(const FairnessMeter& meter, const FairnessResult& result,
                    const TrialResampler& resampler, std::span<const std::uint32_t> kept,
                    const IntervalOptions& intervals) {
  // Equal weight of both errors, or the alpha next to it.
  const auto nearest =
      std::min_element(result.alphas.begin(), result.alphas.end(),
                       [](double a, double b) { return std::abs(a - 0.5) < std::abs(b - 0.5); });
  const auto alpha = static_cast<std::size_t>(nearest - result.alphas.begin());
  const double n_tar = std::accumulate(result.n_tar.begin(), result.n_tar.end(), 0.0);
  const double n_non = std::accumulate(result.n_non.begin(), result.n_non.end(), 0.0);
  const Counts counts = {{"groups", result.groups.size()},
                         {"n_tar", static_cast<std::size_t>(n_tar)},
                         {"n_non", static_cast<std::size_t>(n_non)}};
  const std::string at_alpha = fmt::format("alpha {:g}", *nearest);
  Panel panel;
  panel.figures = {
      Make("au_fdr_linear", result.au_fdr_linear[alpha], at_alpha, Direction::kHigherIsFairer,
           counts),
      Make("au_fdr_log", result.au_fdr_log[alpha], at_alpha, Direction::kHigherIsFairer, counts)};
  for (const FairnessPoint& point : result.points) {
    const std::string at = fmt::format("@{:g}", point.pooled_fmr_target);
    panel.figures.push_back(
        Make("fdr" + at, point.fdr[alpha], at_alpha, Direction::kHigherIsFairer, counts));
    panel.figures.push_back(
        Make("garbe" + at, point.garbe[alpha], at_alpha, Direction::kLowerIsFairer, counts));
    panel.figures.push_back(
        Make("ir" + at, point.ir[alpha], at_alpha, Direction::kLowerIsFairer, counts,
             std::isnan(point.ir[alpha]) ? "a group has no errors of one kind" : ""));
  }
  panel.bootstrap = Describe(intervals, resampler.Describe());
  AddIntervals(panel.figures, intervals, [&](std::uint64_t r) {
    TrialResampler::Draw draw;
    resampler.Make(intervals.seed, r, draw);
    std::vector<double> weights;
    weights.reserve(kept.size());
    for (const std::uint32_t row : kept) weights.push_back(draw.trial[row]);
    return FairnessValues(meter.Measure(weights), alpha);
  });
  return panel;
}

Panel SimilarityPanel(const SimilarityResult& result, const IntervalOptions& intervals) {
  const Counts counts = {{"speakers", result.speakers.size()},
                         {"n_oo", result.oo.data.scores.size()},
                         {"n_op", result.op.data.scores.size()},
                         {"n_pp", result.pp.data.scores.size()}};
  const Direction private_up = Direction::kHigherIsMorePrivate;
  const Direction neither = Direction::kNeither;
  const std::string distinct = "0 dB keeps voices as distinct as they were";
  Panel panel;
  panel.figures = {Make("deid", result.sigmoid_of_mean.deid, "ratio", private_up, counts),
                   Make("g_vd_db", result.sigmoid_of_mean.g_vd_db, "dB", neither, counts, distinct),
                   Make("deid_geo", result.geometric.deid, "ratio", private_up, counts),
                   Make("g_vd_geo_db", result.geometric.g_vd_db, "dB", neither, counts),
                   Make("d_ece_op_oo", result.d_ece_op_oo, "ratio", private_up, counts),
                   Make("cllr_min_op_oo", result.cllr_min_op_oo, "ratio", private_up, counts),
                   Make("g_d_ece_db", result.g_d_ece_db, "dB", neither, counts),
                   Make("g_cllr_min_db", result.g_cllr_min_db, "dB", neither, counts)};
  panel.bootstrap =
      Describe(intervals,
               fmt::format("speaker-level ({} speakers), matrices keep the calibration of all data",
                           result.speakers.size()));
  const WeightedView oo(result.oo);
  const WeightedView op(result.op);
  const WeightedView pp(result.pp);
  AddIntervals(panel.figures, intervals, [&](std::uint64_t r) {
    SeededRng rng = ResampleRng(intervals.seed, r);
    const std::vector<double> weights = DrawUnits(rng, result.speakers.size());
    const auto dominance = [&](SimilarityMatrix SimilarityView::*matrix) {
      return CombineDominance(WeightedDiagonalDominance(result.oo.*matrix, weights),
                              WeightedDiagonalDominance(result.op.*matrix, weights),
                              WeightedDiagonalDominance(result.pp.*matrix, weights));
    };
    const SimilarityFigures mean = dominance(&SimilarityView::sigmoid_of_mean);
    const SimilarityFigures geometric = dominance(&SimilarityView::geometric);
    std::vector<double> values = {mean.deid, mean.g_vd_db, geometric.deid, geometric.g_vd_db};
    const auto more = Analogues(oo.Measure(weights), op.Measure(weights), pp.Measure(weights));
    values.insert(values.end(), more.begin(), more.end());
    return values;
  });
  return panel;
}

Panel LegalPanel(const LegalResult& result, const IntervalOptions& intervals) {
  Panel panel;
  std::vector<const LegalPoint*> points;
  const auto add = [&](const char* name, const std::vector<LegalPoint>& list, const char* tried) {
    for (const LegalPoint& point : list) {
      const Counts counts = {{"enrol_speakers", result.n_enrol_speakers},
                             {"test_speakers", result.n_test_speakers},
                             {tried, point.n_tried}};
      panel.figures.push_back(Make(fmt::format("{} N={} L={}", name, point.n, point.l), point.value,
                                   fmt::format("probability (chance {:.4g})", point.chance),
                                   Direction::kLowerIsMorePrivate, counts));
      points.push_back(&point);
    }
  };
  add("legal_linkability", result.linkability, "conversations");
  add("singling_out", result.singling_out, "predicates");
  panel.bootstrap =
      Describe(intervals, fmt::format("speaker-level ({} test speakers)", result.n_test_speakers));
  AddIntervals(panel.figures, intervals, [&](std::uint64_t r) {
    SeededRng rng = ResampleRng(intervals.seed, r);
    const std::vector<double> weights = DrawUnits(rng, result.n_test_speakers);
    std::vector<double> values(points.size());
    for (std::size_t k = 0; k < points.size(); ++k) values[k] = points[k]->Weighted(weights);
    return values;
  });
  return panel;
}

Panel WerPanel(const WerResult& result, std::span<const std::size_t> speaker_of,
               const IntervalOptions& intervals) {
  const Direction better = Direction::kLowerIsBetter;
  Panel panel;
  panel.figures = {
      Make("wer", result.words.Rate(), "errors per word", better,
           {{"sub", result.words.sub},
            {"del", result.words.del},
            {"ins", result.words.ins},
            {"n", result.words.n}}),
      Make("cer", result.chars.Rate(), "errors per character", better,
           {{"errors", result.chars.Errors()}, {"n", result.chars.n}}, "spaces counted"),
      Make("cer_no_spaces", result.chars_no_spaces.Rate(), "errors per character", better,
           {{"errors", result.chars_no_spaces.Errors()}, {"n", result.chars_no_spaces.n}})};
  const std::size_t units = speaker_of.empty()
                                ? result.per_utterance.size()
                                : 1 + *std::max_element(speaker_of.begin(), speaker_of.end());
  panel.bootstrap = Describe(
      intervals,
      fmt::format("{}-level ({} drawn)", speaker_of.empty() ? "utterance" : "speaker", units));
  AddIntervals(panel.figures, intervals, [&](std::uint64_t r) {
    SeededRng rng = ResampleRng(intervals.seed, r);
    const std::vector<double> weights = DrawUnits(rng, units);
    double errors[3] = {};
    double n[3] = {};
    for (std::size_t u = 0; u < result.per_utterance.size(); ++u) {
      const UtteranceErrors& one = result.per_utterance[u];
      const double weight = weights[speaker_of.empty() ? u : speaker_of[u]];
      const EditCounts* counts[3] = {&one.words, &one.chars, &one.chars_no_spaces};
      for (int k = 0; k < 3; ++k) {
        errors[k] += weight * static_cast<double>(counts[k]->Errors());
        n[k] += weight * static_cast<double>(counts[k]->n);
      }
    }
    const auto rate = [&](int k) { return n[k] > 0.0 ? errors[k] / n[k] : kNaN; };
    return std::vector<double>{rate(0), rate(1), rate(2)};
  });
  return panel;
}

}  // namespace sotto
