// Folders of embeddings protected by defences that hide attributes: what is written, what is
// refused, and that neither record nor release tells an owner's attribute.
#include "speaker/protect_hiding.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/testing.h"
#include "dp/allows.h"
#include "speaker/affine_hider.h"
#include "speaker/default_encoder.h"
#include "speaker/encoder.h"
#include "speaker/hider_testing.h"
#include "speaker/protect_embeddings.h"
#include "speaker/voices_testing.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::Voices;

constexpr int kDimension = 12;

// As quick as a method fits.
std::unique_ptr<Hider> Fit(const std::string& name, bool ages = false, std::uint64_t seed = 1) {
  const auto method = ProgramHiders().Find(name);
  std::map<std::string, std::string> given;
  for (const auto& [parameter, value] : std::map<std::string, std::string>{{"eps-train", "1000"},
                                                                           {"epochs", "2"},
                                                                           {"steps", "3"},
                                                                           {"rounds", "2"},
                                                                           {"latent", "5"}}) {
    if (method->Find(parameter) != nullptr) given[parameter] = value;
  }
  HiderData data = testing::AttributeVoices(48, kDimension, seed, 0.5F, ages);
  data.x.colwise().normalize();
  for (std::size_t i = 0; i < data.domain.size(); ++i) {
    data.domain[i] = data.speaker[i] % 4 / 2;  // two corpora
  }
  data.header.encoder = {"ears", "00ff00ff00ff00ff"};
  return method->Fit(std::move(data), testing::GivenValues(*method, given));
}

class ProtectHiding : public ::testing::Test {
 protected:
  void SetUp() override {
    Write("in", Voices("s", 4, 3, 1, kDimension));
    options_.in = folder_ / "in";
    WriteFileAtomically(folder_ / "key", std::string(64, 'e') + "\n");
    options_.key_file = folder_ / "key";
  }
  void Write(const std::string& name, const EmbeddingSet& set,
             const std::string& fingerprint = "00ff00ff00ff00ff") const {
    WriteEmbeddings(set, folder_ / name);
    WriteFileAtomically(folder_ / name / "encoder.json",
                        fmt::format(R"({{"encoder": "ears", "fingerprint": "{}"}})", fingerprint));
  }
  // By the model of the method's name, which is fitted when it is first asked for.
  HiderProtection By(const std::string& method, std::optional<double> eps = {}) const {
    HiderProtection by{method, folder_ / method, {}, {}};
    if (!fs::exists(by.model)) WriteHider(*Fit(method), by.model);
    by.options.eps = eps;
    return by;
  }
  // The release of OUT `name`.
  EmbeddingSet Protect(const std::string& name, const HiderProtection& by) {
    options_.out = folder_ / name;
    options_.by = by;
    report_ = ProtectEmbeddings(options_, "test");
    return ReadEmbeddings(options_.out);
  }
  json Json(const std::string& file) const { return json::parse(ReadTextFile(folder_ / file)); }
  // The Error; nothing may have been written.
  std::string Refusal(const HiderProtection& by) {
    const fs::path out = folder_ / "refused";
    try {
      Protect("refused", by);
    } catch (const Error& error) {
      EXPECT_FALSE(fs::exists(out)) << error.what();
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      return error.what();
    }
    ADD_FAILURE() << by.method << " was not refused";
    fs::remove_all(out);
    return "";
  }
  void ExpectRefusal(const HiderProtection& by, const std::string& why) {
    const std::string said = Refusal(by);
    EXPECT_NE(said.find(why), std::string::npos) << said;
  }

  const testing::TemporaryFolder folder_;
  ProtectOptions options_;
  ProtectReport report_;
};

TEST_F(ProtectHiding, EveryMethodOfTheTableSaysWhatItsModelsDoAboutNoise) {
  for (const auto& method : ProgramHiders().All()) {
    const auto hider = Fit(method->Name());
    EXPECT_EQ(method->Noise() != HiderNoise::kNone, hider->NoisyRows() > 0) << method->Name();
    EXPECT_EQ(method->Noise() == HiderNoise::kNeeded, hider->NeedsEpsilon()) << method->Name();
    std::optional<double> eps;
    if (hider->NeedsEpsilon()) eps = 1.0;
    const EmbeddingSet out = Protect("out-" + method->Name(), By(method->Name(), eps));
    EXPECT_EQ(out.size(), 12U);
    EXPECT_EQ(out.ids, ReadEmbeddings(options_.in).ids);
    EXPECT_TRUE(out.genders.empty()) << method->Name();
    EXPECT_NEAR(out.vectors.colwise().norm().minCoeff(), 1.0F, 1e-5F) << method->Name();
    const json record = Json("out-" + method->Name() + "/sotto-run.json");
    EXPECT_EQ(record["method"], method->Name());
    EXPECT_EQ(record["hiding"]["attributes"], json::array({"gender"}));
    EXPECT_EQ(record["hiding"]["dimension"].get<Eigen::Index>(), out.Dimension());
  }
}

