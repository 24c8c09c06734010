#include "report/assess_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "assess/numeric.h"

namespace sotto {
namespace {

constexpr std::size_t kNamedSpeakers = 5;

PlotSeries Reference(std::string name, std::vector<double> x, std::vector<double> y) {
  return {std::move(name), Mark::kReference, std::move(x), std::move(y)};
}

PlotAxis RateAxis(const std::string& label) { return {label, Scale::kLinear, 0.0, 1.0}; }

// Names stand beside the first points, those of all speakers in their tooltips.
void AddSpeaker(PlotSeries& points, double x, double y, const std::string& name) {
  points.Add(x, y);
  points.labels.push_back(points.hints.size() < kNamedSpeakers ? name : "");
  points.hints.push_back(name);
}

// Densities over equal bins between the lowest and highest finite score.
struct Histogram {
  std::vector<double> edges, tar, non;
};

Histogram MakeHistogram(const ScoreLevels& data, std::size_t bins) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const Level& level : data.levels) {
    if (!std::isfinite(level.score)) continue;
    low = std::min(low, level.score);
    high = std::max(high, level.score);
  }
  if (!(low < high)) {
    low = std::isfinite(low) ? low - 0.5 : 0.0;
    high = low + 1.0;
  }
  Histogram out;
  const double width = (high - low) / static_cast<double>(bins);
  for (std::size_t b = 0; b <= bins; ++b) {
    out.edges.push_back(low + width * static_cast<double>(b));
  }
  out.tar.resize(bins + 1);
  out.non.resize(bins + 1);
  for (const Level& level : data.levels) {
    const double place =
        std::clamp((level.score - low) / width, 0.0, static_cast<double>(bins) - 0.5);
    const auto b = static_cast<std::size_t>(place);
    out.tar[b] += level.tar / (data.n_tar * width);
    out.non[b] += level.non / (data.n_non * width);
  }
  return out;
}

}  // namespace

Plot EcePlot(const EceProfile& profile) {
  Plot plot{"ece",
            "ECE profile (ZEBRA)",
            "Uncertainty that is left to an attacker for each prior belief. The area between the "
            "dashed curve (perfect privacy) and the calibrated curve is D_ECE; scores above the "
            "dashed curve mislead the attacker.",
            {"prior log-odds (natural log)"},
            {"empirical cross-entropy (bit)", Scale::kLinear, 0.0}};
  plot.series.push_back(Reference("perfect privacy", profile.prior_log_odds, profile.ece_default));
  plot.series.push_back(
      {"oracle calibration", Mark::kLine, profile.prior_log_odds, profile.ece_min});
  // Badly calibrated scores would flatten everything else: cut where twice the maximum is reached.
  std::vector<double> actual = profile.ece_act;
  for (double& value : actual) {
    if (value > 2.0) value = std::numeric_limits<double>::quiet_NaN();
  }
  plot.series.push_back(
      {"scores as they are (up to 2 bit)", Mark::kLine, profile.prior_log_odds, std::move(actual)});
  return plot;
}

Plot DetPlot(std::span<const RocPoint> points) {
  PlotSeries det{"system", Mark::kLine};
  for (const RocPoint& point : points) det.Add(point.false_alarm, point.miss);
  std::vector<double> diagonal = {0.0005, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99};
  return {"det",
          "Detection error trade-off",
          "Both error rates of the attacker's system as its threshold moves, on normal-deviate "
          "axes. The curve of an attacker who knows nothing runs through 50 % / 50 %.",
          {"false alarm rate", Scale::kProbit, 0.0005, 0.99, {}, true},
          {"miss rate", Scale::kProbit, 0.0005, 0.99, {}, true},
          {Reference("equal rates", diagonal, diagonal), det}};
}

Plot ScoreHistogram(const std::string& id, const std::string& title, const std::string& tar_name,
                    const std::string& non_name, const ScoreLevels& data) {
  const Histogram histogram = MakeHistogram(data, 50);
  return {id,
          title,
          "Share of scores per unit of score. Infinite scores are counted in the outer bins.",
          {"score"},
          {"density", Scale::kLinear, 0.0},
          {{tar_name, Mark::kSteps, histogram.edges, histogram.tar},
           {non_name, Mark::kSteps, histogram.edges, histogram.non}}};
}

