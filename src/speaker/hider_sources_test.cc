#include "speaker/hider_sources.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "base/testing.h"
#include "speaker/scoring.h"
#include "speaker/voices_testing.h"

namespace sotto {
namespace {

using Eigen::Index;
using testing::TemporaryFolder;
using testing::Voices;

std::string Refused(const HiderSources& sources) {
  try {
    ReadHiderInput(sources);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool Says(const std::string& message, const std::string& part) {
  return message.find(part) != std::string::npos && message.find('\n') == std::string::npos;
}

TEST(HiderSources, FoldersAreDomainsAndTheirSpeakersDifferentPeople) {
  TemporaryFolder folder;
  const EmbeddingSet a = Voices("s", 4, 3, 1), b = Voices("s", 3, 2, 2);
  WriteEmbeddings(a, folder / "a");
  WriteEmbeddings(b, folder / "b");
  HiderSources sources;
  sources.embeddings = {folder / "a", folder / "b"};
  const HiderInput input = ReadHiderInput(sources);
  const HiderData& data = input.data;
  EXPECT_EQ(data.header.attributes[0].name, "gender");
  EXPECT_EQ(data.header.attributes[0].categories, (std::vector<std::string>{"F", "M"}));
  EXPECT_EQ(data.x.cols(), 18);
  EXPECT_LT((data.x.leftCols(12) - UnitLength(a.vectors)).norm(), 1e-6F);
  EXPECT_LT((data.x.rightCols(6) - UnitLength(b.vectors)).norm(), 1e-6F);
  EXPECT_EQ(data.speaker, (std::vector<int>{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5, 6, 6}));
  EXPECT_EQ(data.domain, (std::vector<int>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}));
  for (Index i = 0; i < 12; ++i) EXPECT_EQ(data.categories(0, i), i / 3 % 2);
  EXPECT_EQ(input.speakers, (std::vector<std::vector<std::size_t>>{{4, 3}}));
  sources.merge_speakers = true;
  const HiderInput merged = ReadHiderInput(sources);
  EXPECT_EQ(merged.data.speaker[12], 0);
  EXPECT_EQ(merged.data.speaker[17], 2);
  EXPECT_EQ(merged.speakers, (std::vector<std::vector<std::size_t>>{{2, 2}}));
}

TEST(HiderSources, TablesLabelAnyAttributesAndSayWhoIsNotKnown) {
  TemporaryFolder folder;
  WriteEmbeddings(Voices("s", 5, 2, 1), folder / "a");
  const auto table = folder / "labels.tsv";
  WriteFileAtomically(table,
                      "speaker\tage\tgender\ns0\told\tf\ns1\tyoung\tM\ns2\tyoung\tF\n"
                      "s3\t?\tM\ns4\told\tU\n");
  HiderSources sources;
  sources.embeddings = {folder / "a"};
  sources.labels = {table};
  sources.attributes = {"age", "gender"};
  EXPECT_TRUE(Says(Refused(sources), "has gender 'U': F or M is allowed, and --unknown U"));
  sources.unknown = {"U", "?"};
  const HiderInput input = ReadHiderInput(sources);
  EXPECT_EQ(input.left_out, 2U);
  EXPECT_EQ(input.data.x.cols(), 6);
  EXPECT_EQ(input.data.header.attributes[0].categories, (std::vector<std::string>{"old", "young"}));
  Categories expected(2, 6);
  expected << 0, 0, 1, 1, 1, 1,  //
      0, 0, 1, 1, 0, 0;
  EXPECT_EQ(input.data.categories, expected);
  EXPECT_EQ(input.speakers, (std::vector<std::vector<std::size_t>>{{1, 2}, {2, 1}}));
  // Without a row, too.
  WriteFileAtomically(table, "speaker\tage\ns0\told\ns1\tyoung\ns2\tyoung\n");
  sources.attributes = {"age"};
  EXPECT_EQ(ReadHiderInput(sources).left_out, 2U);
  sources.unknown.clear();
  EXPECT_TRUE(Says(Refused(sources), "2 of 5 speakers have no age (the first: 's3'); --unknown"));
}

TEST(HiderSources, OneLabelIsNotGivenToTwoPeople) {
  TemporaryFolder folder;
  WriteEmbeddings(Voices("s", 2, 2, 1), folder / "a");
  WriteEmbeddings(Voices("s", 2, 2, 2), folder / "b");
  WriteFileAtomically(folder / "one", "speaker\tage\ns0\told\ns1\tyoung\n");
  WriteFileAtomically(folder / "other", "speaker\tage\ns0\tyoung\ns1\told\n");
  HiderSources sources;
  sources.embeddings = {folder / "a", folder / "b"};
  sources.attributes = {"age"};
  sources.labels = {folder / "one"};
  EXPECT_TRUE(Says(Refused(sources), "give --merge-speakers, or a table for each"));
  sources.merge_speakers = true;
  EXPECT_EQ(ReadHiderInput(sources).data.speaker, (std::vector<int>{0, 0, 1, 1, 0, 0, 1, 1}));
  sources.labels.push_back(folder / "other");
  EXPECT_TRUE(Says(Refused(sources), "'s0' is of two values of age"));
  sources.merge_speakers = false;
  const HiderInput input = ReadHiderInput(sources);
  EXPECT_NE(input.data.categories(0, 0), input.data.categories(0, 4));
}

TEST(HiderSources, WhatCannotBeUsedIsRefusedInOneLine) {
  TemporaryFolder folder;
  EmbeddingSet voices = Voices("s", 4, 2, 1);
  WriteEmbeddings(voices, folder / "good");
  HiderSources sources;
  sources.embeddings = {folder / "good", folder / "none"};
  EXPECT_NE(Refused(sources), "");
  WriteEmbeddings(Voices("t", 4, 2, 1, 8), folder / "short");
  sources.embeddings[1] = folder / "short";
  EXPECT_TRUE(Says(Refused(sources), "has 8 dimensions"));
  WriteEmbeddings(Voices("t", 4, 2, 1), folder / "other");
  for (const char* name : {"good", "other"}) {
    WriteFileAtomically(folder / name / "encoder.json",
                        std::string(R"({"encoder": "e", "fingerprint": ")") + name + "\"}");
  }
  sources.embeddings[1] = folder / "other";
  EXPECT_NE(Refused(sources), "");
  sources.embeddings = {folder / "good"};
  EXPECT_EQ(ReadHiderInput(sources).data.header.encoder.fingerprint, "good");
  sources.attributes = {"accent"};
  EXPECT_TRUE(Says(Refused(sources), "other attributes need --labels"));
  sources.attributes = {"gender", "gender"};
  EXPECT_TRUE(Says(Refused(sources), "twice"));
  sources.attributes = {"gender"};
  sources.labels = {folder / "a", folder / "b"};
  EXPECT_TRUE(Says(Refused(sources), "2 tables of labels for 1 folders"));
  sources.labels.clear();

  voices.vectors.col(3).setZero();
  WriteEmbeddings(voices, folder / "zero");
  sources.embeddings = {folder / "zero"};
  EXPECT_TRUE(Says(Refused(sources), "'s1-1' is all zeros"));
  voices = Voices("s", 4, 2, 1);
  for (auto& [speaker, gender] : voices.genders) gender = Gender::kMale;
  WriteEmbeddings(voices, folder / "men");
  sources.embeddings = {folder / "men"};
  EXPECT_TRUE(Says(Refused(sources), "all speakers have the same gender ('M')"));
  voices.genders.clear();
  WriteEmbeddings(voices, folder / "nobody");
  sources.embeddings = {folder / "nobody"};
  EXPECT_TRUE(Says(Refused(sources), "4 of 4 speakers have no gender"));
  sources.unknown = {"U"};
  EXPECT_TRUE(Says(Refused(sources), "no speaker has a known gender"));
  sources.embeddings = {folder / "good" / "xvector.ark"};
  EXPECT_TRUE(Says(Refused(sources), "embeddings without speakers"));
}

}  // namespace
}  // namespace sotto
