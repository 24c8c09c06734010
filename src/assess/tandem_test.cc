#include "assess/tandem.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "assess/verification.h"
#include "base/error.h"
#include "base/files.h"
#include "base/random.h"
#include "base/testing.h"

namespace sotto {
namespace {

constexpr double kTolerance = 1e-12;

std::filesystem::path Folder(const std::string& name) {
  return testing::SharedFolder() / "data/golden" / name;
}

nlohmann::json Values(const std::string& name) {
  return nlohmann::json::parse(ReadTextFile(Folder(name) / "expected.json"))["values"];
}

void ExpectAttack(const nlohmann::json& expected, const AttackResult& result) {
  for (const auto& value : expected["min_tdcf_legacy2019"]) {
    EXPECT_NEAR(result.min_tdcf_2019->value, value.get<double>(), kTolerance) << result.attack;
  }
  EXPECT_NEAR(result.min_tdcf_2019->threshold,
              expected["min_tdcf_legacy2019_threshold"].get<double>(), kTolerance);
  for (const auto& value : expected["min_tdcf_2021"]) {
    EXPECT_NEAR(result.min_tdcf_2021->value, value.get<double>(), kTolerance) << result.attack;
  }
  EXPECT_NEAR(result.min_tdcf_2021->threshold, expected["min_tdcf_2021_threshold"].get<double>(),
              kTolerance);
  EXPECT_NEAR(*result.cm_eer, expected["cm_eer_argmin"]["asvspoof5"].get<double>(), kTolerance)
      << result.attack;
  EXPECT_NEAR(result.p_fa_spoof_asv, expected["asv_rates"]["Pfa_spoof_asv"].get<double>(),
              kTolerance);
  EXPECT_EQ(result.n_cm, expected["n"]["spoof"]);
  EXPECT_EQ(result.n_asv, expected["n"]["asv_spoof"]);
}

void ExpectGolden(const TandemResult& result, const nlohmann::json& values) {
  EXPECT_EQ(result.asv->threshold, values["asv_eer_threshold"]);
  const auto& rates = values["pooled"]["asv_rates"];
  EXPECT_NEAR(result.asv->p_miss, rates["Pmiss_asv"].get<double>(), kTolerance);
  EXPECT_NEAR(result.asv->p_fa, rates["Pfa_asv"].get<double>(), kTolerance);
  ExpectAttack(values["pooled"], result.pooled);
  EXPECT_NEAR(
      *result.t_eer * 100.0,
      values["t_eer_concurrent_percent"]["asvspoof5 compute_teer_accelerated"].get<double>(), 1e-6);
}

void ExpectTwoFiles(const std::string& name) {
  TandemScores scores;
  ReadAsvScores(ReadTextFile(Folder(name) / "asv.tsv"), "asv.tsv", scores);
  ReadCmScores(ReadTextFile(Folder(name) / "cm.tsv"), "cm.tsv", scores);
  const TandemResult result = MeasureTandem(scores, {});
  const auto values = Values(name);
  ExpectGolden(result, values);
  EXPECT_NEAR(result.asv->eer, values["asv_eer_argmin"]["asvspoof5"].get<double>(), kTolerance);
  ASSERT_EQ(result.per_attack.size(), values["per_attack"].size());
  for (const AttackResult& attack : result.per_attack) {
    ExpectAttack(values["per_attack"][attack.attack], attack);
  }
}

TEST(TandemGolden, AirSoftmaxMatches) {
  SOTTO_NEEDS_SHARED("data/golden/tandem_air_softmax");
  ExpectTwoFiles("tandem_air_softmax");
}

TEST(TandemGolden, RawGatMatches) {
  SOTTO_NEEDS_SHARED("data/golden/tandem_rawgat_add");
  ExpectTwoFiles("tandem_rawgat_add");
}

TEST(TandemGolden, OfficialPackageDemoMatches) {
  SOTTO_NEEDS_SHARED("data/golden/tandem_asv19pkg_demo");
  ExpectTwoFiles("tandem_asv19pkg_demo");
}

TEST(TandemGolden, SpoofingAwareVerificationMatches) {
  SOTTO_NEEDS_SHARED("data/golden/tandem_sasv_dev");
  const std::string text = ReadTextFile(Folder("tandem_sasv_dev") / "sasv.tsv");
  const TandemResult result = MeasureTandem(ReadSasvScores(text, "sasv.tsv"), {});
  const auto values = Values("tandem_sasv_dev");
  ExpectGolden(result, values);
  const auto only = [&](const char* name) { return values[name].begin()->get<double>(); };
  EXPECT_NEAR(result.asv->eer, only("sv_eer"), kTolerance);
  EXPECT_NEAR(*result.spf_eer_asv, only("spf_eer_asv"), kTolerance);
  EXPECT_NEAR(*result.sasv_eer_asv, only("sasv_eer_asv"), kTolerance);
  EXPECT_NEAR(*result.spf_eer_cm, only("spf_eer_cm"), kTolerance);
  EXPECT_NEAR(*result.sasv_eer, only("sasv_eer_sumfusion"), kTolerance);
  const std::string published =
      "asvspoof5 a_dcf default CostModel (Pspf.05 Pnon.05 Ptar.9 C 1,10,20)";
  const std::string tdcf = "asvspoof5 a_dcf (Pspf.05 Pnon.0095 Ptar.9405 C 1,10,10)";
  EXPECT_NEAR(result.a_dcf->value, values["min_a_dcf_sumfusion"][published], kTolerance);
  EXPECT_NEAR(result.a_dcf_tdcf_costs->value, values["min_a_dcf_sumfusion"][tdcf], kTolerance);
  EXPECT_NEAR(result.a_dcf_asv->value, values["min_a_dcf_asv"][published], kTolerance);
  EXPECT_NEAR(result.a_dcf_asv_tdcf_costs->value, values["min_a_dcf_asv"][tdcf], kTolerance);
}

std::vector<double> Gaussians(std::size_t n, double mean, std::uint64_t seed) {
  SeededRng rng(seed);
  std::vector<double> out(n);
  // Rounded, so that there are ties.
  for (double& x : out) x = std::round(10.0 * (mean + rng.Gaussian())) / 10.0;
  return out;
}

TEST(Tandem, ConcurrentTeerEqualsASearchOverAllPairsOfThresholds) {
  const auto asv =
      DetectionStates(Gaussians(200, 2, 1), Gaussians(300, 0, 2), Gaussians(250, 1.5, 3));
  const auto cm = DetectionStates(Gaussians(150, 1, 4), {}, Gaussians(250, -1, 5));
  double best_gap = 1e9;
  double expected = 0.0;
  for (const DetectionState& a : asv) {
    if (!(a.p_miss < (a.p_fa_non + a.p_fa_spoof) / 2) || a.p_fa_spoof == 0) continue;
    const DetectionState* closest = nullptr;
    double closest_h = 1e9;
    for (const DetectionState& c : cm) {
      const double miss = c.p_miss + (1 - c.p_miss) * a.p_miss;
      const double fa = 0.5 * (1 - c.p_miss) * a.p_fa_non + 0.5 * c.p_fa_spoof * a.p_fa_spoof;
      if (std::abs(miss - fa) < closest_h) {
        closest_h = std::abs(miss - fa);
        closest = &c;
      }
    }
    const double gap =
        std::abs(a.p_fa_non / a.p_fa_spoof - closest->p_fa_spoof / (1 - closest->p_miss));
    if (gap < best_gap) {
      best_gap = gap;
      expected = a.p_fa_spoof * closest->p_fa_spoof;
    }
  }
  EXPECT_DOUBLE_EQ(ConcurrentTeer(cm, asv), expected);
}

TEST(Tandem, PerfectCountermeasureCostsNothingByTheLegacyFormAndTheAsvByTheOther) {
  const std::vector<double> tar = {1, 2, 3, 4};
  const std::vector<double> non = {-2, -1, 0, 1.5};
  const AsvRates asv = AsvErrorRates(tar, non, std::vector<double>{2, 3});
  const auto cm = DetectionStates(std::vector<double>{5, 6}, {}, std::vector<double>{-5, -6});
  EXPECT_EQ(MinTdcf2019(cm, asv, {}).value, 0.0);
  const TandemCosts costs;
  const double c0 = costs.p_tar * asv.p_miss + costs.p_non * costs.c_fa * asv.p_fa;
  const double c2 = costs.p_spoof * costs.c_fa_spoof * asv.p_fa_spoof;
  EXPECT_DOUBLE_EQ(MinTdcf2021(cm, asv, costs).value, c0 / (c0 + std::min(costs.p_tar - c0, c2)));
}

TEST(Tandem, UselessCountermeasureCostsTheDefault) {
  const std::vector<double> same = {0, 0, 0};
  const AsvRates asv =
      AsvErrorRates(std::vector<double>{1, 2}, std::vector<double>{-1, -2}, std::vector<double>{1});
  const auto cm = DetectionStates(same, {}, same);
  EXPECT_DOUBLE_EQ(MinTdcf2019(cm, asv, {}).value, 1.0);
  EXPECT_DOUBLE_EQ(MinTdcf2021(cm, asv, {}).value, 1.0);
  EXPECT_DOUBLE_EQ(MinAdcf(DetectionStates(same, same, same), {}).value, 1.0);
}

TEST(Tandem, InfiniteScoresAreLegal) {
  const double inf = std::numeric_limits<double>::infinity();
  const auto states =
      DetectionStates(std::vector<double>{1, inf}, {}, std::vector<double>{-inf, 0});
  EXPECT_EQ(states.back().p_miss, 1.0);
  EXPECT_EQ(states.back().p_fa_spoof, 0.0);
  EXPECT_EQ(states.size(), 5U);  // accept-all and four distinct scores
}

TEST(Tandem, ReadersRefuseUnknownKeysNanAndAttacksScoredOnce) {
  TandemScores scores;
  EXPECT_THROW(ReadAsvScores("attack\tkey\tscore\n-\tgenuine\t1\n", "a", scores), Error);
  EXPECT_THROW(ReadAsvScores("attack\tkey\tscore\n-\ttarget\tnan\n", "a", scores), Error);
  EXPECT_THROW(ReadCmScores("attack\tscore\n-\t1\n", "c", scores), Error);
  EXPECT_THROW(ReadSasvScores("key\tasv_score\ntarget\t1\n", "s"), Error);
  TandemScores half;
  ReadAsvScores("attack\tkey\tscore\n-\ttarget\t1\n-\tnontarget\t0\nA1\tspoof\t1\n", "a", half);
  ReadCmScores("utt\tattack\tkey\tscore\nu\t-\tbonafide\t1\nv\tA2\tspoof\t0\n", "c", half);
  EXPECT_THROW(MeasureTandem(half, {}), Error);
}

TEST(Tandem, RefusesPriorsThatDoNotAddUpAndAsvTooWeakForTheCosts) {
  TandemOptions options;
  options.costs.p_tar = 0.5;
  TandemScores scores;
  ReadAsvScores("key\tscore\ntarget\t1\nnontarget\t0\nspoof\t1\n", "a", scores);
  ReadCmScores("key\tscore\nbonafide\t1\nspoof\t0\n", "c", scores);
  EXPECT_THROW(MeasureTandem(scores, options), Error);
  EXPECT_NO_THROW(MeasureTandem(scores, {}));
  const auto cm = DetectionStates(std::vector<double>{1}, {}, std::vector<double>{0});
  EXPECT_THROW(MinTdcf2019(cm, {0, 0.9, 0.99, 1.0, 1.0}, {}), Error);
}

}  // namespace
}  // namespace sotto
