// Every verification case of the golden folder: values that other people's code printed for the
// same scores. Closed forms agree to 1e-9; ZEBRA's own figures carry a ramp of up to 1e-6 on the
// LLRs and agree to that, absolutely; linear calibration is iterated and agrees to 1e-6.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "assess/verify.h"
#include "base/error.h"
#include "base/files.h"
#include "base/testing.h"
#include "base/tsv.h"

namespace sotto {
namespace {

using nlohmann::json;

constexpr double kExact = 1e-9;
constexpr double kRamp = 1e-6;
constexpr double kIterated = 1e-6;

double Number(const json& value) {
  if (value.is_number()) return value.get<double>();
  const auto text = value.get<std::string>();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  return std::numeric_limits<double>::quiet_NaN();
}

double Number(std::string_view text) {
  if (text == "inf" || text == "-inf") return Number(json(std::string(text)));
  return ParseNumber(text, "golden");
}

// Relative to the expected value, or to `floor` where that is smaller.
void ExpectClose(double got, double expected, double tolerance, const std::string& what,
                 double floor = 1e-3) {
  if (std::isinf(expected) || std::isinf(got)) {
    EXPECT_EQ(got, expected) << what;
    return;
  }
  EXPECT_NEAR(got, expected, tolerance * std::max(std::abs(expected), floor)) << what;
}

// The lowest threshold whose false-alarm rate is at most `most`, among the scores.
RocPoint PointAtFalseAlarm(const ScoreLevels& data, double most) {
  std::vector<double> scores;
  for (const Level& level : data.levels) scores.push_back(level.score);
  for (const RocPoint& point : RocAt(data, scores)) {
    if (point.false_alarm <= most) return point;
  }
  return {std::numeric_limits<double>::infinity(), 1.0, 0.0};
}

struct Case {
  json expected;
  Trials trials;
  ScoreLevels data;
  Pav pav;
};

std::string Folder(const std::string& name) { return "data/golden/" + name; }

Case Load(const std::string& name) {
  const auto folder = testing::SharedFolder() / Folder(name);
  Case c;
  c.expected = json::parse(ReadTextFile(folder / "expected.json"));
  c.trials = ReadTrialTsv(folder / "trials.tsv");
  c.data = MakeLevels(c.trials);
  c.pav = FitPav(c.data);
  return c;
}

// The number that follows `tag` in a metric's name ("mindcf_p0.01_cm10_cf1").
double NumberAfter(const std::string& metric, const std::string& tag, double otherwise) {
  const std::size_t at = metric.find(tag);
  return at == std::string::npos ? otherwise : std::stod(metric.substr(at + tag.size()));
}

// Our value for a golden metric; nothing where the metric is not a single number of ours.
std::optional<double> Ours(const Case& c, const std::string& metric) {
  if (metric == "eer_argmin") return EerArgmin(c.data);
  if (metric == "eer_interp") return EerInterpolated(c.data);
  if (metric == "eer_kaldi_float32") return EerKaldi(c.data);
  if (metric == "eer_rocch") return EerRocch(c.pav);
  if (metric == "auc") return Auc(c.data);
  if (metric == "rocch_area_error") return RocchAreaError(c.pav);
  if (metric == "cllr") return Cllr(c.data);
  if (metric == "min_cllr") return CllrMin(c.pav);
  if (metric == "n_tar") return c.data.n_tar;
  if (metric == "n_non") return c.data.n_non;
  if (metric == "n_distinct_scores") return static_cast<double>(c.data.levels.size());
  if (metric == "pav_nblocks") return static_cast<double>(c.pav.blocks.size());
  if (metric == "dsys_nbins") return MeasureLinkability(c.data).bins;
  if (metric == "dsys_rectangle_sum_own") return MeasureLinkability(c.data).d_sys_unbiased;
  if (metric == "zebra_dece_bit") return MeasureZebra(c.data).d_ece_bits;
  if (metric == "zebra_max_abs_log10_lr") return MeasureZebra(c.data).worst_case_log10;
  if (metric == "zebra_1_minus_min_cllr") return 1.0 - CllrMin(c.pav);
  if (metric.rfind("mindcf_p", 0) == 0 || metric.rfind("actdcf_p", 0) == 0) {
    const OperatingPoint point{NumberAfter(metric, "_p", 0.0), NumberAfter(metric, "_cm", 1.0),
                               NumberAfter(metric, "_cf", 1.0)};
    return metric[0] == 'm' ? MinDcf(c.pav, point) : ActDcf(c.data, std::span(&point, 1)).front();
  }
  const int bins = static_cast<int>(NumberAfter(metric, "_bins", 0.0));
  if (metric.rfind("dsys_omega", 0) == 0) {
    return MeasureLinkability(c.data, {NumberAfter(metric, "_omega", 0.0), bins}).d_sys;
  }
  if (metric.rfind("maximal_linkability_bins", 0) == 0) return MaximalLinkability(c.data, bins);
  return std::nullopt;
}

double ToleranceOf(const std::string& metric) {
  if (metric.rfind("zebra", 0) == 0) return kRamp;
  if (metric == "eer_kaldi_float32") return 1e-7;  // printed in single precision
  return kExact;
}

void ExpectTables(const Case& c, const std::string& name) {
  const auto folder = testing::SharedFolder() / Folder(name);
  const auto rows = [&](const char* file) {
    std::vector<std::vector<double>> numbers;
    if (!std::filesystem::exists(folder / file)) return numbers;
    const std::string text = ReadTextFile(folder / file);
    for (const auto& row : ParseTsv(text, file).rows) {
      numbers.emplace_back();
      for (const auto field : row) numbers.back().push_back(Number(field));
    }
    return numbers;
  };
  const auto blocks = rows("pav_blocks.tsv");
  if (!blocks.empty()) {
    ASSERT_EQ(blocks.size(), c.pav.blocks.size()) << name;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const PavBlock& b = c.pav.blocks[i];
      const double ours[] = {b.low, b.high, b.tar, b.non, b.posterior, b.llr};
      for (std::size_t k = 0; k < 6; ++k) ExpectClose(ours[k], blocks[i][k], kExact, "pav block");
    }
  }
  const auto points = rows("det_points.tsv");
  for (const auto& row : points) {
    const RocPoint p = RocAt(c.data, std::span(row.data(), 1)).front();
    ExpectClose(p.miss, row[1], kExact, "pmiss");
    ExpectClose(p.false_alarm, row[2], kExact, "pfa");
  }
  const auto profile = rows("ece_profile.tsv");
  const EceProfile ours = MakeEceProfile(c.data, c.pav);
  for (std::size_t i = 0; i < profile.size(); ++i) {
    ASSERT_NEAR(ours.prior_log_odds[i], profile[i][0], 1e-12);
    ExpectClose(ours.ece_default[i], profile[i][1], kExact, "ece_default");
    ExpectClose(ours.ece_min[i], profile[i][2], kRamp, "ece_min", 1.0);
    // The reference overflows above |LLR| = 709.
    if (std::isfinite(profile[i][3]) || !std::isfinite(ours.ece_act[i])) {
      ExpectClose(ours.ece_act[i], profile[i][3], kExact, "ece_act");
    } else {
      EXPECT_GT(std::abs(c.data.levels.back().score), 709.0);
    }
    ExpectClose(ours.dcf_default[i], profile[i][4], kExact, "dcf_default");
    ExpectClose(ours.dcf_min[i], profile[i][5], kExact, "dcf_min");
    // Where a score lies on the threshold the reference counts part of the tie.
    const double threshold = -ours.prior_log_odds[i];
    const double around[] = {threshold - 1e-9, threshold + 1e-9};
    const auto points_around = RocAt(c.data, around);
    const bool on_threshold = points_around[0].miss != points_around[1].miss ||
                              points_around[0].false_alarm != points_around[1].false_alarm;
    if (!on_threshold) ExpectClose(ours.dcf_act[i], profile[i][6], kExact, "dcf_act");
  }
}

void ExpectLinearCalibration(const Case& c, double prior, const json& value) {
  const double a = Number(value["a"]);
  // References stop somewhere on the way to infinity where the classes do not overlap; we refuse.
  const bool separable = Number(value["cllr_after"]) < 1e-12 || std::isnan(a);
  if (separable) {
    EXPECT_THROW(FitLinearCalibration(c.data, prior), Error);
    return;
  }
  const LinearCalibration ours = FitLinearCalibration(c.data, prior);
  ExpectClose(ours.a, a, kIterated, "a");
  ExpectClose(ours.b, Number(value["b"]), kIterated, "b");
  const auto llrs = ApplyCalibration(ours, c.trials.scores);
  ExpectClose(Cllr(MakeLevels(llrs, c.trials.is_target)), Number(value["cllr_after"]), kExact,
              "cllr_after");
}

class VerificationGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(VerificationGolden, IsReproduced) {
  SOTTO_NEEDS_SHARED(Folder(GetParam()));
  const Case c = Load(GetParam());
  const bool infinite = GetParam() == "edge_inf";
  std::size_t compared = 0;
  for (const auto& [metric, entry] : c.expected["recommended"].items()) {
    const std::string what = GetParam() + " " + metric;
    if (metric.rfind("linear_calibration_p", 0) == 0) {
      ExpectLinearCalibration(c, std::stod(metric.substr(20)), entry["value"]);
      ++compared;
      continue;
    }
    if (metric == "zebra_tag") {
      EXPECT_EQ(std::string(1, MeasureZebra(c.data).tag), entry["value"]) << what;
      ++compared;
      continue;
    }
    const auto ours = Ours(c, metric);
    ASSERT_TRUE(ours.has_value()) << what << " is not compared";
    const double expected = Number(entry["value"]);
    if (std::isnan(expected)) {
      // Histograms of infinite scores: the references fail, ours put them into the edge bins.
      EXPECT_TRUE(infinite || std::isnan(*ours)) << what;
    } else {
      ExpectClose(*ours, expected, ToleranceOf(metric), what,
                  metric.rfind("zebra", 0) == 0 ? 1.0 : 1e-3);
    }
    ++compared;
  }
  for (const char* metric :
       {"eer_kaldi_float32", "n_tar", "n_non", "n_distinct_scores", "pav_nblocks", "dsys_nbins",
        "dsys_rectangle_sum_own", "actdcf_p0.5"}) {
    if (!c.expected["values"].contains(metric)) continue;
    const json& value = c.expected["values"][metric];
    const json& one = value.is_object() ? value.front() : value;
    ExpectClose(*Ours(c, metric), Number(one), ToleranceOf(metric), metric);
    ++compared;
  }
  if (c.expected["values"].contains("fnmr_at_fmr")) {
    for (const auto& [fmr, point] : c.expected["values"]["fnmr_at_fmr"].front().items()) {
      const RocPoint ours = PointAtFalseAlarm(c.data, std::stod(fmr));
      ExpectClose(ours.miss, Number(point["fnmr"]), kExact, "fnmr");
      ExpectClose(ours.false_alarm, Number(point["fmr"]), kExact, "fmr");
    }
  }
  EXPECT_GT(compared, 0U);
  ExpectTables(c, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Cases, VerificationGolden,
                         ::testing::Values("verif_asv19dev_ecapa", "verif_asv19eval_xvec",
                                           "verif_fvcaus_plda", "verif_libri_aa", "verif_mnist_oa",
                                           "verif_mnist_oo", "edge_all_equal",
                                           "edge_dsys_saturated", "edge_dsys_separated",
                                           "edge_huge", "edge_inf", "edge_one_each", "edge_perfect",
                                           "edge_reversed", "edge_score_on_threshold",
                                           "edge_ties_int"),
                         [](const auto& golden) { return golden.param; });

TEST(GoldenEdges, AnEmptyClassIsRefused) {
  SOTTO_NEEDS_SHARED(Folder("edge_empty_tar"));
  EXPECT_THROW(Load("edge_empty_tar"), Error);
}

TEST(GoldenEdges, NanIsRefusedWithItsLine) {
  SOTTO_NEEDS_SHARED(Folder("edge_nan"));
  try {
    Load("edge_nan");
    FAIL() << "NaN was accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("line "), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("NaN"), std::string::npos) << error.what();
  }
}

TEST(GoldenEdges, ZebraTagsHaveInclusiveUpperBoundsAndZeroIsZero) {
  SOTTO_NEEDS_SHARED(Folder("edge_zebra_tags"));
  const json expected = json::parse(
      ReadTextFile(testing::SharedFolder() / Folder("edge_zebra_tags") / "expected.json"));
  for (const json& entry : expected["values"]["zebra_tag"]) {
    const double worst = Number(entry["max_abs_log10_lr"]);
    const auto tag = entry["VoicePAT category_tag_evidence (= ZEBRA)"].get<std::string>();
    EXPECT_EQ(std::string(1, ZebraTag(worst)), worst == 0.0 ? "0" : tag) << worst;
  }
}

}  // namespace
}  // namespace sotto
