#include "report/utility_report.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "audio/testing.h"
#include "base/files.h"
#include "base/testing.h"
#include "onnx/testing.h"
#include "release/release_record.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using testing::SyntheticVowel;
using testing::TemporaryFolder;

// Two vowels by two speakers.
void WriteCopy(const fs::path& folder, double factor) {
  std::string rows = "utt_id\tpath\tspeaker\tgender\ttext\n";
  for (const char* id : {"a", "b"}) {
    const double f0_hz = id[0] == 'a' ? 120.0 : 180.0;
    testing::WriteWav(folder / (std::string(id) + ".wav"),
                      SyntheticVowel(1.0, 16000, factor * f0_hz));
    rows += fmt::format("{0}\t{0}.wav\t{0}\t{1}\tah\n", id, id[0] == 'a' ? "M" : "F");
  }
  WriteFileAtomically(folder / "manifest.tsv", rows);
}

TEST(Utility, AllKeysAreThereAndAnUnmeasuredFigureIsNullWithItsReason) {
  const TemporaryFolder folder;
  WriteCopy(folder / "o", 1.0);
  WriteCopy(folder / "p", 1.1);
  WriteFileAtomically(folder / "p/sotto-run.json",
                      R"({"method": "neural", "content": "moonshine"})");
  // No model anywhere: everything that needs one is null.
  const testing::ScopedVariable home("HOME", folder.Path().c_str()),
      models("SOTTO_MODELS", nullptr), shared("SOTTO_SHARED", nullptr);
  UtilityOptions options;
  options.original = folder / "o";
  options.released = folder / "p";
  options.content = RecordedContent(options.released);
  options.recognisers = {RecogniserChoice::Parse("moonshine")};
  options.intervals.resamples = 50;
  const UtilityResult result = MeasureUtility(options);
  const auto json = nlohmann::json::parse(UtilityJson(result));
  ASSERT_EQ(json["wer"].size(), 1U);
  EXPECT_EQ(json["wer"][0]["recogniser"], "moonshine");
  EXPECT_EQ(json["wer"][0]["shares_model_with_method"], true);
  for (const char* key : {"original", "protected", "ci", "n_words"}) {
    ASSERT_TRUE(json["wer"][0].contains(key)) << key;
    EXPECT_TRUE(json["wer"][0][key].is_null()) << key;
  }
  EXPECT_FALSE(json["wer"][0]["reason"].get<std::string>().empty());
  EXPECT_TRUE(json["cer"][0]["protected"].is_null());
  for (const char* key : {"pitch_correlation", "pitch_correlation_lagged", "voicing_agreement",
                          "energy_correlation", "speaking_rate", "level_db", "duration_ratio"}) {
    ASSERT_TRUE(json.contains(key)) << key;
    EXPECT_TRUE(json[key].is_number()) << key;
    EXPECT_TRUE(json["ci"][key].is_array()) << key;
  }
  for (const char* key : {"pause_ratio", "g_vd_db"}) {
    ASSERT_TRUE(json.contains(key)) << key;
    EXPECT_TRUE(json[key].is_null()) << key;
    EXPECT_FALSE(json["reason"][key].get<std::string>().empty()) << key;
  }
  for (const char* scale : {"sig", "bak", "ovr"}) {
    for (const char* side : {"original", "protected"}) {
      EXPECT_TRUE(json["dnsmos"][scale].contains(side));
      EXPECT_TRUE(json["dnsmos"][scale][side].is_null());
      EXPECT_FALSE(
          json["reason"][std::string("dnsmos.") + scale + "." + side].get<std::string>().empty());
    }
  }
  EXPECT_EQ(json["by_speaker"].size(), 2U);
  EXPECT_EQ(json["by_gender"].size(), 2U);
  EXPECT_TRUE(json["by_gender"]["F"]["pitch_correlation"].is_number());
  const std::string page = RenderAssessPage(UtilityPage(result, "o, p"));
  EXPECT_NE(page.find("By gender"), std::string::npos);
  EXPECT_EQ(page.find("http://"), page.find("http://www.w3.org"));  // asks for nothing
}

}  // namespace
}  // namespace sotto
