#include "assess/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "assess/bootstrap.h"
#include "base/error.h"
#include "base/parallel.h"

namespace sotto {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kCalibrationPrior = 0.5;
constexpr auto kHigher = Direction::kHigherIsMorePrivate;
constexpr auto kLower = Direction::kLowerIsMorePrivate;

Figure MakeFigure(std::string name, double value, const char* unit, Direction direction) {
  Figure figure;
  figure.name = std::move(name);
  figure.value = value;
  figure.unit = unit;
  figure.direction = direction;
  return figure;
}

ScoreFigures Measure(const ScoreLevels& data, const VerifyOptions& options,
                     const LevelCosts* costs) {
  const Pav pav = FitPav(data);
  ScoreFigures f;
  f.eer = EerInterpolated(data);
  f.eer_kaldi = EerKaldi(data);
  f.eer_rocch = EerRocch(pav);
  f.eer_argmin = EerArgmin(data);
  f.auc = Auc(data);
  f.rocch_area_error = RocchAreaError(pav);
  f.cllr = costs != nullptr ? Cllr(data, *costs) : Cllr(data);
  f.cllr_min = CllrMin(pav);
  f.cllr_cal = f.cllr - f.cllr_min;
  const auto points = options.Points();
  for (const OperatingPoint& point : points) f.min_dcf.push_back(MinDcf(pav, point));
  f.act_dcf = ActDcf(data, points);
  const Linkability linkability = MeasureLinkability(data, options.linkability);
  f.d_sys = linkability.d_sys;
  f.d_sys_unbiased = linkability.d_sys_unbiased;
  f.zebra = MeasureZebra(pav, WithLaplace(pav));
  return f;
}

// Every headline figure of the scores; the order is that of the printed table.
std::vector<Figure> Headlines(const ScoreFigures& f, const VerifyOptions& options) {
  std::vector<Figure> figures;
  const auto add = [&figures](std::string name, double value, const char* unit, Direction d) {
    figures.push_back(MakeFigure(std::move(name), value, unit, d));
  };
  add("eer", f.eer, "probability", kHigher);
  add("eer_kaldi", f.eer_kaldi, "probability", kHigher);
  add("eer_rocch", f.eer_rocch, "probability", kHigher);
  add("auc", f.auc, "probability", kLower);
  add("cllr", f.cllr, "bit", kHigher);
  add("cllr_min", f.cllr_min, "bit", kHigher);
  add("cllr_cal", f.cllr_cal, "bit", kHigher);
  for (std::size_t i = 0; i < options.priors.size(); ++i) {
    add(fmt::format("min_dcf.{}", options.priors[i]), f.min_dcf[i], "cost", kHigher);
  }
  for (std::size_t i = 0; i < options.priors.size(); ++i) {
    add(fmt::format("act_dcf.{}", options.priors[i]), f.act_dcf[i], "cost", kHigher);
  }
  add("d_sys", f.d_sys, "fraction", kLower);
  add("d_sys_unbiased", f.d_sys_unbiased, "fraction", kLower);
  add("zebra.d_ece_bits", f.zebra.d_ece_bits, "bit", kLower);
  add("zebra.worst_case_log10", f.zebra.worst_case_log10, "log10 LR", kLower);
  return figures;
}

// Top-k precision and rank; resamples give every recording a weight.
std::vector<Figure> IdentificationHeadlines(const Identification& identification,
                                            const std::vector<double>* weights) {
  std::vector<Figure> figures;
  const auto mean = [&](auto&& value_of) {
    double sum = 0.0;
    double n = 0.0;
    for (std::size_t q = 0; q < identification.queries.size(); ++q) {
      const double value = value_of(identification.queries[q]);
      const double weight = weights != nullptr ? (*weights)[q] : 1.0;
      if (std::isnan(value) || weight == 0.0) continue;
      sum += weight * value;
      n += weight;
    }
    return n == 0.0 ? kNan : sum / n;
  };
  for (std::size_t j = 0; j < identification.k.size(); ++j) {
    const std::size_t n = identification.top_k_n[j];
    figures.push_back(MakeFigure(fmt::format("top_k.{}", identification.k[j]),
                                 mean([j](const Query& q) { return q.precision[j]; }), "precision",
                                 kLower));
    figures.back().counts = {{"recordings", n}};
    if (n == 0) figures.back().remark = "no recording has that many trials";
  }
  figures.push_back(
      MakeFigure("rank.mean", mean([](const Query& q) { return q.rank; }), "rank", kHigher));
  figures.back().counts = {{"recordings", identification.queries.size()}};
  return figures;
}

// C_ECE by both calibrations.
std::vector<Figure> CalibratedHeadlines(const CalibratedDisclosure& calibrated) {
  Figure linear = MakeFigure("c_ece.linear", calibrated.c_ece_linear, "bit", kLower);
  linear.remark = calibrated.remark;
  return {linear, MakeFigure("c_ece.isotonic", calibrated.c_ece_isotonic, "bit", kLower)};
}

// Z of each trial's calibrated LLR, seen from its class.
std::vector<double> DisclosureTerms(const Trials& trials, const std::vector<double>& llrs) {
  std::vector<double> terms;
  terms.reserve(llrs.size());
  for (std::size_t i = 0; i < llrs.size(); ++i) {
    terms.push_back(DisclosureZ(trials.is_target[i] != 0 ? llrs[i] : -llrs[i]));
  }
  return terms;
}

double WeightedDisclosure(const Trials& trials, const std::vector<double>& terms,
                          const std::vector<double>& weights) {
  if (terms.empty()) return kNan;
  double sum[2] = {0.0, 0.0};
  double n[2] = {0.0, 0.0};
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (weights[i] == 0.0) continue;
    sum[trials.is_target[i]] += weights[i] * terms[i];
    n[trials.is_target[i]] += weights[i];
  }
  return (sum[0] / n[0] + sum[1] / n[1]) / (2.0 * std::numbers::ln2);
}

