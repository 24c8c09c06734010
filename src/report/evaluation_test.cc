#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <set>

#include "assess/verify.h"
#include "audio/corpus.h"
#include "base/digest.h"
#include "base/error.h"
#include "evaluate/evaluate.h"
#include "evaluate/testing.h"
#include "nn/eigen_backend.h"
#include "nn/safetensors.h"
#include "onnx/testing.h"
#include "report/attack_page.h"
#include "report/evaluation_report.h"
#include "report/evidence.h"
#include "speaker/default_encoder.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using testing::TemporaryFolder;

TEST(EvidenceKey, IsPrivateAndUsedAgain) {
  const TemporaryFolder folder;
  const fs::path file = folder / "key";
  const EvidenceKey key(file);
  struct stat info {};
  ASSERT_EQ(::stat(file.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  EXPECT_EQ(EvidenceKey(file).SpeakerId("ann"), key.SpeakerId("ann"));
  EXPECT_NE(key.SpeakerId("bob"), key.SpeakerId("ann"));
  const EvidenceKey lost({});
  EXPECT_FALSE(lost.IsKept());
  EXPECT_NE(lost.SpeakerId("ann"), EvidenceKey({}).SpeakerId("ann"));
  ::chmod(file.c_str(), 0644);
  EXPECT_THROW(EvidenceKey{file}, Error);
}

// An evaluation whose attacker separates the speakers completely, protected or not.
Evaluation Separated(int targets) {
  Trials trials;
  for (int i = 0; i < 2 * targets; ++i) {
    trials.scores.push_back((i % 2 == 0 ? 3.0 : -3.0) + 0.01 * i);
    trials.is_target.push_back(i % 2 == 0 ? 1 : 0);
  }
  VerifyOptions verify;
  verify.resamples = 0;
  LadderRow row;
  row.attacker = Attacker::kIgnorant;
  row.backend = "cosine";
  row.impostors = "all";
  row.ran = true;
  row.figures = Verify(trials, MakeLevels(trials), verify).figures;
  Evaluation evaluation;
  EvaluatedCell& cell = evaluation.cells.emplace_back();
  cell.method = cell.id = "mcadams";
  cell.record.randomness = "key file";
  cell.attack.ladder.rows = cell.attack.ladder.unprotected = {row};
  cell.attack.ladder.worst = 0;
  cell.protection.rtf = 0.1;
  return evaluation;
}

TEST(EvaluationPage, SeparatedScoresAreFullyLinkableProtectedOrNot) {
  for (const int targets : {5, 10, 19, 20, 100}) {
    const Evaluation evaluation = Separated(targets);
    const SpeakerNaming naming = [](const std::string& s) { return s; };
    const Json json = Json::parse(EvaluationJson(evaluation, naming));
    for (const Json* row : {&json["reference"], &json["cells"][0]["worst"]}) {
      EXPECT_EQ((*row)["d_sys_unbiased"], 1.0) << targets;
      EXPECT_EQ((*row)["d_sys"].is_null(), targets < 20) << targets;  // the published rule says 0
    }
    for (const auto& row : SummaryTable(evaluation).rows) EXPECT_EQ(row[4], "1.000") << targets;
    const AssessPage page = EvaluationPage(evaluation, naming);
    EXPECT_EQ(page.tables.back().header[5], "D_sys");
    EXPECT_EQ(page.tables.back().rows[0][5], "1.000") << targets;
  }
}

// What main() does in the program: without the right kernels embeddings take four times as long.
void PrepareBlasHere() {
  static std::string words = ReadTextFile("/proc/self/cmdline");
  static std::vector<char*> argv;
  for (std::size_t at = 0; at < words.size(); at = words.find('\0', at) + 1) {
    argv.push_back(&words[at]);
  }
  argv.push_back(nullptr);
  PrepareBlas(argv.data());
}

class EvaluateRun : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { PrepareBlasHere(); }
  void SetUp() override {
    SOTTO_NEEDS_SHARED("data/speech/libri_eval/manifest.tsv");
    speakers_ = testing::LinkSmallCorpus(folder_ / "o", 2);
    quick_.emplace();
    options_.original = folder_ / "o";
    options_.methods = {"mcadams", "mcadams:alpha=0.8"};
    options_.out = folder_ / "work";
    options_.seed = 5;
    options_.quick = true;
    options_.recognisers = {RecogniserChoice::Parse("moonshine:4")};
    options_.resamples = 20;
    options_.jobs = 2;
  }
  static Json Shown(const Evaluation& evaluation, const EvidenceKey& key) {
    return Json::parse(EvaluationJson(evaluation, key.Naming(false)));
  }

  const TemporaryFolder folder_;
  std::optional<testing::WithoutModels> quick_;
  std::vector<std::string> speakers_;
  EvaluateOptions options_;
};

constexpr const char* kFixedAlpha =
    R"({"base": "", "run": {"method": "mcadams", "alpha": "0.8", "pitch": "keep"}})";

// The program's own encoder, which says that it was retrained.
void WriteAttacker(const fs::path& path, const std::string& header) {
  TensorFile file = ParseTensorFile(kDefaultEncoderBytes, "default");
  file.metadata["sotto.attacker"] = header;
  WriteTensorFile(path, file, StoredAs::kFloat16);
}

TEST_F(EvaluateRun, AnAttackersEncoderIsUsedWhereItFits) {
  WriteAttacker(folder_ / "a.safetensors", kFixedAlpha);
  options_.attacker_encoders = {folder_ / "a.safetensors"};
  const Json json = Shown(Evaluate(options_, "1", EvaluationSteps()), EvidenceKey({}));
  const auto status = [&](std::size_t cell) {
    for (const Json& one : json["cells"][cell]["attackers"]) {
      if (one["attacker"] == "semi-informed") return one["status"].get<std::string>();
    }
    return std::string("absent");
  };
  EXPECT_EQ(status(0), "not run");
  EXPECT_EQ(status(1), "run");
  EXPECT_TRUE(json["cells"][0]["semi_informed"].get<std::string>().starts_with("quick"));
  EXPECT_TRUE(json["cells"][1]["semi_informed"].get<std::string>().starts_with("full"));
}

TEST_F(EvaluateRun, MeasuresEveryCellAndGivesNothingAway) {
  const Evaluation evaluation = Evaluate(options_, "1", EvaluationSteps());
  EXPECT_EQ(evaluation.steps_made, 6U);
  const EvidenceKey key(folder_ / "key");
  const Json json = Shown(evaluation, key);
  ASSERT_EQ(json["cells"].size(), 2U);
  for (const Json& cell : json["cells"]) {
    EXPECT_TRUE(cell["worst"]["eer"].is_number());
    double lowest = 1.0;
    for (const Json& one : cell["attackers"]) {
      if (one["status"] == "run") {
        lowest = std::min(lowest, one["eer"].get<double>());
        EXPECT_EQ(one["ci"].size(), 2U);
      } else {
        EXPECT_TRUE(one["eer"].is_null());
        EXPECT_NE(one["reason"], "");
      }
    }
    EXPECT_EQ(cell["worst"]["eer"], lowest);
    EXPECT_TRUE(cell["rtf"].is_number());
    for (const char* figure : {"dnsmos_ovr", "pitch_correlation"}) {
      ASSERT_TRUE(cell.contains(figure));
      EXPECT_NE(cell[figure].is_number(), cell.contains(std::string(figure) + "_reason"));
    }
    const Json& wer = cell["wer"][0];
    EXPECT_TRUE(wer["wer"].is_null());  // no model here
    EXPECT_NE(wer["reason"], "");
    EXPECT_TRUE(cell["by_gender"]["F"]["eer"].is_number());
    EXPECT_TRUE(cell["by_gender"]["M"]["eer"].is_number());
    ASSERT_FALSE(cell["legal"].empty());
    EXPECT_EQ(cell["legal"][0]["n"], 2);
    EXPECT_DOUBLE_EQ(cell["legal"][0]["linkability_chance"], 0.5);
    EXPECT_GE(cell["legal"][0]["linkability"], 0.0);
    EXPECT_LE(cell["legal"][0]["linkability"], 1.0);
    EXPECT_TRUE(cell["semi_informed"].get<std::string>().starts_with("quick"));
  }
  EXPECT_TRUE(json["reference"]["eer"].is_number());
  EXPECT_EQ(json["measured"], "measured, not covered by epsilon");
  // A few target trials: 0 by the published rule of D_sys, as if nobody could be linked
  // unprotected.
  EXPECT_TRUE(json["reference"]["d_sys"].is_null());
  EXPECT_NE(json["reference"]["d_sys_reason"], "");
  EXPECT_GT(json["reference"]["d_sys_unbiased"], 0.5);
  const PageTable summary = SummaryTable(evaluation);
  EXPECT_EQ(summary.header[4], "D_sys");
  for (const auto& row : summary.rows) EXPECT_NE(row[4], "0.000") << row[0];

  const std::string page = RenderAssessPage(EvaluationPage(evaluation, key.Naming(false)));
  EXPECT_EQ(page.find("anonymous"), std::string::npos);
  EXPECT_NE(page.find("was not run"), std::string::npos);
  EXPECT_NE(page.find("Measured, not covered by ε"), std::string::npos);
  const std::string text = EvidenceJson(evaluation, key, options_.original, false);
  const Json evidence = Json::parse(text);
  EXPECT_EQ(evidence["measured"], "measured, not covered by epsilon");
  const Corpus corpus = ScanCorpus(options_.original).corpus;
  for (const std::string* told : {&page, &text}) {
    for (const Recording& recording : corpus.recordings) {
      const std::string bytes = ReadTextFile(recording.path);
      for (const std::string& secret : {recording.id, Sha256(bytes), ContentDigest(bytes)}) {
        EXPECT_EQ(told->find(secret), std::string::npos) << secret;
      }
    }
    for (const std::string& speaker : speakers_) {
      for (const char* place : {"\"{}\"", ">{}<"}) {
        EXPECT_EQ(told->find(fmt::format(fmt::runtime(place), speaker)), std::string::npos);
      }
    }
    EXPECT_EQ(told->find(folder_.Path().string()), std::string::npos);
  }
  EXPECT_EQ(evidence["originals"]["files"].size(), 8U);
  std::set<std::string> sums;
  for (const Recording& recording :
       ScanCorpus(evaluation.cells[0].folder / "protected").corpus.recordings) {
    sums.insert(Sha256(ReadTextFile(recording.path)));
  }
  for (const Json& file : evidence["protections"][0]["protected"]["files"]) {
    EXPECT_EQ(sums.erase(file["sha256"]), 1U);
  }
  EXPECT_TRUE(sums.empty());
  EXPECT_NE(EvidenceJson(evaluation, EvidenceKey({}), options_.original, false).find("thrown away"),
            std::string::npos);

  // Again: nothing is done twice, and the same comes out.
  const Evaluation again = Evaluate(options_, "1", EvaluationSteps());
  EXPECT_EQ(again.steps_made, 0U);
  EXPECT_EQ(again.steps_found, 6U);
  EXPECT_EQ(Shown(again, key)["cells"], json["cells"]);
  EXPECT_EQ(RenderAssessPage(EvaluationPage(again, key.Naming(false))), page);
  // Another option redoes what depends on it.
  options_.resamples = 10;
  EXPECT_EQ(Evaluate(options_, "1", EvaluationSteps()).steps_found, 2U);
  // A copy that somebody changed is made again, and with it what was measured on it.
  options_.methods = {"mcadams"};
  EXPECT_EQ(Evaluate(options_, "1", EvaluationSteps()).steps_made, 0U);
  fs::remove_all(evaluation.cells[0].folder / "protected");
  EXPECT_EQ(Evaluate(options_, "1", EvaluationSteps()).steps_made, 3U);
}

TEST_F(EvaluateRun, AnAttackersEncoderThatFitsNothingIsRefused) {
  options_.attacker_encoders = {folder_ / "absent.safetensors"};
  EXPECT_THROW(Evaluate(options_, "1", EvaluationSteps()), Error);
  WriteAttacker(folder_ / "vtln.safetensors",
                R"({"base": "", "run": {"method": "vtln", "pitch": "target"}})");
  options_.attacker_encoders = {folder_ / "vtln.safetensors"};
  try {
    Evaluate(options_, "1", EvaluationSteps());
    FAIL() << "taken";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("fits none of 2 protections"), std::string::npos);
  }
  WriteAttacker(folder_ / "b.safetensors", kFixedAlpha);
  WriteAttacker(folder_ / "c.safetensors", kFixedAlpha);
  options_.attacker_encoders = {folder_ / "b.safetensors", folder_ / "c.safetensors"};
  EXPECT_THROW(Evaluate(options_, "1", EvaluationSteps()), Error);  // both fit the same
  options_.attacker_encoders.clear();
  options_.methods = {"mcadams", "mcadams:alpha=0.5:0.9"};  // one and the same
  EXPECT_THROW(Evaluate(options_, "1", EvaluationSteps()), Error);
  options_.methods = {"mcadams:beta=1"};
  EXPECT_THROW(Evaluate(options_, "1", EvaluationSteps()), Error);
  EXPECT_FALSE(fs::exists(folder_ / "work/mcadams-perm"));
}

}  // namespace
}  // namespace sotto
