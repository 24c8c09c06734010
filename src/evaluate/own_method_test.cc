// Methods and a target rule that the program does not know, defined here: registered in a table of
// one's own they are protected, attacked and evaluated like the others.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "attack/attack.h"
#include "audio/corpus.h"
#include "audio/sound_file.h"
#include "base/error.h"
#include "base/files.h"
#include "base/random.h"
#include "base/testing.h"
#include "evaluate/evaluate.h"
#include "evaluate/testing.h"
#include "onnx/testing.h"
#include "release/anonymise.h"
#include "release/release_record.h"
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

// Works on whole folders, as a command would: everybody gets a gain that is drawn, and as much
// noise as the loudest of all has. May be told to fail.
class ChorusMethod : public FolderMethod {
 public:
  ChorusMethod(std::string fault, TargetDraws draws)
      : fault_(std::move(fault)), draws_(std::move(draws)) {}

  void Protect(const std::filesystem::path& in, const std::filesystem::path& out,
               const std::vector<FolderFile>& files) const override {
    float loudest = 0.0F;
    for (const FolderFile& file : files) {
      const Sound sound = ReadSound(in / file.name);
      for (const float x : sound.channels[0]) loudest = std::max(loudest, std::abs(x));
    }
    for (const FolderFile& file : files) {
      const bool is_last = &file == &files.back();
      if (is_last && fault_ == "forgets") continue;
      Sound sound = ReadSound(in / file.name);
      const auto gain =
          static_cast<float>(draws_.Uniform("gain", 0.2, 0.8, file.speaker, file.utterance));
      SeededRng noise(sound.channels[0].size());
      for (float& x : sound.channels[0]) {
        x = gain * x + 0.1F * loudest * static_cast<float>(noise.Uniform() - 0.5);
      }
      if (is_last && fault_ == "cuts") sound.channels[0].pop_back();
      if (is_last && fault_ == "slows") sound.format.rate_hz /= 2;
      if (is_last && fault_ == "doubles") {
        sound.channels.push_back(sound.channels[0]);
        sound.format.channels = 2;
      }
      std::filesystem::create_directories((out / file.name).parent_path());
      if (is_last && fault_ == "links") {
        std::filesystem::create_symlink(in / file.name, out / file.name);
      } else {
        WriteSound(out / file.name, sound);
      }
    }
    if (fault_ == "breaks") throw Error("the chorus broke");
  }

 private:
  std::string fault_;
  TargetDraws draws_;
};

class ChorusDefinition : public MethodDefinition {
 public:
  ChorusDefinition()
      : MethodDefinition("chorus", "all at once",
                         {{.name = "fault", .help = "What goes wrong", .record = "fault"}}) {}
  std::unique_ptr<VoiceMethod> Make(const VoiceOptions& options, TargetDraws draws) const override {
    return std::make_unique<ChorusMethod>(options.Value("fault"), std::move(draws));
  }
};

// The pool's voice of this place, whoever speaks.
class PlaceRule : public TargetRule {
 public:
  PlaceRule()
      : TargetRule("place", "one of a pool by its place",
                   {TargetPoolParameter(),
                    {.name = "place",
                     .kind = Parameter::Kind::kCount,
                     .preset = "1",
                     .help = "From 1 on",
                     .record = "place"}}) {}
  std::shared_ptr<const TargetChoice> Make(std::shared_ptr<const SpeakerPool> pool,
                                           double /*nearest*/, const ParameterValues& values,
                                           const TargetDraws& /*draws*/) const override {
    class AtPlace : public TargetChoice {
     public:
      explicit AtPlace(SpeakerVoice voice) : voice_(std::move(voice)) {}
      SpeakerVoice Draw(const TargetUnit& /*unit*/, Gender /*gender*/,
                        const SourceVoices* /*sources*/) const override {
        return voice_;
      }

     private:
      SpeakerVoice voice_;
    };
    const auto place = static_cast<std::size_t>(*values.Number("place"));
    return std::make_shared<const AtPlace>(pool->voices.at(place - 1));
  }
};