Plot CalibrationPlot(const ScoreLevels& data) {
  constexpr std::size_t kBins = 20;
  const double prior_log_odds = std::log(data.n_tar) - std::log(data.n_non);
  std::vector<double> tar(kBins);
  std::vector<double> all(kBins);
  std::vector<double> predicted(kBins);
  for (const Level& level : data.levels) {
    const double posterior = Sigmoid(level.score + prior_log_odds);
    const auto b = std::min(static_cast<std::size_t>(posterior * kBins), kBins - 1);
    tar[b] += level.tar;
    all[b] += level.tar + level.non;
    predicted[b] += posterior * (level.tar + level.non);
  }
  PlotSeries found{"observed", Mark::kMarked};
  for (std::size_t b = 0; b < kBins; ++b) {
    if (all[b] == 0.0) continue;
    found.Add(predicted[b] / all[b], tar[b] / all[b]);
    found.hints.push_back(fmt::format("{:.0f} trials", all[b]));
  }
  return {"calibration",
          "Calibration",
          "Scores read as natural-log likelihood ratios at the prior of these trials: what they "
          "predict against what is true. On the dashed line the attacker can trust the scores.",
          RateAxis("predicted probability of same speaker"),
          RateAxis("share of same-speaker trials"),
          {Reference("perfect calibration", {0.0, 1.0}, {0.0, 1.0}), found}};
}

Plot LinkabilityPlot(const Linkability& linkability) {
  double top = 0.0;
  for (const double value : linkability.mated) top = std::max(top, value);
  for (const double value : linkability.non_mated) top = std::max(top, value);
  std::vector<double> edges = linkability.centre;
  const double half = edges.size() > 1 ? (edges[1] - edges[0]) / 2.0 : 0.5;
  for (double& edge : edges) edge -= half;
  if (!edges.empty()) edges.push_back(edges.back() + 2.0 * half);
  const auto scaled = [&](std::vector<double> values) {
    for (double& value : values) value /= top > 0.0 ? top : 1.0;
    values.push_back(0.0);
    return values;
  };
  return {"linkability",
          "Linkability D(s)",
          "How surely a score says that two recordings are of one speaker (Gomez-Barrero et al. "
          "2017): 0 nothing, 1 certain. Densities are drawn relative to their highest bin.",
          {"score"},
          {"D(s), relative density", Scale::kLinear, 0.0, 1.0},
          {{"same speaker", Mark::kSteps, edges, scaled(linkability.mated)},
           {"different speakers", Mark::kSteps, edges, scaled(linkability.non_mated)},
           {"D(s)", Mark::kLine, linkability.centre, linkability.d}}};
}

Plot ZooPlot(std::span<const ZooSpeaker> speakers) {
  PlotSeries points{"speakers", Mark::kPoints};
  for (const ZooSpeaker& speaker : speakers) {
    AddSpeaker(points, speaker.mean_tar_llr, speaker.mean_non_llr, speaker.name);
  }
  return {"zoo",
          "Zoo plot: who is most exposed",
          "One point per enrolled speaker (calibrated LLRs). Far to the right: easily recognised; "
          "low: never confused with others. The most exposed speakers are named.",
          {"mean same-speaker LLR"},
          {"mean different-speaker LLR"},
          {points}};
}

Plot SimilarityPlot(const SimilarityResult& result) {
  Plot plot{"similarity",
            "Voice similarity matrices",
            "A dark diagonal in OO is the starting point. In OP it should vanish (the protected "
            "voice no longer points to the speaker); in PP it should stay (protected voices "
            "remain distinct).",
            {},
            {"similarity (sigmoid of the mean LLR)", Scale::kLinear, 0.0, 1.0}};
  for (const auto& [title, view] : {std::pair("OO: original – original", &result.oo),
                                    {"OP: original – protected", &result.op},
                                    {"PP: protected – protected", &result.pp}}) {
    plot.matrices.push_back({title, result.speakers, view->sigmoid_of_mean.values});
  }
  return plot;
}

Plot SimilarityZooPlot(const SimilarityResult& result) {
  const SimilarityMatrix& matrix = result.op.sigmoid_of_mean;
  std::vector<double> own(matrix.n);
  std::vector<double> others(matrix.n);
  for (std::size_t i = 0; i < matrix.n; ++i) {
    own[i] = matrix.At(i, i);
    for (std::size_t j = 0; j < matrix.n; ++j) {
      if (j != i) others[i] += matrix.At(i, j) / static_cast<double>(matrix.n - 1);
    }
  }
  std::vector<std::size_t> order(matrix.n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return own[a] - others[a] > own[b] - others[b]; });
  PlotSeries points{"speakers", Mark::kPoints};
  for (const std::size_t i : order) AddSpeaker(points, own[i], others[i], result.speakers[i]);
  return {
      "zoo",
      "Zoo plot of OP: who is most exposed",
      "Similarity of a speaker's protected voice to their own original voice against that to the "
      "others'. The speakers farthest from the dashed line (own = others) are named.",
      RateAxis("similarity to own voice"),
      RateAxis("mean similarity to others' voices"),
      {Reference("own = others", {0.0, 1.0}, {0.0, 1.0}), points}};
}