// What the resamples share: the levels of the data and where each trial stands in them.
struct Prepared {
  const Trials& trials;
  const ScoreLevels& data;
  const VerifyOptions& options;
  const std::optional<Identification>& identification;
  TrialResampler resampler;
  LevelCosts costs;
  std::vector<std::uint32_t> level;        // of each trial
  std::vector<std::vector<double>> terms;  // of C_ECE, per calibration and trial
};

std::vector<double> ValuesOf(const std::vector<Figure>& figures) {
  std::vector<double> values;
  values.reserve(figures.size());
  for (const Figure& figure : figures) values.push_back(figure.value);
  return values;
}

// The headline values of resample r; empty when it has lost a class.
std::vector<double> Resample(const Prepared& p, std::uint64_t r, ScoreLevels& scratch,
                             TrialResampler::Draw& draw) {
  p.resampler.Make(p.options.seed, r, draw);
  for (Level& level : scratch.levels) level.tar = level.non = 0.0;
  scratch.n_tar = scratch.n_non = 0.0;
  for (std::size_t i = 0; i < draw.trial.size(); ++i) {
    const double weight = draw.trial[i];
    const bool target = p.trials.is_target[i] != 0;
    (target ? scratch.levels[p.level[i]].tar : scratch.levels[p.level[i]].non) += weight;
    (target ? scratch.n_tar : scratch.n_non) += weight;
  }
  if (scratch.n_tar == 0.0 || scratch.n_non == 0.0) return {};
  std::vector<double> values =
      ValuesOf(Headlines(Measure(scratch, p.options, &p.costs), p.options));
  if (p.identification) {
    std::vector<double> weights;
    for (const Query& query : p.identification->queries) {
      weights.push_back(p.resampler.SpeakerLevel()
                            ? p.resampler.TestSpeakerWeight(draw, query.some_trial)
                            : draw.trial[query.some_trial]);
    }
    const auto more = ValuesOf(IdentificationHeadlines(*p.identification, &weights));
    values.insert(values.end(), more.begin(), more.end());
  }
  for (const auto& terms : p.terms) {
    values.push_back(WeightedDisclosure(p.trials, terms, draw.trial));
  }
  return values;
}

Prepared Prepare(const Trials& trials, const ScoreLevels& data, const VerifyOptions& options,
                 const VerifyResult& result) {
  Prepared p{
      trials, data, options, result.identification, TrialResampler(trials), MakeLevelCosts(data),
      {},     {}};
  p.level.reserve(trials.size());
  for (const double score : trials.scores) {
    const auto found =
        std::lower_bound(data.levels.begin(), data.levels.end(), score,
                         [](const Level& level, double s) { return level.score < s; });
    p.level.push_back(static_cast<std::uint32_t>(found - data.levels.begin()));
  }
  if (result.calibrated) {
    p.terms.push_back(DisclosureTerms(trials, result.calibrated->linear_llrs));
    p.terms.push_back(DisclosureTerms(trials, result.calibrated->isotonic_llrs));
  }
  return p;
}

// Adds intervals to the figures and says how.
std::string Bootstrap(const Prepared& p, std::vector<Figure>& figures) {
  constexpr std::size_t kChunk = 8;  // resamples that share their buffers
  const auto n = static_cast<std::size_t>(p.options.resamples);
  std::vector<std::vector<double>> values(n);
  ParallelFor((n + kChunk - 1) / kChunk, p.options.jobs, [&](std::size_t chunk) {
    ScoreLevels scratch = p.data;
    TrialResampler::Draw draw;
    for (std::size_t r = chunk * kChunk; r < std::min(n, (chunk + 1) * kChunk); ++r) {
      values[r] = Resample(p, r, scratch, draw);
    }
  });
  const auto dropped = static_cast<std::size_t>(
      std::count_if(values.begin(), values.end(), [](const auto& v) { return v.empty(); }));
  for (std::size_t k = 0; k < figures.size(); ++k) {
    std::vector<double> column;
    for (const auto& row : values) {
      if (!row.empty()) column.push_back(row[k]);
    }
    figures[k].interval = PercentileInterval(std::move(column), p.options.interval_level);
  }
  std::string text =
      fmt::format("{}, {} resamples, seed {}", p.resampler.Describe(), n, p.options.seed);
  if (dropped > 0) text += fmt::format(", {} of them left out because they lack a class", dropped);
  return text;
}

}  // namespace

