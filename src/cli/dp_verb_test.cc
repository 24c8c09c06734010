// `sotto dp` and `sotto protect-embedding` from end to end.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "base/files.h"
#include "base/testing.h"
#include "cli/testing.h"

namespace sotto {
namespace {

using nlohmann::json;

using testing::Outcome;
using testing::Sotto;

class Dp : public ::testing::Test {
 protected:
  std::string File(const std::string& name, const std::string& content) {
    WriteFileAtomically(folder_ / name, content);
    return folder_ / name;
  }
  std::string Speakers() {
    std::string text = "speaker,age,gender\n";
    for (int i = 0; i < 400; ++i) {
      text += fmt::format("s{},{},{}\n", i, 20 + i % 50, i % 2 == 0 ? "F" : "M");
    }
    return File("speakers.csv", text);
  }
  testing::TemporaryFolder folder_;
};

TEST_F(Dp, AccountPrintsBothAccountantsAndWhatTheyAllow) {
  const std::string command = "dp account --q 0.02 --noise 1 --steps 100 --delta 1e-5";
  const Outcome text = Sotto(command);
  EXPECT_EQ(text.code, 0) << text.err;
  for (const char* part : {"PLD", "RDP", "EER at least", "AUC at most", "mu-GDP"}) {
    EXPECT_NE(text.out.find(part), std::string::npos) << part << "\n" << text.out;
  }
  EXPECT_TRUE(text.err.empty()) << text.err;
  const json result = json::parse(Sotto(command + " --json").out);
  const double eps = result["pld"]["epsilon"];
  EXPECT_LE(result["pld"]["epsilon_lower"].get<double>(), eps);
  EXPECT_LE(eps, result["rdp"]["epsilon"].get<double>());
  EXPECT_GT(result["rdp"]["order"].get<double>(), 1.0);
  EXPECT_NEAR(result["allows"]["eer_floor"].get<double>(), (1.0 - 1e-5) / (1.0 + std::exp(eps)),
              1e-12);
  EXPECT_LT(result["allows"]["auc_ceiling"].get<double>(), 1.0);
  EXPECT_FALSE(result.contains("warning"));
}

TEST_F(Dp, ALargeEpsilonIsCalledWhatItIs) {
  const Outcome run = Sotto("dp account --mechanism laplace --epsilon 30 --steps 10 --delta 1e-6");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.err.find("promises next to nothing"), std::string::npos) << run.err;
}

TEST_F(Dp, UsageIsCheckedAndNothingHasADefaultEpsilon) {
  const std::string table = Speakers();
  const std::string whole = "dp laplace " + table +
                            " --column age --lower 18 --upper 90 --id-column speaker "
                            "--max-contributions 1 --epsilon 1";
  EXPECT_EQ(Sotto(whole).code, 0);
  for (const char* flag : {"--lower 18", "--upper 90", "--id-column speaker",
                           "--max-contributions 1", "--epsilon 1"}) {
    std::string broken = whole;
    broken.erase(broken.find(flag), std::string(flag).size());
    EXPECT_EQ(Sotto(broken).code, 2) << flag;
  }
  EXPECT_EQ(Sotto("dp account --steps 3 --delta 1e-5").code, 2);
  EXPECT_EQ(Sotto("dp account --noise -1 --delta 1e-5").code, 2);
  EXPECT_EQ(Sotto("dp calibrate --delta 1e-5").code, 2);
  EXPECT_EQ(Sotto("dp audit --examples 10").code, 2);
  EXPECT_EQ(Sotto(whole + " --column nothing").code, 1);
}

TEST_F(Dp, ReleasesAreNoisyAndSayTheirUnit) {
  const std::string unit = Speakers() + " --id-column speaker --max-contributions 1 --epsilon 1";
  const Outcome mean =
      Sotto("dp laplace " + unit + " --column age --lower 18 --upper 90 --release mean --json");
  EXPECT_EQ(mean.code, 0) << mean.err;
  const json result = json::parse(mean.out);
  EXPECT_NEAR(result["columns"][0]["value"].get<double>(), 44.5, 8.0);
  EXPECT_EQ(result["unit"]["person"], "speaker");
  const std::string out = folder_ / "noisy.csv";
  EXPECT_EQ(Sotto("dp rr " + unit + " --column gender --categories F,M -o " + out).code, 0);
  EXPECT_EQ(ReadTextFile(out).substr(0, 7), "gender\n");
  const Outcome median =
      Sotto("dp exponential " + unit + " --column age --lower 18 --upper 90 --json");
  EXPECT_NEAR(json::parse(median.out)["columns"][0]["value"].get<double>(), 44.5, 8.0);
  EXPECT_EQ(Sotto("dp gaussian " + unit + " --column age --lower 18 --upper 90").code, 2);
  EXPECT_EQ(Sotto("dp gaussian " + unit + " --column age --lower 18 --upper 90 --delta 1e-6").code,
            0);
}

TEST_F(Dp, CalibrateAndAudit) {
  const json noise =
      json::parse(Sotto("dp calibrate --epsilon 1 --delta 1e-5 --sensitivity 2 --json").out);
  EXPECT_NEAR(noise["gaussian"]["sigma"].get<double>(), 2.0 * 3.730631634815942, 1e-8);
  EXPECT_NEAR(noise["laplace"]["scale"].get<double>(), 2.0, 1e-12);
  const Outcome audit =
      Sotto("dp audit --examples 1000 --guesses 100 --correct 95 --delta 1e-5 --claimed 2 --json");
  EXPECT_EQ(audit.code, 1);  // the claim is refuted
  EXPECT_NEAR(json::parse(audit.out)["epsilon_lower"].get<double>(), 2.165176, 1e-5);
  EXPECT_EQ(Sotto("dp audit --runs-in 100 --hits 60 --runs-out 100 --false-alarms 50").code, 0);
}

TEST_F(Dp, KanonNamesTheRowsThatBreakIt) {
  const std::string table = File("t.csv", "city,illness\nX,flu\nX,cold\nY,flu\n");
  const Outcome run = Sotto("dp kanon " + table + " --quasi city --k 2 --json");
  EXPECT_EQ(run.code, 1);
  EXPECT_EQ(json::parse(run.out)["breaking_lines"], json::array({4}));
  EXPECT_EQ(Sotto("dp kanon " + table + " --quasi city --sensitive illness --k 1 --l 1").code, 0);
}

TEST_F(Dp, HelpOfEveryFormEndsWithTwoCommands) {
  for (const char* form : {"dp", "dp account", "dp calibrate", "dp laplace", "dp gaussian", "dp rr",
                           "dp exponential", "dp audit", "dp kanon", "protect-embedding"}) {
    const Outcome help = Sotto(std::string(form) + " --help");
    EXPECT_EQ(help.code, 0) << form;
    const std::size_t examples = help.out.find("e.g.:");
    ASSERT_NE(examples, std::string::npos) << form;
    const std::string tail = help.out.substr(examples);
    const std::size_t first = tail.find("  sotto ");
    EXPECT_NE(tail.find("  sotto ", first + 1), std::string::npos) << form;
  }
}

// n speakers with two utterances each, as Kaldi text.
std::string MakeEmbeddings(const testing::TemporaryFolder& folder, const std::string& name, int n,
                           int seed) {
  const std::filesystem::path out = folder / name;
  std::filesystem::create_directories(out);
  std::string ark;
  std::string utt2spk;
  std::string spk2gender;
  for (int s = 0; s < n; ++s) {
    spk2gender += fmt::format("{}{} {}\n", name, s, s % 2 == 0 ? "f" : "m");
    for (int u = 0; u < 2; ++u) {
      ark += fmt::format("{}{}-{} [", name, s, u);
      for (int k = 0; k < 8; ++k) {
        ark += fmt::format(" {:.4f}", std::sin(seed + 7.3 * (s + 1) * (k + 1) + 0.05 * u));
      }
      ark += " ]\n";
      utt2spk += fmt::format("{0}{1}-{2} {0}{1}\n", name, s, u);
    }
  }
  WriteFileAtomically(out / "xvector.ark", ark);
  WriteFileAtomically(out / "utt2spk", utt2spk);
  WriteFileAtomically(out / "spk2gender", spk2gender);
  return out;
}

TEST_F(Dp, ProtectEmbeddingWritesARecordAndCurves) {
  const std::string in = MakeEmbeddings(folder_, "in", 6, 1);
  const std::string pool = MakeEmbeddings(folder_, "pool", 40, 2);
  const std::string base = fmt::format("protect-embedding {} --pool {} ", in, pool);
  const std::string out = folder_ / "out";
  EXPECT_EQ(Sotto(base + out + " --method voice-ind").code, 2);  // no epsilon
  const Outcome run = Sotto(base + out + " --method voice-ind --eps 3 --json");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(ReadTextFile(out + "/sotto-run.json"), run.out);
  const Outcome again = Sotto(base + out + " --method voice-ind --eps 3");
  EXPECT_EQ(again.code, 1);
  const Outcome warned =
      Sotto(base + (folder_ / "b").string() + " --method pool --region farthest");
  EXPECT_EQ(warned.code, 0) << warned.err;
  EXPECT_NE(warned.err.find("gives it away"), std::string::npos);
  EXPECT_EQ(Sotto(base + (folder_ / "c").string() + " --method pool --N 500").code, 1);
  const std::string overlap =
      fmt::format("protect-embedding {0} {1} --pool {0} ", in, (folder_ / "d").string());
  EXPECT_EQ(Sotto(overlap + "--method voice-ind --eps 3").code, 1);
  EXPECT_EQ(Sotto(overlap + "--method voice-ind --eps 3 --assignment-only").code, 0);
  const std::string curves = folder_ / "curves";
  const Outcome curve = Sotto(base + "--method voice-ind --seed 1 --curve " + curves +
                              " --curve-eps 1,10,100 --curve-repeats 3 --json");
  ASSERT_EQ(curve.code, 0) << curve.err;
  const json points = json::parse(curve.out)["points"];
  EXPECT_EQ(points.size(), 9U);
  EXPECT_GT(points[0]["expected_distance"], points[2]["expected_distance"]);
  EXPECT_NE(ReadTextFile(curves + "/curve.html").find("eer-eps"), std::string::npos);
  EXPECT_EQ(ReadTextFile(curves + "/curve.csv").substr(0, 10), "n,epsilon,");
  const std::string label = "measured, not covered by epsilon";
  EXPECT_EQ(json::parse(curve.out)["measured"], label);
  EXPECT_NE(ReadTextFile(curves + "/curve.csv").find(label), std::string::npos);
  EXPECT_NE(ReadTextFile(curves + "/curve.html").find("not covered by ε"), std::string::npos);
}

TEST_F(Dp, ProtectEmbeddingRefusesTheFlagsOfAnotherMethodAndNamesIt) {
  const std::string base = "protect-embedding in out --pool pool --method ";
  for (const char* flag : {"--region nearest", "--gender same", "--N 5", "--N-star 2"}) {
    const Outcome run = Sotto(base + "voice-ind --eps 1 " + flag);
    EXPECT_EQ(run.code, 2) << flag;
    EXPECT_NE(run.err.find(" belongs to --method pool; the method here is voice-ind"),
              std::string::npos)
        << run.err;
  }
  for (const char* flag : {"--eps 5", "--assignment-only", "--model m"}) {
    const Outcome run = Sotto(base + "pool " + flag);
    EXPECT_EQ(run.code, 2) << flag;
    EXPECT_TRUE(Has(run, " belongs to --method ") && Has(run, "; the method here is pool"))
        << run.err;
  }
  EXPECT_TRUE(Has(Sotto(base + "pool --assignment-only"),
                  "--assignment-only belongs to --method voice-ind; the method here is pool"));
  for (const char* flags :
       {"--curve-eps 1", "--distance plda", "--plda b", "--distance plda --plda b"}) {
    EXPECT_EQ(Sotto(base + "voice-ind --eps 1 " + flags).code, 2) << flags;
  }
  const std::string curve = "protect-embedding in --pool pool --method voice-ind --curve c ";
  for (const char* flags :
       {"--eps 5", "--assignment-only", "--private-report p", "--region dense"}) {
    EXPECT_EQ(Sotto(curve + flags).code, 2) << flags;
  }
}

TEST_F(Dp, ProtectEmbeddingKeepsWhatItMeasuredOutOfTheRelease) {
  const std::string in = MakeEmbeddings(folder_, "in", 6, 1);
  const std::string pool = MakeEmbeddings(folder_, "pool", 40, 2);
  const std::string base =
      fmt::format("protect-embedding {} --pool {} --method voice-ind --eps 0.1 ", in, pool);
  const std::string out = folder_ / "out", report = folder_ / "private.json";
  const Outcome run = Sotto(base + out + " --json --private-report " + report);
  ASSERT_EQ(run.code, 0) << run.err;
  for (const char* figure : {"expected_distance", "largest_ratio_to_bound", "largest_excess",
                             "holds", "candidates_among_protected"}) {
    EXPECT_EQ(run.out.find(figure), std::string::npos) << figure;
    EXPECT_NE(ReadTextFile(report).find(figure), std::string::npos) << figure;
    for (const auto& file : std::filesystem::directory_iterator(out)) {
      EXPECT_EQ(ReadTextFile(file.path()).find(figure), std::string::npos) << file.path();
    }
  }
  EXPECT_EQ(std::filesystem::status(report).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  // The one who ran it is told, apart from what may be released.
  EXPECT_NE(run.err.find("private, measured, not covered by epsilon: the bound holds on 46 inputs"),
            std::string::npos)
      << run.err;
  const std::string second = folder_ / "second";
  EXPECT_EQ(Sotto(base + second + " --private-report " + report).code, 1);
  EXPECT_EQ(Sotto(base + second + " --private-report " + second + "/p.json").code, 1);
  EXPECT_FALSE(std::filesystem::exists(second));
}

}  // namespace
}  // namespace sotto