TEST_F(ProtectHiding, TheRecordSaysWhatTheNoiseGuaranteesAndWhatNot) {
  HiderProtection by = By("gender-aae", 0.5);
  by.options.per = ProtectPer::kUtterance;
  Protect("out", by);
  const json record = Json("out/sotto-run.json");
  const json& hiding = record["hiding"];
  EXPECT_EQ(hiding["epsilon"], 0.5);
  EXPECT_EQ(hiding["per"], "utterance");
  EXPECT_EQ(hiding["model"], Fingerprint(ReadTensorFile(by.model)));
  EXPECT_EQ(hiding["guarantee"]["draws_per_speaker_at_most"], 3);
  EXPECT_DOUBLE_EQ(hiding["guarantee"]["epsilon_per_speaker"].get<double>(), 1.5);
  EXPECT_DOUBLE_EQ(hiding["allows"]["auc_ceiling"].get<double>(), AucCeiling(1.5, 0.0));
  EXPECT_DOUBLE_EQ(hiding["allows"]["eer_floor"].get<double>(), EerFloor(1.5, 0.0));
  EXPECT_NE(hiding["guarantee"]["protects"].get<std::string>().find("the 5 coordinates with noise, "
                                                                    "of 5"),
            std::string::npos);
  EXPECT_EQ(record["randomness"], "key file");
  EXPECT_EQ(report_.notes.at(0),
            "3 draws for one speaker at epsilon 0.5 each: epsilon 1.5 for that speaker");

  Protect("loud", By("gender-aae", 30.0));
  EXPECT_EQ(report_.notes.size(), 2U);  // what an epsilon above 20 means, and no spk2gender
  Protect("silent", By("gender-aae"));
  const json silent = Json("silent/sotto-run.json");
  EXPECT_TRUE(silent["hiding"]["epsilon"].is_null());
  EXPECT_EQ(silent["hiding"]["guarantee"].get<std::string>().substr(0, 24),
            "none: no noise was added");
  EXPECT_FALSE(silent["hiding"].contains("allows"));
  EXPECT_NE(report_.notes.at(0).find("there is no guarantee"), std::string::npos);
  options_.key_file.clear();
  options_.experiment_seed = 3;
  Protect("seeded", By("gender-aae", 1.0));
  EXPECT_EQ(Json("seeded/sotto-run.json")["randomness"], "seeded experiment: protects nobody");
  EXPECT_NE(report_.notes.back().find("it protects nobody"), std::string::npos);
}

TEST_F(ProtectHiding, TheSameKeySpeakerInputAndModelDrawOnce) {
  HiderProtection by = By("gender-aae", 1.0);
  const EmbeddingSet first = Protect("first", by);
  EXPECT_EQ(Protect("again", by).vectors, first.vectors);
  for (const auto& [speaker, places] : first.BySpeaker()) {
    for (const std::size_t place : places) {  // one draw of all that is released
      EXPECT_EQ(first.vectors.col(static_cast<Eigen::Index>(place)),
                first.vectors.col(static_cast<Eigen::Index>(places.front())));
    }
  }
  EXPECT_NE(first.vectors.col(0), first.vectors.col(3));
  by.options.context = "another release";
  EXPECT_NE(Protect("context", by).vectors, first.vectors);
  by.options.context.clear();
  by.options.per = ProtectPer::kUtterance;
  const EmbeddingSet each = Protect("each", by);
  EXPECT_NE(each.vectors.col(0), each.vectors.col(1));
  WriteFileAtomically(options_.key_file, std::string(64, 'd') + "\n");
  EXPECT_NE(Protect("other-key", by).vectors, each.vectors);
  // Another login of the same speaker is another draw, one that was there before is not.
  EmbeddingSet later = ReadEmbeddings(options_.in);
  later.vectors.col(1).array() += 0.125F;
  Write("later", later);
  const EmbeddingSet before = Protect("before", by);
  options_.in = folder_ / "later";
  const EmbeddingSet after = Protect("after", by);
  EXPECT_EQ(after.vectors.col(0), before.vectors.col(0));
  EXPECT_NE(after.vectors.col(1), before.vectors.col(1));
}