void VerifyOptions::Validate() const {
  for (const OperatingPoint& point : Points()) point.Validate();
  linkability.Validate();
  for (const std::size_t k : top_k) {
    if (k == 0) throw Error("top-k needs k of at least 1");
  }
  if (resamples < 0 || resamples > 10000000) {
    throw Error(fmt::format("{} resamples: 0 to 10000000 are allowed", resamples));
  }
  if (!(interval_level > 0.0 && interval_level < 1.0)) {
    throw Error(fmt::format("level {} of the intervals must lie between 0 and 1", interval_level));
  }
}

std::vector<OperatingPoint> VerifyOptions::Points() const {
  std::vector<OperatingPoint> points;
  for (const double prior : priors) points.push_back({prior, cost_miss, cost_false_alarm});
  return points;
}

int AutomaticResamples(std::size_t trials) { return trials <= 100000 ? 1000 : 0; }

std::vector<Figure> ShownFigures(const std::vector<Figure>& figures) {
  std::vector<Figure> shown;
  for (const Figure& figure : figures) {
    if (figure.name != "d_sys") shown.push_back(figure);
  }
  return shown;
}

ScoreFigures MeasureScores(const ScoreLevels& data, const VerifyOptions& options) {
  return Measure(data, options, nullptr);
}

CalibratedDisclosure MeasureCalibrated(const Trials& trials, const ScoreLevels& other_run,
                                       double prior) {
  CalibratedDisclosure result;
  result.isotonic_llrs = ApplyCalibration(FitIsotonicCalibration(other_run), trials.scores);
  const ScoreLevels isotonic = MakeLevels(result.isotonic_llrs, trials.is_target);
  result.c_ece_isotonic = ExpectedDisclosure(isotonic);
  result.cllr_isotonic = Cllr(isotonic);
  try {
    result.linear = FitLinearCalibration(other_run, prior);
  } catch (const Error& error) {
    result.remark = error.what();
    result.linear = {kNan, kNan};
    result.c_ece_linear = result.cllr_linear = kNan;
    return result;
  }
  result.linear_llrs = ApplyCalibration(result.linear, trials.scores);
  const ScoreLevels linear = MakeLevels(result.linear_llrs, trials.is_target);
  result.c_ece_linear = ExpectedDisclosure(linear);
  result.cllr_linear = Cllr(linear);
  return result;
}

VerifyResult Verify(const Trials& trials, const ScoreLevels& data, const VerifyOptions& options,
                    const ScoreLevels* other_run) {
  options.Validate();
  VerifyResult result;
  result.n_tar = static_cast<std::size_t>(data.n_tar);
  result.n_non = static_cast<std::size_t>(data.n_non);
  result.scores = MeasureScores(data, options);
  // The order is that of the values in Resample.
  result.figures = Headlines(result.scores, options);
  const auto append = [&result](std::vector<Figure> more) {
    for (Figure& figure : more) result.figures.push_back(std::move(figure));
  };
  if (trials.test.Present()) {
    result.identification = MeasureIdentification(trials, options.top_k);
    append(IdentificationHeadlines(*result.identification, nullptr));
  }
  if (other_run != nullptr) {
    result.calibrated = MeasureCalibrated(trials, *other_run, kCalibrationPrior);
    append(CalibratedHeadlines(*result.calibrated));
  }
  const bool few = result.n_tar < kFewestPublishedTargets;
  for (Figure& figure : result.figures) {
    figure.attacker = options.attacker;
    if (figure.counts.empty()) figure.counts = {{"n_tar", result.n_tar}, {"n_non", result.n_non}};
    if (figure.name == "d_sys" && std::isnan(figure.value)) {
      figure.remark = "all scores are equal: the bins have no width";
    } else if (figure.name == "d_sys" && few && options.linkability.bins == 0) {
      figure.remark = "fewer than 20 targets: 0 by the published rule, whatever the scores";
    } else if (figure.name == "d_sys_unbiased" && few) {
      figure.remark = "fewer than 20 targets: on average too high where little is linkable";
    }
  }
  result.bootstrap = options.resamples == 0
                         ? "none"
                         : Bootstrap(Prepare(trials, data, options, result), result.figures);
  return result;
}

}  // namespace sotto
