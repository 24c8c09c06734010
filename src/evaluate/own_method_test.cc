// A method that the program does not know, defined here: registered in a table of one's own it is
// protected, attacked and evaluated like the others.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "attack/attack.h"
#include "base/error.h"
#include "base/files.h"
#include "base/testing.h"
#include "evaluate/evaluate.h"
#include "evaluate/testing.h"
#include "onnx/testing.h"
#include "release/anonymise.h"
#include "voice/method_table.h"

namespace sotto {
namespace {

// Every second sample is turned over, by a share of its size that is drawn: a mirror of the
// spectrum. Undone by the same with the inverse share.
class Mirror : public StreamTransformer {
 public:
  explicit Mirror(double share) : share_(static_cast<float>(share)) {}
  void Push(std::span<const float> in, std::vector<float>& out) override {
    for (const float x : in) {
      out.push_back(odd_ ? -share_ * x : x);
      odd_ = !odd_;
    }
  }
  void Finish(std::vector<float>& /*out*/) override {}
  std::size_t LatencySamples() const override { return 0; }

 private:
  const float share_;
  bool odd_ = false;
};

class MirrorMethod : public VoiceMethod {
 public:
  MirrorMethod(Range share, TargetDraws draws) : share_(share), draws_(std::move(draws)) {}

 private:
  std::unique_ptr<StreamTransformer> MakeChannel(int /*rate_hz*/, double /*peak_limit*/,
                                                 const std::string& speaker,
                                                 const std::string& utterance,
                                                 std::size_t /*channel*/) const override {
    return std::make_unique<Mirror>(
        draws_.Uniform("share", share_.lo, share_.hi, speaker, utterance));
  }

  Range share_;
  TargetDraws draws_;
};

class MirrorDefinition : public MethodDefinition {
 public:
  MirrorDefinition()
      : MethodDefinition("mirror", "a mirrored spectrum",
                         {{.name = "share",
                           .unit = "LO:HI",
                           .preset = "0.5:0.9",
                           .help = "Of every second sample",
                           .record = "share",
                           .must_be_recorded = true,
                           .normalise = [](const std::string& text) {
                             return Range::Parse(text, "share").Text();
                           }}}) {}

  Strategy DefaultStrategy() const override { return Strategy::kRandom; }
  std::unique_ptr<VoiceMethod> Make(const VoiceOptions& options, TargetDraws draws) const override {
    return std::make_unique<MirrorMethod>(Range::Parse(options.Value("share"), "share"),
                                          std::move(draws));
  }
  std::vector<std::string> PrivacyNotes(const VoiceOptions& /*options*/) const override {
    return {"a mirror hides nobody"};
  }
  std::vector<Inverse> Inverses(const VoiceOptions& /*options*/, bool /*quick*/) const override {
    return {{"share 0.7", [](int /*rate_hz*/, double /*peak_limit*/) {
               return std::make_unique<Mirror>(1.0 / 0.7);
             }}};
  }
};

MethodTable OwnTable() {
  MethodTable table = ProgramMethods();
  table.Add(std::make_shared<const MirrorDefinition>());
  return table;
}

class OwnMethod : public ::testing::Test {
 protected:
  void SetUp() override {
    SOTTO_NEEDS_SHARED("data/speech/libri_eval/manifest.tsv");
    testing::LinkSmallCorpus(folder_ / "in", 4);
    quick_.emplace();
  }
  testing::TemporaryFolder folder_;
  std::optional<testing::WithoutModels> quick_;
};

TEST_F(OwnMethod, IsProtectedAndAttackedLikeTheOthers) {
  AnonymiseOptions protection;
  static_cast<VoiceOptions&>(protection) = ParseMethodText("mirror:share=0.60:0.8", OwnTable());
  protection.in = folder_ / "in";
  protection.out = folder_ / "out";
  protection.experiment_seed = 1;
  const AnonymiseReport report = Anonymise(protection, "test");
  ASSERT_TRUE(report.complete);
  EXPECT_NE(std::find(report.notes.begin(), report.notes.end(), "a mirror hides nobody"),
            report.notes.end());
  const auto record = nlohmann::json::parse(ReadTextFile(folder_ / "out/sotto-run.json"));
  EXPECT_EQ(record["method"], "mirror");
  EXPECT_EQ(record["share"], "0.6:0.8");
  EXPECT_EQ(record["strategy"], "random");

  AttackOptions attack;
  attack.original = folder_ / "in";
  attack.released = folder_ / "out/manifest.tsv";
  attack.seed = 1;
  attack.ladder.quick = true;
  attack.ladder.verify.resamples = 0;
  EXPECT_THROW(Attack(attack), Error);  // the program's own table has no such method
  attack.method_table = OwnTable();
  const LadderResult ladder = Attack(attack);
  const auto ran = [&](const std::string& attacker) {
    return std::any_of(ladder.rows.begin(), ladder.rows.end(),
                       [&](const LadderRow& row) { return row.attacker == attacker && row.ran; });
  };
  for (const char* attacker : {"ignorant", "lazy-informed", "informed", "waveform-inversion"}) {
    EXPECT_TRUE(ran(attacker)) << attacker;
  }
}

TEST_F(OwnMethod, IsEvaluatedWithItsOwnDefaults) {
  EvaluateOptions options;
  options.original = folder_ / "in";
  options.out = folder_ / "work";
  options.methods = {"mirror", "mcadams:alpha=0.8"};
  options.seed = 1;
  options.quick = true;
  options.resamples = 0;
  EXPECT_THROW(Evaluate(options, "test"), Error);
  options.method_table = OwnTable();
  const Evaluation evaluation = Evaluate(options, "test");
  ASSERT_EQ(evaluation.cells.size(), 2U);
  EXPECT_EQ(evaluation.cells[0].strategy, Strategy::kRandom);
  EXPECT_EQ(evaluation.cells[1].strategy, Strategy::kPerm);
  EXPECT_EQ(evaluation.cells[0].record.Describe(), "mirror, share 0.5:0.9, strategy random");
  EXPECT_FALSE(evaluation.cells[0].attack.empty());
  EXPECT_FALSE(evaluation.cells[0].utility.empty());
}

}  // namespace
}  // namespace sotto