TEST_F(ProtectHiding, ReleasesTellNothingOfVoiceprintsOrOwnersAttributesBesidesTheVectors) {
  const EmbeddingSet one = ReadEmbeddings(options_.in);
  EmbeddingSet other = one;
  other.vectors.array() += 0.25F;
  for (auto& [speaker, gender] : other.genders) gender = Gender::kFemale;
  Write("other", other);
  for (const HiderProtection& by : {By("transport"), By("leace"), By("gender-aae", 1.0)}) {
    const auto release = [&](const std::string& in) {
      options_.in = folder_ / in;
      Protect(by.method + in, by);
      std::map<std::string, std::string> files;
      for (const auto& file : fs::directory_iterator(options_.out)) {
        const std::string name = file.path().filename();
        files[name] = name == "xvector.ark" ? fmt::format("{} bytes", file.file_size())
                                            : ReadTextFile(file.path());
      }
      return files;
    };
    const auto files = release("in");
    EXPECT_EQ(files, release("other")) << by.method;
    EXPECT_EQ(files.at("sotto-run.json").find("\"F\""), std::string::npos);
    EXPECT_EQ(files.at("spk2gender"), "");
  }
}

TEST_F(ProtectHiding, ProtectedVoiceprintsLieInASpaceOfTheirOwn) {
  Write("side", Voices("t", 3, 2, 5, kDimension));
  Protect("out", By("leace"));
  options_.in = folder_ / "side";
  Protect("other", By("leace"));
  EXPECT_NO_THROW(RequireSameEncoder(folder_ / "out", folder_ / "other"));
  EXPECT_THROW(RequireSameEncoder(folder_ / "out", folder_ / "in"), Error);
  EXPECT_EQ(Json("out/encoder.json")["encoder"], "ears+leace");
  EXPECT_EQ(Json("out/encoder.json")["dimension"], kDimension);
  // Another model, another space; and what is protected already is not what a model was fitted to.
  WriteHider(*Fit("leace", false, 7), folder_ / "leace", IfExists::kReplace);
  Protect("third", By("leace"));
  EXPECT_THROW(RequireSameEncoder(folder_ / "third", folder_ / "other"), Error);
  options_.in = folder_ / "out";
  ExpectRefusal(By("leace"), "of encoder ears (00ff00ff), these are of ears+leace (");
  // Files that do not say take the model's word, and those of no encoder a name all the same.
  fs::remove(folder_ / "side/encoder.json");
  options_.in = folder_ / "side";
  Protect("silent", By("leace"));
  EXPECT_NO_THROW(RequireSameEncoder(folder_ / "third", folder_ / "silent"));
}

TEST_F(ProtectHiding, TheProgramsOwnModelIsForItsOwnEncoderAlone) {
  const std::string_view bytes = ProgramHiders().Find("transport")->OwnModel();
  const HiderHeader header = ParseHider(ParseTensorFile(bytes, "own"))->Header();
  const auto encoder = ParseEncoder(kDefaultEncoderBytes, "default");
  EXPECT_EQ(header.encoder.fingerprint, encoder->Fingerprint());
  const EmbeddingSet voices = Voices("s", 4, 3, 1, static_cast<int>(encoder->Dimension()));
  Write("own", voices, encoder->Fingerprint());
  options_.in = folder_ / "own";
  HiderProtection by;
  by.method = "transport";
  const HiderProtection by_file{"transport", folder_ / "file", {}, {}};
  const EmbeddingSet release = Protect("by-own", by);
  WriteFileAtomically(folder_ / "file", std::string(bytes));
  EXPECT_EQ(Protect("by-file", by_file).vectors, release.vectors);
  EXPECT_EQ(Json("by-file/encoder.json"), Json("by-own/encoder.json"));
  EXPECT_EQ(Json("by-file/sotto-run.json")["hiding"], Json("by-own/sotto-run.json")["hiding"]);

  by.method = "leace";
  ExpectRefusal(by, "method leace has no model in the program: name one with --model");
  by.method = "transport";
  Write("foreign", voices, "1234123412341234");
  options_.in = folder_ / "foreign";
  ExpectRefusal(by, "'the program's own model' was fitted to voiceprints of encoder ecapa (" +
                        encoder->Fingerprint().substr(0, 8) + "), these are of ears (12341234)");
  // Of voiceprints that do not say, who names a file answers for it.
  fs::remove(folder_ / "foreign/encoder.json");
  ExpectRefusal(by, "these voiceprints do not say which encoder made them");
  EXPECT_EQ(Protect("answered-for", by_file).vectors, release.vectors);
  options_.in = folder_ / "foreign/xvector.ark";
  ExpectRefusal(by, "these voiceprints do not say which encoder made them");
}

