// `sotto protect-embedding` by defences that hide attributes, from end to end.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/testing.h"
#include "cli/testing.h"
#include "speaker/hider.h"
#include "speaker/hider_testing.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::Has;
using testing::Outcome;
using testing::Sotto;

class ProtectByDefence : public ::testing::Test {
 protected:
  void SetUp() override { WriteSet("in", 3, "s"); }
  void WriteSet(const std::string& name, std::uint64_t seed, const std::string& prefix) const {
    const HiderData data = testing::AttributeVoices(30, 8, seed);
    EmbeddingSet set;
    set.vectors = data.x;
    for (std::size_t i = 0; i < data.speaker.size(); ++i) {
      set.speakers.push_back(prefix + std::to_string(data.speaker[i]));
      set.ids.push_back(fmt::format("{}-{}", set.speakers[i], i));
      set.genders[set.speakers[i]] = data.speaker[i] % 2 == 0 ? Gender::kFemale : Gender::kMale;
    }
    WriteEmbeddings(set, folder_ / name);
  }
  std::string Name(const std::string& file) const { return (folder_ / file).string(); }
  // The model of a defence, as quick as it fits.
  std::string Model(const std::string& method) const {
    const auto definition = ProgramHiders().Find(method);
    std::map<std::string, std::string> given;
    if (definition->Find("eps-train") != nullptr) given = {{"eps-train", "1000"}, {"epochs", "2"}};
    HiderData data = testing::AttributeVoices(30, 8, 3);
    data.x.colwise().normalize();
    std::string file = Name(method + ".safetensors");
    WriteHider(*definition->Fit(std::move(data), testing::GivenValues(*definition, given)), file,
               IfExists::kReplace);
    return file;
  }
  Outcome Protect(const std::string& out, const std::string& method,
                  const std::string& flags) const {
    return Sotto(fmt::format("protect-embedding {} {} --method {} {}", Name("in"), Name(out),
                             method, flags));
  }

  const testing::TemporaryFolder folder_;
};

TEST_F(ProtectByDefence, HidesAndSaysWithWhatGuarantee) {
  const std::string aae = Model("gender-aae");
  const Outcome run = Protect("out", "gender-aae", "--model " + aae + " --eps 1 --json");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(ReadTextFile(folder_ / "out/sotto-run.json"), run.out);
  EXPECT_EQ(json::parse(run.out)["hiding"]["epsilon"], 1.0);
  EXPECT_EQ(json::parse(run.out)["randomness"], "fresh key from the operating system");
  EXPECT_TRUE(Has(run, "note: spk2gender is left out")) << run.err;
  const Outcome text = Protect("text", "gender-aae", "--model " + aae + " --eps 1 --per utterance");
  EXPECT_TRUE(Has(text, "90 utterances of 30 speakers, gender hidden by gender-aae: ")) << text.out;
  EXPECT_TRUE(Has(text, "epsilon 3 per speaker on ")) << text.out;
  EXPECT_TRUE(Has(text, "an AUC of 0.953 at most")) << text.out;
  EXPECT_TRUE(Has(text, "3 draws for one speaker at epsilon 1 each")) << text.err;
  // Without epsilon: allowed, and said.
  const Outcome silent = Protect("silent", "gender-aae", "--model " + aae);
  EXPECT_EQ(silent.code, 0) << silent.err;
  EXPECT_TRUE(Has(silent, "note: no --eps, so no noise (its epsilon is infinite)")) << silent.err;
  const Outcome leace = Protect("leace", "leace", "--model " + Model("leace"));
  EXPECT_EQ(leace.code, 0) << leace.err;
  EXPECT_EQ(leace.out, fmt::format("90 utterances of 30 speakers, gender hidden by leace: {}\n",
                                   Name("leace")));
}