MethodTable OwnTable() {
  TargetRules rules = ProgramTargetRules();
  rules.Add(std::make_shared<const PlaceRule>());
  MethodTable table = MethodsWith(rules);
  table.Add(std::make_shared<const MirrorDefinition>());
  table.Add(std::make_shared<const ChorusDefinition>());
  return table;
}

bool Ran(const LadderResult& ladder, const std::string& attacker) {
  return std::any_of(ladder.rows.begin(), ladder.rows.end(), [&](const LadderRow& row) {
    return Name(row.attacker) == attacker && row.ran;
  });
}

std::size_t CountSounds(const std::filesystem::path& folder) {
  std::size_t n = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    n += HasSoundExtension(entry.path()) ? 1 : 0;
  }
  return n;
}

class OwnMethod : public ::testing::Test {
 protected:
  AnonymiseOptions Protection(const std::string& method) const {
    AnonymiseOptions protection;
    static_cast<VoiceOptions&>(protection) = ParseMethodText(method, OwnTable());
    protection.in = folder_ / "in";
    protection.out = folder_ / "out";
    protection.experiment_seed = 1;
    return protection;
  }
  AttackOptions Attackers() const {
    AttackOptions attack;
    attack.original = folder_ / "in";
    attack.released = folder_ / "out/manifest.tsv";
    attack.seed = 1;
    attack.ladder.quick = true;
    attack.ladder.verify.resamples = 0;
    attack.method_table = OwnTable();
    return attack;
  }
  void SetUp() override {
    SOTTO_NEEDS_SHARED("data/speech/libri_eval/manifest.tsv");
    testing::LinkSmallCorpus(folder_ / "in", 4);
    quick_.emplace();
  }
  testing::TemporaryFolder folder_;
  std::optional<testing::WithoutModels> quick_;
};

TEST_F(OwnMethod, IsProtectedAndAttackedLikeTheOthers) {
  const AnonymiseReport report = Anonymise(Protection("mirror:share=0.60:0.8"), "test");
  ASSERT_TRUE(report.complete);
  EXPECT_NE(std::find(report.notes.begin(), report.notes.end(), "a mirror hides nobody"),
            report.notes.end());
  const auto record = nlohmann::json::parse(ReadTextFile(folder_ / "out/sotto-run.json"));
  EXPECT_EQ(record["method"], "mirror");
  EXPECT_EQ(record["share"], "0.6:0.8");
  EXPECT_EQ(record["strategy"], "random");

  AttackOptions attack = Attackers();
  attack.method_table = ProgramMethods();
  EXPECT_THROW(Attack(attack), Error);  // the program's own table has no such method
  attack.method_table = OwnTable();
  const LadderResult ladder = Attack(attack);
  for (const char* attacker : {"ignorant", "lazy-informed", "informed", "waveform-inversion"}) {
    EXPECT_TRUE(Ran(ladder, attacker)) << attacker;
  }
}

TEST_F(OwnMethod, ThatWorksOnFoldersIsProtectedAndAttackedLikeTheOthers) {
  AnonymiseOptions protection = Protection("chorus");
  const AnonymiseReport report = Anonymise(protection, "test");
  ASSERT_TRUE(report.complete);
  EXPECT_EQ(report.done, report.recordings);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out/.sotto-work"));
  const CorpusScan in = ScanCorpus(folder_ / "in"), out = ScanCorpus(folder_ / "out");
  ASSERT_EQ(in.corpus.recordings.size(), out.corpus.recordings.size());
  for (std::size_t i = 0; i < in.corpus.recordings.size(); ++i) {
    const Sound a = ReadSound(in.corpus.recordings[i].path),
                b = ReadSound(out.corpus.recordings[i].path);
    EXPECT_EQ(a.format, b.format);
    EXPECT_EQ(a.channels[0].size(), b.channels[0].size());
    EXPECT_NE(a.channels[0], b.channels[0]);
  }
  const auto record = nlohmann::json::parse(ReadTextFile(folder_ / "out/sotto-run.json"));
  EXPECT_EQ(record["method"], "chorus");
  EXPECT_EQ(record["strategy"], "perm");
  const LadderResult ladder = Attack(Attackers());
  for (const char* attacker : {"ignorant", "lazy-informed", "informed"}) {
    EXPECT_TRUE(Ran(ladder, attacker)) << attacker;
  }
  EXPECT_FALSE(Ran(ladder, "waveform-inversion"));

  // A single file is a folder too; a draw for each utterance cannot be made again for one alone.
  protection.out = folder_ / "one.wav";
  protection.in = in.corpus.recordings[0].path;
  EXPECT_TRUE(Anonymise(protection, "test").complete);
  protection = Protection("chorus");
  protection.strategy = Strategy::kRandom;
  std::filesystem::remove_all(folder_ / "out");
  ASSERT_TRUE(Anonymise(protection, "test").complete);
  const LadderResult random = Attack(Attackers());
  EXPECT_TRUE(Ran(random, "lazy-informed"));
  EXPECT_FALSE(Ran(random, "informed"));
}