namespace {

// Against N, with chance, and against L where there are several.
std::vector<Plot> PlotsOf(const std::vector<LegalPoint>& points, const std::string& id,
                          const std::string& name, const std::string& caption) {
  std::map<std::size_t, PlotSeries> by_l, by_n;
  std::map<double, double> chance;
  for (const LegalPoint& point : points) {
    const auto n = static_cast<double>(point.n), l = static_cast<double>(point.l);
    const auto at = [](auto& series, std::size_t which, const char* letter) -> PlotSeries& {
      const std::string title = fmt::format("{} = {}", letter, which);
      return series.try_emplace(which, PlotSeries{title, Mark::kMarked}).first->second;
    };
    at(by_l, point.l, "L").Add(n, point.value);
    at(by_n, point.n, "N").Add(l, point.value);
    chance[n] = point.chance;
  }
  if (chance.empty()) return {};
  Plot against_n{id + "-n",
                 name + " against N",
                 caption,
                 {"N, speakers to choose from", Scale::kLog},
                 RateAxis("probability"),
                 {Reference("chance", {}, {})}};
  for (const auto& [n, value] : chance) {
    against_n.series[0].Add(n, value);
    against_n.x.ticks.push_back(n);
  }
  Plot against_l{id + "-l",
                 name + " against L",
                 caption,
                 {"L, utterances averaged", Scale::kLog},
                 RateAxis("probability")};
  for (const auto& [l, series] : by_l) {
    against_n.series.push_back(series);
    against_l.x.ticks.push_back(static_cast<double>(l));
  }
  if (by_l.size() <= 1) return {against_n};
  // The most telling populations: at most four, the extremes among them.
  const std::size_t step = std::max<std::size_t>(1, (by_n.size() + 2) / 4);
  std::size_t k = 0;
  for (const auto& [n, series] : by_n) {
    if (k++ % step == 0 || k == by_n.size()) against_l.series.push_back(series);
  }
  const auto [most, level] = *chance.rbegin();
  const std::vector<double>& ticks = against_l.x.ticks;
  against_l.series.push_back(Reference(fmt::format("chance, N = {:.0f}", most),
                                       {ticks.front(), ticks.back()}, {level, level}));
  return {against_n, against_l};
}

}  // namespace

std::vector<Plot> LegalPlots(const LegalResult& result) {
  std::vector<Plot> plots = PlotsOf(result.linkability, "link", "Linkability",
                                    "Probability that the true enrolment scores highest among N.");
  for (Plot& plot :
       PlotsOf(result.singling_out, "single", "Singling out",
               "Probability that a predicate calibrated to fire once in N fires on exactly one of "
               "N.")) {
    plots.push_back(std::move(plot));
  }
  return plots;
}

Plot WerPlot(const WerResult& result) {
  PlotSeries points{"utterances", Mark::kPoints};
  double longest = 1.0;
  for (const UtteranceErrors& one : result.per_utterance) {
    points.Add(static_cast<double>(one.words.n), static_cast<double>(one.words.Errors()));
    points.hints.push_back(one.id);
    longest = std::max(longest, points.x.back());
  }
  return {"wer",
          "Errors of each utterance",
          "Points on the dashed line have as many errors as reference words.",
          {"reference words", Scale::kLinear, 0.0},
          {"word errors", Scale::kLinear, 0.0},
          {Reference("WER 1", {0.0, longest}, {0.0, longest}), points}};
}

PageTable WorstUtterances(const WerResult& result) {
  std::vector<const UtteranceErrors*> order;
  for (const UtteranceErrors& one : result.per_utterance) order.push_back(&one);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return a->words.Errors() > b->words.Errors();
  });
  order.resize(std::min<std::size_t>(order.size(), 20));
  PageTable table{"Utterances with the most errors",
                  {"utterance", "words", "errors", "sub", "del", "ins"}};
  for (const UtteranceErrors* one : order) {
    const EditCounts& words = one->words;
    table.rows.push_back({one->id, fmt::to_string(words.n), fmt::to_string(words.Errors()),
                          fmt::to_string(words.sub), fmt::to_string(words.del),
                          fmt::to_string(words.ins)});
  }
  return table;
}

}  // namespace sotto
