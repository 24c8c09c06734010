// `sotto assess verify` from end to end.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "base/files.h"
#include "base/testing.h"
#include "cli/testing.h"

namespace sotto {
namespace {

using nlohmann::json;

using testing::Outcome;
using testing::Sotto;

constexpr const char* kTrials =
    "enrol\ttest\tlabel\tscore\tenrol_spk\ttest_spk\n"
    "a\ta1\ttarget\t3\ta\ta\na\ta2\ttarget\t-1\ta\ta\na\tb1\tnontarget\t-2\ta\tb\n"
    "b\tb1\ttarget\t2\tb\tb\nb\ta1\tnontarget\t0\tb\ta\nb\ta2\tnontarget\t-3\tb\ta\n";

class AssessVerify : public ::testing::Test {
 protected:
  std::string File(const std::string& name, const std::string& content) {
    WriteFileAtomically(folder_ / name, content);
    return folder_ / name;
  }
  testing::TemporaryFolder folder_;
};

TEST_F(AssessVerify, PrintsATableWithUnitDirectionAndCounts) {
  const Outcome run = Sotto("assess verify " + File("t.tsv", kTrials));
  EXPECT_EQ(run.code, 0) << run.err;
  for (const char* part : {"cllr_min", "bit", "higher is more private", "lower is more private",
                           "n_tar 3 n_non 3", "zebra.tag", "speaker-level (2 speakers)"}) {
    EXPECT_NE(run.out.find(part), std::string::npos) << part << "\n" << run.out;
  }
}

TEST_F(AssessVerify, JsonHasTheAgreedNames) {
  const Outcome run = Sotto("assess verify --json --prior 0.1 " + File("t.tsv", kTrials));
  ASSERT_EQ(run.code, 0) << run.err;
  const json out = json::parse(run.out);
  for (const char* name : {"eer", "eer_kaldi", "eer_rocch", "auc", "cllr", "cllr_min", "cllr_cal",
                           "d_sys", "d_sys_unbiased"}) {
    EXPECT_TRUE(out.at(name).is_number()) << name;
  }
  for (const char* prior : {"0.5", "0.05", "0.01", "0.001", "0.1"}) {
    EXPECT_TRUE(out.at("min_dcf").at(prior).is_number());
    EXPECT_TRUE(out.at("act_dcf").at(prior).is_number());
  }
  EXPECT_TRUE(out.at("zebra").at("d_ece_bits").is_number());
  EXPECT_TRUE(out.at("zebra").at("worst_case_log10").is_number());
  EXPECT_EQ(out.at("zebra").at("tag"), "A");
  EXPECT_EQ(out.at("n_tar"), 3);
  EXPECT_EQ(out.at("n_non"), 3);
  EXPECT_TRUE(out.at("c_ece").is_null());
  EXPECT_TRUE(out.at("top_k").at("1").is_number());
  EXPECT_TRUE(out.at("rank").at("mean").is_number());
  EXPECT_NEAR(out.at("auc").get<double>(), 8.0 / 9.0, 1e-12);
}

// "0: perfectly private" is what the published rule says of them where targets are few.
TEST_F(AssessVerify, ShowsSeparatedScoresAsFullyLinkable) {
  for (const int n : {5, 10, 19, 20, 100}) {
    std::string trials = "label\tscore\n";
    for (int i = 0; i < n; ++i) {
      trials += fmt::format("target\t{}\nnontarget\t{}\n", 5.0 + 0.01 * i, -5.0 - 0.02 * i);
    }
    const std::string file = File(fmt::format("s{}.tsv", n), trials);
    const std::string page = folder_ / fmt::format("s{}.html", n);
    const auto run = [&](const std::string& flag) {
      return Sotto(fmt::format("assess verify {} --bootstrap 20 {}", file, flag));
    };
    const Outcome table = run(fmt::format("--report {}", page));
    ASSERT_EQ(table.code, 0) << table.err;
    EXPECT_TRUE(std::regex_search(table.out, std::regex("\nd_sys_unbiased +1 +\\[1, 1\\] ")))
        << table.out;
    EXPECT_FALSE(std::regex_search(table.out, std::regex("\nd_sys "))) << table.out;
    const std::string html = ReadTextFile(page);
    EXPECT_TRUE(std::regex_search(
        html, std::regex("\"name\">d_sys_unbiased[^\n]*data-label=\"value\">1</td>")));
    EXPECT_FALSE(std::regex_search(html, std::regex("\"name\">d_sys[ <]")));
    // The figure of papers stays in the JSON under its name.
    const json out = json::parse(run("--json").out);
    EXPECT_EQ(out["d_sys_unbiased"], 1.0);
    EXPECT_LT(out["d_sys"], n < 20 ? 1e-9 : 0.99);
    EXPECT_EQ(out["figures"]["d_sys"].contains("remark"), n < 20);
  }
}

TEST_F(AssessVerify, IsTheSameForAnyNumberOfThreads) {
  const std::string file = File("t.tsv", kTrials);
  EXPECT_EQ(Sotto("assess verify --json --jobs 1 " + file).out,
            Sotto("assess verify --json --jobs 7 " + file).out);
}

TEST_F(AssessVerify, KaldiPairAndArraysGiveTheFiguresOfTheTable) {
  const std::string tsv = File("t.tsv", kTrials);
  const std::string scores = File("s", "a a1 3\na a2 -1\na b1 -2\nb b1 2\nb a1 0\nb a2 -3\n");
  const std::string key = File("k",
                               "a a1 target\na a2 target\na b1 nontarget\nb b1 target\n"
                               "b a1 nontarget\nb a2 nontarget\n");
  const std::string utt2spk = File("u", "a1 a\na2 a\nb1 b\n");
  const auto raw = [this](const char* name, std::vector<double> values) {
    return File(name, std::string(reinterpret_cast<const char*>(values.data()),
                                  values.size() * sizeof(double)));
  };
  const json table = json::parse(Sotto("assess verify --json " + tsv).out);
  const json pair =
      json::parse(Sotto(fmt::format("assess verify --json --scores {} --key {} --utt2spk {}",
                                    scores, key, utt2spk))
                      .out);
  EXPECT_EQ(table, pair);
  const json arrays =
      json::parse(Sotto(fmt::format("assess verify --json {} {}", raw("tar.f64", {3.0, -1.0, 2.0}),
                                    raw("non.f64", {-2.0, 0.0, -3.0})))
                      .out);
  EXPECT_EQ(arrays.at("cllr_min"), table.at("cllr_min"));
  EXPECT_TRUE(arrays.at("top_k").is_null());
}

TEST_F(AssessVerify, MissingScoresStopItUnlessAllowedAndAreThenSaid) {
  const std::string scores = File("s", "a t1 3\na t2 0\na t9 1\n");
  const std::string key = File("k", "a t1 target\na t2 nontarget\na t3 nontarget\n");
  const std::string arguments = fmt::format("assess verify --scores {} --key {}", scores, key);
  const Outcome refused = Sotto(arguments);
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.err.find("1 of 3 trials"), std::string::npos) << refused.err;
  const Outcome allowed = Sotto(arguments + " --allow-missing");
  EXPECT_EQ(allowed.code, 0);
  EXPECT_NE(allowed.out.find("1 trials without a score, 1 scores without a trial"),
            std::string::npos);
}

TEST_F(AssessVerify, CalibrationFromAnotherRunGivesCEce) {
  const std::string tsv = File("t.tsv", kTrials);
  const Outcome run = Sotto(fmt::format("assess verify --json {0} --calibrate-on {0}", tsv));
  ASSERT_EQ(run.code, 0) << run.err;
  const json c_ece = json::parse(run.out).at("c_ece");
  EXPECT_TRUE(c_ece.at("linear").is_number());
  EXPECT_TRUE(c_ece.at("isotonic").is_number());
}

TEST_F(AssessVerify, EdgeCasesAreFiguresOrOneLineErrors) {
  const auto run = [this](const std::string& rows) {
    return Sotto("assess verify --json " + File("t.tsv", "label\tscore\n" + rows));
  };
  const Outcome infinite = run("target\tinf\ntarget\t-inf\nnontarget\t0\n");
  EXPECT_EQ(infinite.code, 0) << infinite.err;
  EXPECT_EQ(json::parse(infinite.out).at("cllr"), "inf");
  const Outcome equal = run("target\t1\nnontarget\t1\n");
  EXPECT_EQ(json::parse(equal.out).at("eer"), 0.5);
  EXPECT_EQ(json::parse(equal.out).at("cllr_min"), 1.0);
  EXPECT_EQ(json::parse(equal.out).at("zebra").at("tag"), "0");
  const Outcome nan = run("target\t1\nnontarget\tnan\n");
  EXPECT_EQ(nan.code, 1);
  EXPECT_NE(nan.err.find("line 3"), std::string::npos) << nan.err;
  const Outcome empty = run("nontarget\t1\n");
  EXPECT_EQ(empty.code, 1);
  EXPECT_NE(empty.err.find("0 target and 1 non-target"), std::string::npos) << empty.err;
}

TEST_F(AssessVerify, BadUsageExitsWith2AndBadInputWith1) {
  const std::string tsv = File("t.tsv", kTrials);
  EXPECT_EQ(Sotto("assess").code, 2);
  EXPECT_EQ(Sotto("assess verify").code, 2);
  EXPECT_EQ(Sotto("assess verify --scores " + tsv).code, 2);
  EXPECT_EQ(Sotto("assess verify --prior x " + tsv).code, 2);
  EXPECT_EQ(Sotto("assess verify --prior 2 " + tsv).code, 2);
  EXPECT_EQ(Sotto("assess verify no_such_file.tsv").code, 1);
  const Outcome help = Sotto("assess verify --help");
  EXPECT_EQ(help.code, 0);
  EXPECT_NE(help.out.find("e.g.:"), std::string::npos);
}

}  // namespace
}  // namespace sotto