TEST_F(ProtectByDefence, DrawsTheCurveOfADefenceWithNoise) {
  WriteSet("others", 4, "o");
  const std::string curve = fmt::format("protect-embedding {} --method gender-aae --model {} ",
                                        Name("in"), Model("gender-aae"));
  const std::string out = " --curve " + Name("curve");
  EXPECT_EQ(Sotto(curve + out).code, 2);  // what do attackers train on?
  EXPECT_EQ(Sotto(curve + out + " --curve-attack " + Name("in")).code, 1);  // not on those tested
  EXPECT_FALSE(fs::exists(folder_ / "curve"));
  const Outcome run = Sotto(curve + out + " --curve-attack " + Name("others") +
                            " --curve-eps 1,1000 --seed 1 --json");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out, ReadTextFile(folder_ / "curve/curve.json"));
  EXPECT_TRUE(fs::exists(folder_ / "curve/curve.html"));
  const json rows = json::parse(run.out)["rows"];
  ASSERT_EQ(rows.size(), 4U);  // unprotected, without noise, and two epsilons
  const auto eer = [&](std::size_t row) {
    return rows[row]["parts"][0]["eer_pairs"]["value"].get<double>();
  };
  EXPECT_GT(eer(2), eer(3));
  EXPECT_EQ(rows[2]["eps"], 1.0);
}

TEST_F(ProtectByDefence, HelpNamesEveryDefenceOfTheTable) {
  const Outcome help = Sotto("protect-embedding --help");
  std::string words;  // lines are wrapped
  for (const char c : help.out) {
    if (!std::isspace(static_cast<unsigned char>(c))) words += c;
  }
  for (const auto& method : ProgramHiders().All()) {
    std::string line = method->Name() + ":" + method->Help();
    std::erase(line, ' ');
    EXPECT_NE(words.find(line), std::string::npos) << line << "\n" << help.out;
  }
}

TEST_F(ProtectByDefence, BadUsageIsOneLineAndWritesNothing) {
  const std::string model = " --model " + Model("leace") + " ";
  const std::string with_noise = " --model " + Model("gender-aae") + " ";
  const auto refuses = [&](const std::string& method, const std::string& flags, int code,
                           const std::string& why) {
    const Outcome run = Protect("out", method, flags);
    EXPECT_EQ(run.code, code) << flags << run.err;
    EXPECT_TRUE(Has(run, why)) << run.err;
    // Bad usage is told where to read on.
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), code) << run.err;
    EXPECT_FALSE(fs::exists(folder_ / "out")) << flags;
  };
  refuses("leace", "", 2, "--method leace needs --model: sotto train hide --method leace");
  refuses("leace", model + "--eps 1", 2, "--eps belongs to --method voice-ind");
  refuses("leace", model + "--pool p", 2, "--pool belongs to --method voice-ind or pool");
  refuses("leace", model + "--region dense", 2, "--region belongs to --method pool");
  refuses("leace", model + "--private-report p", 2, "--private-report belongs to");
  refuses("leace", model + "--distance plda --plda p", 2, "--plda belongs to --method");
  for (const char* flag : {"--seed 1", "--key k", "--context c", "--per utterance"}) {
    refuses("leace", model + flag, 2, "without --eps nothing is drawn");
    refuses("gender-aae", with_noise + flag, 2, "without --eps nothing is drawn");
  }
  refuses("gender-aae", with_noise + "--eps 0", 1, "epsilon");
  refuses("gender-aae", with_noise + "--eps inf", 1, "epsilon");
  refuses("gender-aae", model + "--eps 1", 1, "is a model of method leace");
  refuses("leace", model + "--labels " + Name("in/utt2spk"), 1, "leave --labels out");
  refuses("leace", "--model " + Name("in/xvector.ark"), 1, "xvector.ark");
  refuses("leace", "--model " + Name("nowhere"), 1, "nowhere");
  WriteFileAtomically(folder_ / "labels.tsv", "speaker\tgender\ns0\tU\n");
  const std::string transport = "--model " + Model("transport");
  refuses("transport", transport + " --labels " + Name("labels.tsv"), 1, "29 of 30 speakers");
  fs::remove(folder_ / "in/spk2gender");
  refuses("transport", transport, 1, "the model asks for each owner's gender, and 30 of 30");
}

}  // namespace
}  // namespace sotto
