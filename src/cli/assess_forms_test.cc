// The forms of `sotto assess` as a user runs them: exit codes, JSON names, values, pages.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "base/files.h"
#include "base/testing.h"
#include "cli/testing.h"

namespace sotto {
namespace {

using nlohmann::json;

// `sotto assess ARGUMENTS`.
testing::Outcome Assess(const std::string& arguments) {
  return testing::Sotto("assess " + arguments);
}

json AssessJson(const std::string& arguments) {
  const testing::Outcome outcome = Assess(arguments + " --json");
  EXPECT_EQ(outcome.code, 0) << arguments;
  return json::parse(outcome.out);
}

std::string Golden(const std::string& file) {
  return fmt::format("'{}'", (testing::SharedFolder() / "data/golden" / file).string());
}

json Expected(const std::string& name) {
  return json::parse(
      ReadTextFile(testing::SharedFolder() / "data/golden" / name / "expected.json"))["values"];
}

TEST(AssessTandem, PrintsTheNamesOfTheContract) {
  SOTTO_NEEDS_SHARED("data/golden/tandem_asv19pkg_demo");
  const json got =
      AssessJson("tandem --bootstrap 0 --asv " + Golden("tandem_asv19pkg_demo/asv.tsv") + " --cm " +
                 Golden("tandem_asv19pkg_demo/cm.tsv"));
  const json values = Expected("tandem_asv19pkg_demo");
  EXPECT_NEAR(got["min_tdcf_2019"], 0.1104983661284351, 1e-9);
  EXPECT_NEAR(got["min_tdcf_2021"], 0.2148537633052445, 1e-9);
  EXPECT_NEAR(got["cm_eer"], values["pooled"]["cm_eer_argmin"]["asvspoof5"].get<double>(), 1e-9);
  EXPECT_NEAR(got["t_eer"].get<double>() * 100.0,
              values["t_eer_concurrent_percent"].begin()->get<double>(), 1e-6);
  EXPECT_TRUE(got["a_dcf"].is_number());
  for (const auto& [attack, expected] : values["per_attack"].items()) {
    EXPECT_NEAR(got["per_attack"][attack]["min_tdcf_2021"],
                expected["min_tdcf_2021"].begin()->get<double>(), 1e-9);
  }
}

TEST(AssessTandem, RatesSpoofingAwareSystemsAndTakesCosts) {
  SOTTO_NEEDS_SHARED("data/golden/tandem_sasv_dev");
  const std::string file = "tandem --bootstrap 0 --sasv " + Golden("tandem_sasv_dev/sasv.tsv");
  EXPECT_NEAR(AssessJson(file)["a_dcf"], 0.02796484258867213, 1e-9);
  EXPECT_NEAR(AssessJson(file + " --same-costs")["a_dcf"], 0.02226881390270149, 1e-9);
  EXPECT_NE(AssessJson(file + " --cfa-spoof 1")["min_tdcf_2021"],
            AssessJson(file)["min_tdcf_2021"]);
}

TEST(AssessFairness, PrintsTheNamesOfTheContract) {
  SOTTO_NEEDS_SHARED("data/golden/fair_mnist_oo_4groups");
  const json got = AssessJson("fairness --bootstrap 0 --group-column group " +
                              Golden("fair_mnist_oo_4groups/trials.tsv"));
  const json values = Expected("fair_mnist_oo_4groups");
  ASSERT_EQ(got["operating_points"].size(), 7U);
  const json& last = got["operating_points"][6];
  EXPECT_EQ(last["pooled_fmr_target"], 0.1);
  EXPECT_EQ(last["threshold"], -3.921904);
  EXPECT_NEAR(last["fmr"]["m_other"], 0.11954545454545455, 1e-12);
  EXPECT_NEAR(last["fdr"]["0.25"], 0.9676136363636364, 1e-12);
  EXPECT_TRUE(last["ir"]["0.5"].is_null());
  EXPECT_NEAR(last["garbe"]["1"], 0.21193454895654465, 1e-12);
  EXPECT_NEAR(got["au_fdr_linear"]["0.5"],
              values["auFDR_linear_fmr_minmax"]["0.5"].begin()->get<double>(), 1e-12);
  EXPECT_NEAR(got["au_fdr_log"]["0.5"], values["auFDR_log10_fmr"]["0.5"].begin()->get<double>(),
              1e-12);
  double computable = 0.0;
  for (const json& point : values["operating_points"]) {
    computable += point["ir"]["0.5"].begin()->is_null() ? 0.0 : 1.0;
  }
  EXPECT_NEAR(got["ffmc"]["ir"]["ffmc3_computable"], computable / 7.0, 1e-12);
}

TEST(AssessFairness, GroupColumnMayNameBothSides) {
  const testing::TemporaryFolder folder;
  WriteFileAtomically(folder / "t.tsv",
                      "label\tscore\tenrol_sex\ttest_sex\n"
                      "target\t3\tf\tf\nnontarget\t1\tf\tm\nnontarget\t0\tf\tf\n"
                      "target\t3\tm\tm\nnontarget\t1\tm\tm\n");
  const std::string file = fmt::format("fairness '{}' --bootstrap 0", (folder / "t.tsv").string());
  const std::string call = file + " --group-column sex";
  EXPECT_EQ(AssessJson(call)["counts"]["f"]["nontarget"], 1);
  EXPECT_EQ(AssessJson(call + " --include-cross-group")["counts"]["f"]["nontarget"], 2);
  EXPECT_EQ(Assess(file + " --group-column age").code, 1);
}

std::string SimilarityCall() {
  return "similarity --oo " + Golden("sim_mnist/osp_osp.tsv") + " --op " +
         Golden("sim_mnist/osp_psp.tsv") + " --pp " + Golden("sim_mnist/psp_psp.tsv");
}

TEST(AssessSimilarity, PrintsTheNamesOfTheContract) {
  SOTTO_NEEDS_SHARED("data/golden/sim_mnist");
  const json got = AssessJson(SimilarityCall() + " --bootstrap 100");
  EXPECT_NEAR(got["deid"], 0.8030736168076656, 1e-6);
  EXPECT_NEAR(got["g_vd_db"], -3.130471577235318, 1e-5);
  EXPECT_NEAR(got["d_diag"]["oo"], 0.8974159798822777, 1e-6);
  EXPECT_NEAR(got["d_diag"]["op"], 0.17672488313722168, 1e-6);
  EXPECT_NEAR(got["d_diag"]["pp"], 0.436462203439366, 1e-6);
  EXPECT_TRUE(got["deid_geo"].is_number());
  EXPECT_TRUE(got["g_vd_geo_db"].is_number());
  const json& interval = got["figures"]["deid"]["interval"];
  EXPECT_LT(interval["low"], got["deid"]);
  EXPECT_GT(interval["high"], got["deid"]);
}

TEST(AssessForms, IntervalsDoNotDependOnTheNumberOfThreads) {
  SOTTO_NEEDS_SHARED("data/golden/sim_mnist");
  const std::string call = SimilarityCall() + " --bootstrap 50 --seed 7";
  EXPECT_EQ(Assess(call + " --jobs 1").out, Assess(call + " --jobs 3").out);
  EXPECT_NE(Assess(call + " --jobs 1").out, Assess(call + " --seed 8").out);
}

TEST(AssessWer, PrintsTheNamesOfTheContract) {
  SOTTO_NEEDS_SHARED("data/golden/wer_nist_lvc");
  const json got =
      AssessJson("wer " + Golden("wer_nist_lvc/ref.txt") + " " + Golden("wer_nist_lvc/hyp.txt"));
  EXPECT_NEAR(got["wer"], 0.5859188544152745, 1e-12);
  EXPECT_NEAR(got["cer"], 0.3965198074787116, 1e-12);
  EXPECT_NEAR(got["cer_no_spaces"], 0.41828553808202285, 1e-12);
  EXPECT_EQ(got["sub"], 534);
  EXPECT_EQ(got["del"], 212);
  EXPECT_EQ(got["ins"], 236);
  EXPECT_EQ(got["n"], 1676);
  EXPECT_EQ(got["normaliser"], "none");
}

TEST(AssessLegal, PrintsTheNamesOfTheContract) {
  SOTTO_NEEDS_SHARED("data/xvectors/b1");
  const std::string b1 = (testing::SharedFolder() / "data/xvectors/b1").string();
  const json got = AssessJson(
      fmt::format("legal --scores {0}/scores/enrolls-trials_f --key {0}/trials_f/trials --utt2spk "
                  "{0}/trials_f/utt2spk -N 2,10 -L 1,3 --bootstrap 20",
                  b1));
  ASSERT_EQ(got["linkability"].size(), 4U);
  ASSERT_EQ(got["singling_out"].size(), 4U);
  EXPECT_EQ(got["linkability"][1]["N"], 10);
  EXPECT_EQ(got["linkability"][1]["L"], 1);
  EXPECT_EQ(got["linkability"][1]["chance"], 0.1);
  EXPECT_GT(got["linkability"][1]["value"], 0.8);  // nothing is protected here
}

TEST(AssessForms, ReportsAreWrittenByEveryForm) {
  SOTTO_NEEDS_SHARED("data/golden");
  const testing::TemporaryFolder folder;
  const std::string b1 = (testing::SharedFolder() / "data/xvectors/b1").string();
  const std::vector<std::pair<std::string, std::vector<std::string>>> forms = {
      {"verify " + Golden("verif_mnist_oo/trials.tsv"),
       {"ece", "scores", "det", "calibration", "linkability", "zoo"}},
      {SimilarityCall(), {"similarity", "zoo"}},
      {"tandem --sasv " + Golden("tandem_sasv_dev/sasv.tsv"), {"cm-scores", "tdcf", "det"}},
      {"fairness " + Golden("fair_asv19eval_xvec_gender/trials.tsv"),
       {"garbe", "fdr", "group-fmr", "group-fnmr"}},
      {fmt::format("legal --scores {0}/scores/enrolls-trials_f --key {0}/trials_f/trials --utt2spk "
                   "{0}/trials_f/utt2spk",
                   b1),
       {"link-n", "link-l", "single-n", "single-l"}},
      {"wer " + Golden("wer_edge/ref.txt") + " " + Golden("wer_edge/hyp.txt"), {"wer"}}};
  for (const auto& [call, plots] : forms) {
    const auto page = folder / "page.html";
    EXPECT_EQ(Assess(fmt::format("{} --bootstrap 0 --report '{}'", call, page.string())).code, 0)
        << call;
    const std::string html = ReadTextFile(page);
    for (const std::string& plot : plots) {
      EXPECT_NE(html.find(fmt::format("<figure id=\"{}\"", plot)), std::string::npos)
          << call << " lacks " << plot;
    }
  }
}

TEST(AssessForms, BadUsageExitsWith2AndBadInputWith1) {
  const testing::TemporaryFolder folder;
  WriteFileAtomically(folder / "bad.tsv", "key\tscore\ntarget\tnan\n");
  const std::string bad = fmt::format("'{}'", (folder / "bad.tsv").string());
  EXPECT_EQ(Assess("tandem --asv " + bad).code, 2);
  EXPECT_EQ(Assess("tandem --asv " + bad + " --cm " + bad).code, 1);
  EXPECT_EQ(Assess("wer " + bad).code, 2);
  EXPECT_EQ(Assess("wer /no/such/file /no/such/file").code, 1);
  EXPECT_EQ(Assess("wer " + bad + " " + bad + " --normalise french").code, 2);
  EXPECT_EQ(Assess("fairness " + bad + " --alpha 2").code, 2);
  EXPECT_EQ(Assess("legal " + bad + " -N 1").code, 2);
  EXPECT_EQ(Assess("tandem --prior-spoof 2 --sasv " + bad).code, 2);
  EXPECT_EQ(Assess("fairness " + bad).code, 1);
  EXPECT_EQ(Assess("legal").code, 2);
  EXPECT_EQ(Assess("similarity --oo " + bad + " --op " + bad + " --pp " + bad).code, 1);
  EXPECT_EQ(Assess("wer " + bad + " " + bad + " --report /no/such/folder/x.html").code, 1);
}

// Draws every page in a browser; skipped where there is none.
TEST(AssessReportSlow, PagesDrawAllPlotsInChromiumWithoutErrors) {
  SOTTO_NEEDS_SHARED("data/golden");
  if (std::system("command -v chromium >/dev/null 2>&1") != 0) GTEST_SKIP() << "no chromium";
  const testing::TemporaryFolder folder;
  const std::vector<std::string> forms = {
      "verify " + Golden("verif_mnist_oo/trials.tsv"),
      "verify " + Golden("edge_inf/trials.tsv"),
      SimilarityCall(),
      "tandem --sasv " + Golden("tandem_sasv_dev/sasv.tsv"),
      "fairness " + Golden("fair_voxsim_9nat/trials.tsv"),
      "wer " + Golden("wer_unicode/ref.txt") + " " + Golden("wer_unicode/hyp.txt")};
  for (const std::string& form : forms) {
    const std::string page = (folder / "page.html").string();
    ASSERT_EQ(Assess(fmt::format("{} --bootstrap 0 --report '{}'", form, page)).code, 0);
    const std::string dom = (folder / "dom.html").string();
    const std::string log = (folder / "log.txt").string();
    ASSERT_EQ(std::system(fmt::format("timeout 120 chromium --headless --no-sandbox --disable-gpu "
                                      "--no-first-run --disable-background-networking "
                                      "--disable-component-update --disable-sync "
                                      "--user-data-dir='{}' --enable-logging=stderr --dump-dom "
                                      "'file://{}' >'{}' 2>'{}'",
                                      (folder / "profile").string(), page, dom, log)
                              .c_str()),
              0)
        << form;
    EXPECT_EQ(ReadTextFile(log).find("CONSOLE"), std::string::npos) << form << ReadTextFile(log);
    const std::string drawn = ReadTextFile(dom);
    std::size_t figures = 0;
    std::size_t svgs = 0;
    for (std::size_t at = 0; (at = drawn.find("<figure id=", at)) != std::string::npos; ++at) {
      ++figures;
    }
    for (std::size_t at = 0; (at = drawn.find("<svg ", at)) != std::string::npos; ++at) ++svgs;
    EXPECT_GE(figures, 1U);
    EXPECT_EQ(figures, svgs) << form;
    EXPECT_EQ(drawn.find("d=\"MNaN"), std::string::npos) << form;
  }
}

}  // namespace
}  // namespace sotto