TEST_F(ProtectHiding, OwnersAttributesComeFromTheGendersOrATable) {
  const EmbeddingSet by_genders = Protect("genders", By("transport"));
  const auto table = [&](const std::string& text) {
    WriteFileAtomically(folder_ / "labels.tsv", text);
    HiderProtection by = By("transport");
    by.labels = folder_ / "labels.tsv";
    return by;
  };
  const std::string head = "speaker\tgender\tage\n";
  const std::string ages = head + "s0\tf\told\ns1\tM\tyoung\ns2\tF\told\ns3\tm\told\n";
  EXPECT_EQ(Protect("table", table(ages)).vectors, by_genders.vectors);
  EXPECT_NE(Protect("declared", table(head + "s0\tM\t\ns1\tM\t\ns2\tM\t\ns3\tM\t\n")).vectors,
            by_genders.vectors);
  ExpectRefusal(table(head + "s0\tF\t\ns1\tU\t\ns2\tO\t\ns3\tM\t\n"),
                "labels.tsv: the model knows gender F and M, not O or U");
  ExpectRefusal(table(head + "s0\tF\t\ns1\tM\t\ns3\t\t\n"),
                "2 of 4 speakers have none (the first: 's2')");
  ExpectRefusal(table("speaker\tage\ns0\told\n"), "no column 'gender'");
  // Several attributes, of which the files tell one.
  WriteHider(*Fit("transport", true), folder_ / "transport", IfExists::kReplace);
  ExpectRefusal(By("transport"), "the model asks for each owner's age: --labels is needed");
  const EmbeddingSet both = Protect("both", table(ages));
  EXPECT_EQ(Json("both/sotto-run.json")["hiding"]["attributes"], json::array({"gender", "age"}));
  EXPECT_EQ(both.size(), 12U);
  EmbeddingSet unlabelled = ReadEmbeddings(options_.in);
  unlabelled.genders.erase("s2");
  Write("unlabelled", unlabelled);
  options_.in = folder_ / "unlabelled";
  WriteHider(*Fit("transport"), folder_ / "transport", IfExists::kReplace);
  ExpectRefusal(By("transport"), "spk2gender: the model asks for each owner's gender, and 1 of 4");
  EXPECT_EQ(Protect("no-need", By("leace")).size(), 12U);
}

TEST_F(ProtectHiding, RefusesWhatDoesNotFitInOneLineAndWritesNothing) {
  HiderProtection by = By("leace", 1.0);
  ExpectRefusal(by, "method leace adds no noise");
  by = By("leace");
  by.labels = folder_ / "in/utt2spk";
  ExpectRefusal(by, "does not ask for the owners' attributes: leave --labels out");
  by = By("leace");
  by.method = "ive";
  ExpectRefusal(by, "is a model of method leace; the method here is ive");
  for (const double eps : {0.0, -1.0}) ExpectRefusal(By("gender-aae", eps), "epsilon");

  const std::string whole = ReadTextFile(By("leace").model);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{7}, whole.size() / 2, whole.size() - 1}) {
    WriteFileAtomically(folder_ / "leace", whole.substr(0, size));
    ExpectRefusal(By("leace"), "leace");
  }
  TensorFile file = ParseTensorFile(whole, "leace");
  file.metadata["sotto.kind"] = "encoder";
  WriteTensorFile(folder_ / "leace", file, StoredAs::kFloat32);
  ExpectRefusal(By("leace"), "not a model that hides attributes");
  HiderHeader header = Fit("leace")->Header();
  const AffineMap nothing = {Eigen::MatrixXf::Zero(kDimension, kDimension),
                             Eigen::VectorXf::Zero(kDimension)};
  WriteHider(AffineHider(header, {nothing}), folder_ / "leace", IfExists::kReplace);
  ExpectRefusal(By("leace"), "the model makes no voiceprint of 's0-0'");
  header.attributes.assign(21, header.attributes[0]);
  WriteHider(AffineHider(header, {nothing}), folder_ / "leace", IfExists::kReplace);
  ExpectRefusal(By("leace"), "more than 1048576 combinations of categories");
  WriteFileAtomically(folder_ / "leace", whole);

  options_.private_report = folder_ / "private.json";
  ExpectRefusal(By("leace"), "there is no private report");
  options_.private_report.clear();

  EmbeddingSet set = ReadEmbeddings(options_.in);
  Write("foreign", set, "1234123412341234");
  options_.in = folder_ / "foreign";
  ExpectRefusal(By("leace"), "these are of ears (12341234)");
  set.vectors.col(5).setZero();
  Write("zero", set);
  options_.in = folder_ / "zero";
  ExpectRefusal(By("leace"), "voiceprint '" + set.ids[5] + "' is all zeros");
  Write("wide", Voices("s", 4, 1, 1, kDimension + 1));
  options_.in = folder_ / "wide";
  ExpectRefusal(By("leace"), "voiceprints of 13 dimensions; the model was trained for 12");
}

}  // namespace
}  // namespace sotto
