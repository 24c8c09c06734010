#include "attack/hiding_voices.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "base/testing.h"
#include "speaker/voices_testing.h"

namespace sotto {
namespace {

using testing::TemporaryFolder;
using testing::Voices;

struct HidingVoicesTest : public ::testing::Test {
  HidingVoicesTest() {
    WriteEmbeddings(Voices("f", 4, 2, 1), folder / "fit");
    WriteEmbeddings(Voices("a", 4, 2, 2), folder / "attack");
    WriteEmbeddings(Voices("t", 4, 2, 3), folder / "one");
    WriteEmbeddings(Voices("u", 6, 2, 4), folder / "two");
    sources.fit = {folder / "fit"};
    sources.attack = {folder / "attack"};
    sources.test = {folder / "one", folder / "two"};
  }
  // What the Error says.
  std::string Refusal() const {
    try {
      ReadHidingVoices(sources);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  void Encoder(const std::string& name, const std::string& fingerprint) const {
    WriteFileAtomically(folder / name / "encoder.json",
                        R"({"encoder": "x", "fingerprint": ")" + fingerprint + "\"}");
  }

  TemporaryFolder folder;
  HidingSources sources;
};

bool Says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(HidingVoicesTest, AreReadWithTheirFolders) {
  const HidingVoices voices = ReadHidingVoices(sources);
  EXPECT_EQ(voices.test.size(), 20U);
  EXPECT_EQ(voices.attack.size(), 8U);
  EXPECT_EQ(voices.folders, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(voices.folder_of[7], 0U);
  EXPECT_EQ(voices.folder_of[8], 1U);
  EXPECT_EQ(voices.labels.categories, (std::vector<std::string>{"F", "M"}));
  EXPECT_EQ(voices.labels.of_speaker.size(), 14U);
  EXPECT_EQ(ReadFitVoices(sources).x.cols(), 8);
}

TEST_F(HidingVoicesTest, SpeakersTestedAreHeardByNobodyBefore) {
  sources.attack.emplace_back(folder / "two");
  EXPECT_TRUE(Says(Refusal(), "6 speakers of --test are also in --attack (the first: 'u0')"));
  sources.attack.pop_back();
  sources.fit.emplace_back(folder / "one");
  EXPECT_TRUE(Says(Refusal(), "4 speakers of --test are also in --fit (the first: 't0')"));
}

TEST_F(HidingVoicesTest, OtherEncodersAreRefused) {
  Encoder("attack", "1");
  Encoder("two", "1");
  EXPECT_EQ(Refusal(), "");
  Encoder("fit", "2");
  EXPECT_NE(Refusal(), "");
}

TEST_F(HidingVoicesTest, OtherDimensionsAndZerosAreRefused) {
  WriteEmbeddings(Voices("v", 4, 2, 5, 8), folder / "short");
  sources.attack.emplace_back(folder / "short");
  EXPECT_TRUE(Says(Refusal(), "has 8 dimensions, the others 16"));
  EmbeddingSet zero = Voices("v", 4, 2, 5);
  zero.vectors.col(3).setZero();
  WriteEmbeddings(zero, folder / "short");
  EXPECT_TRUE(Says(Refusal(), "voiceprint 'v1-1' is all zeros"));
}

TEST_F(HidingVoicesTest, LabelsAreNeeded) {
  sources.attribute = "age";
  EXPECT_TRUE(Says(Refusal(), "--labels"));
  const auto table = folder / "labels.tsv";
  std::string text = "speaker\tage\n";
  for (const char* who : {"t0", "t1", "t2", "t3", "u0", "u1", "u2", "u3", "u4", "u5"}) {
    text += std::string(who) + (who[1] % 2 == 0 ? "\told\n" : "\tyoung\n");
  }
  WriteFileAtomically(table, text + "a0\told\na1\told\na2\tyoung\nx\tgone\n");
  sources.labels = table;
  EXPECT_TRUE(Says(Refusal(), "1 of 4 speakers have no age (the first: 'a3')"));
  sources.unknown = {"?"};
  const HidingVoices voices = ReadHidingVoices(sources);
  EXPECT_EQ(voices.attack.size(), 6U);
  // A category that nobody here has is none.
  EXPECT_EQ(voices.labels.categories, (std::vector<std::string>{"old", "young"}));
}

TEST(HidingVoices, CropsAreKnownByTheirIds) {
  EXPECT_TRUE(IsCrop("84-0001#2"));
  EXPECT_FALSE(IsCrop("84-0001"));
}

}  // namespace
}  // namespace sotto