TEST_F(OwnMethod, ThatWorksOnFoldersFailsAsAWholeWhereAFileIsNotWhatItHasToBe) {
  for (const char* fault : {"forgets", "cuts", "slows", "doubles", "links", "breaks"}) {
    EXPECT_THROW(Anonymise(Protection(std::string("chorus:fault=") + fault), "test"), Error)
        << fault;
    EXPECT_EQ(CountSounds(folder_ / "out"), 0U) << fault;
    std::filesystem::remove_all(folder_ / "out");
  }
  EXPECT_TRUE(Anonymise(Protection("chorus:fault=none"), "test").complete);
}

TEST_F(OwnMethod, TakesATargetRuleThatTheProgramDoesNotKnow) {
  EXPECT_THROW(ParseMethodText("neural:target=place"), Error);
  EXPECT_THROW(ParseMethodText("neural:target=pool,place=3", OwnTable()), Error);
  EXPECT_EQ(ParseMethodText("adain:target=place,place=3", OwnTable()).Number("place"), 3.0);
  ASSERT_TRUE(Anonymise(Protection("neural:target=place,place=3"), "test").complete);
  const std::string text = ReadTextFile(folder_ / "out/sotto-run.json");
  EXPECT_THROW(ParseReleaseRecord(text, "record"), Error);
  const ReleaseRecord record = ParseReleaseRecord(text, "record", OwnTable());
  EXPECT_EQ(record.voice.Value("target"), "place");
  EXPECT_EQ(record.voice.Number("place"), 3.0);
  EXPECT_EQ(record.Rule().rule, PoolRule::kIndependent);
  EXPECT_EQ(record.Rule().text, "target place");
}

TEST_F(OwnMethod, IsEvaluatedWithItsOwnDefaults) {
  EvaluateOptions options;
  options.original = folder_ / "in";
  options.out = folder_ / "work";
  options.methods = {"mirror", "mcadams:alpha=0.8", "chorus"};
  options.seed = 1;
  options.quick = true;
  options.resamples = 0;
  options.utterances = 2;
  options.jobs = 2;
  EXPECT_THROW(Evaluate(options, "test"), Error);
  options.method_table = OwnTable();
  const Evaluation evaluation = Evaluate(options, "test");
  ASSERT_EQ(evaluation.cells.size(), 3U);
  EXPECT_EQ(evaluation.cells[0].strategy, Strategy::kRandom);
  EXPECT_EQ(evaluation.cells[1].strategy, Strategy::kPerm);
  EXPECT_EQ(evaluation.cells[0].record.Describe(), "mirror, share 0.5:0.9, strategy random");
  EXPECT_FALSE(evaluation.cells[0].attack.ladder.rows.empty());
  EXPECT_FALSE(evaluation.cells[0].utility.figures.empty());
  EXPECT_FALSE(evaluation.cells[2].attack.ladder.rows.empty());
  EXPECT_FALSE(evaluation.cells[2].utility.figures.empty());
}

}  // namespace
}  // namespace sotto
