// What a release of embeddings says of itself does not depend on the voiceprints it protects.
#include "speaker/protect_record.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/testing.h"
#include "speaker/voices_testing.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using testing::Voices;

// Every file of a release but the drawn voiceprints, of which only the size is left.
std::map<std::string, std::string> Masked(const fs::path& out) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(out)) {
    const std::string name = fs::relative(entry.path(), out).string();
    const bool drawn = name == "xvector.ark" || name == "xvector.npy";
    files[name] =
        drawn ? fmt::format("{} bytes", fs::file_size(entry.path())) : ReadTextFile(entry.path());
  }
  return files;
}

class ProtectRecords : public ::testing::Test {
 protected:
  void SetUp() override {
    WriteEmbeddings(Voices("p", 30, 2, 2), folder_ / "pool");
    voice_ind_.pool = pool_.pool = folder_ / "pool";
    voice_ind_.options.eps = 0.1;
    options_.files.npy = true;
  }
  // A release of these embeddings, with a fresh key.
  std::map<std::string, std::string> Release(const EmbeddingSet& set, const Protection& by) {
    options_.by = by;
    const std::string run = fmt::format("{}", runs_++);
    options_.in = folder_ / ("in" + run);
    options_.out = folder_ / ("out" + run);
    WriteEmbeddings(set, options_.in);
    WriteFileAtomically(options_.in / "encoder.json",
                        R"({"encoder": "e", "fingerprint": "00ff", "utterances": )" + run + "}");
    const ProtectReport report = ProtectEmbeddings(options_, "test");
    auto files = Masked(options_.out);
    EXPECT_EQ(files.at("sotto-run.json"), report.record);
    return files;
  }
  void ExpectTheSame(const char* what, const Protection& by) {
    const EmbeddingSet all = Voices("s", 4, 3, 1);
    EmbeddingSet other = all;
    // Another voice for the second speaker: one of the pool, so that the check, the distances and
    // the overlap of pool and speakers all differ.
    const EmbeddingSet pool = Voices("p", 30, 2, 2);
    for (Eigen::Index u = 3; u < 6; ++u) other.vectors.col(u) = pool.vectors.col(u % 2);
    if (!voice_ind_.options.assignment_only) other.vectors.middleCols(3, 3).array() += 0.5F;
    EXPECT_EQ(Release(all, by), Release(other, by)) << what;
  }

  const testing::TemporaryFolder folder_;
  ProtectOptions options_;
  VoiceIndProtection voice_ind_;
  PoolProtection pool_;
  int runs_ = 0;
};

TEST_F(ProtectRecords, AreTheSameWhateverTheVoiceprint) {
  ExpectTheSame("one draw for each speaker", voice_ind_);
  voice_ind_.options.per = ProtectPer::kUtterance;
  ExpectTheSame("one draw for each utterance", voice_ind_);
  voice_ind_.options.assignment_only = true;
  ExpectTheSame("the assignment alone, some speakers in the pool", voice_ind_);
  voice_ind_.pool.clear();
  ExpectTheSame("the assignment alone, the speakers are the pool", voice_ind_);
  for (const char* region : {"random", "nearest", "sparse"}) {
    pool_.options.region = ProgramPoolRegions().Find(region);
    ExpectTheSame(region, pool_);
  }
}

// Twenty people, one of whom is released alone under one name at epsilon 0.1, where the bound
// allows 5.5 % to name the right one: the expected distance in the record named all twenty.
TEST_F(ProtectRecords, DoNotNameOneOfTwentyCandidates) {
  const EmbeddingSet candidates = Voices("c", 20, 1, 7);
  std::set<std::map<std::string, std::string>> told;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    EmbeddingSet one = candidates.Select({i});
    one.ids = {"utterance"};
    one.speakers = {"somebody"};
    one.genders.clear();
    told.insert(Release(one, voice_ind_));
  }
  EXPECT_EQ(told.size(), 1U);
}

TEST_F(ProtectRecords, OfPoolsDoNotTellWhichGendersWereProtected) {
  pool_.options.gender = TargetGender::kSame;
  EmbeddingSet pool = Voices("p", 30, 1, 2);
  for (const char* name : {"p1", "p3", "p5"})
    pool.genders[name] = Gender::kFemale;  // 18 women, 12 men
  WriteEmbeddings(pool, folder_ / "uneven");
  pool_.pool = folder_ / "uneven";
  const EmbeddingSet both = Voices("s", 4, 1, 1);
  EmbeddingSet women = both;
  for (auto& [speaker, gender] : women.genders) gender = Gender::kFemale;
  const auto first = Release(both, pool_), second = Release(women, pool_);
  EXPECT_EQ(first.at("sotto-run.json"), second.at("sotto-run.json"));
  const auto record = nlohmann::json::parse(first.at("sotto-run.json"));
  EXPECT_EQ(record["pool"]["candidates"]["F"], 18);
  EXPECT_EQ(record["pool"]["candidates"]["M"], 12);
}

TEST_F(ProtectRecords, KeepOfTheEncoderWhatComparingNeeds) {
  const auto files = Release(Voices("s", 2, 1, 1), voice_ind_);
  const auto encoder = nlohmann::json::parse(files.at("encoder.json"));
  EXPECT_EQ(encoder,
            (nlohmann::json{{"encoder", "e"}, {"fingerprint", "00ff"}, {"dimension", 16}}));
}

TEST_F(ProtectRecords, MeasuredFiguresGoToAPrivateFileOnRequest) {
  options_.private_report = folder_ / "private.json";
  VoiceIndMeasured measured;
  options_.private_text = [&](const ProtectReport& report) {
    measured = std::get<VoiceIndMeasured>(report.measured);
    return "figures";
  };
  Release(Voices("s", 4, 3, 1), voice_ind_);
  struct stat info {};
  ASSERT_EQ(::stat(options_.private_report.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  EXPECT_EQ(ReadTextFile(options_.private_report), "figures");
  EXPECT_TRUE(measured.check.holds);
  EXPECT_EQ(measured.check.inputs, 34);
  EXPECT_LE(measured.check.largest_ratio, 1.0);
  EXPECT_GT(measured.expected_distance, 0.0);

  // What exists is not replaced, and nothing private comes to lie in the release.
  const fs::path out = folder_ / "refused";
  fs::create_directory(out);  // an empty folder is a good OUT
  options_.out = out;
  EXPECT_THROW(ProtectEmbeddings(options_, "test"), Error);
  fs::create_directory_symlink(out, folder_ / "link");
  for (const fs::path& inside :
       {out / "private.json", out / "../refused/b.json", folder_ / "link/p.json"}) {
    options_.private_report = inside;
    for (const char* end : {"", "/"}) {  // as users write folders
      options_.out = out.string() + end;
      EXPECT_THROW(ProtectEmbeddings(options_, "test"), Error) << inside << " in " << options_.out;
      EXPECT_TRUE(fs::is_empty(out));
    }
  }
  options_.private_report = folder_ / "nowhere/p.json";  // cannot be written: nothing is released
  EXPECT_THROW(ProtectEmbeddings(options_, "test"), Error);
  EXPECT_TRUE(fs::is_empty(out));
}

}  // namespace
}  // namespace sotto
