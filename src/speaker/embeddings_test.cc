#include "speaker/embeddings.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/files.h"
#include "base/npy.h"
#include "base/testing.h"
#include "speaker/kaldi_testing.h"

namespace sotto {
namespace {

using testing::TemporaryFolder;

EmbeddingSet Example() {
  EmbeddingSet set;
  set.ids = {"a-1", "a-2", "b-1"};
  set.speakers = {"a", "a", "b"};
  set.genders = {{"a", Gender::kFemale}};
  set.vectors.resize(2, 3);
  set.vectors << 1.5F, -2.0F, 0.1F, 3e-8F, 4.0F, 1e10F;
  return set;
}

// A file of two numbers in rows of so many.
std::string TwoValues(std::size_t columns) {
  const TemporaryFolder folder;
  NpyWriter<float> writer(folder / "x.npy", columns);
  writer.Append(std::vector<float>{1.0F, 2.0F});
  writer.Close();
  return ReadTextFile(folder / "x.npy");
}

std::string Message(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

#define EXPECT_REFUSED(call, part) \
  EXPECT_NE(Message([&] { call; }).find(part), std::string::npos) << Message([&] { call; })

void ExpectSame(const EmbeddingSet& a, const EmbeddingSet& b) {
  EXPECT_EQ(a.ids, b.ids);
  EXPECT_EQ(a.speakers, b.speakers);
  EXPECT_EQ(a.genders, b.genders);
  EXPECT_TRUE(a.vectors == b.vectors);
}

TEST(Embeddings, EveryFormReturnsWhatWasWritten) {
  TemporaryFolder folder;
  const EmbeddingSet set = Example();
  WriteEmbeddings(set, folder / "binary", {ArkForm::kBinary, true});
  ExpectSame(ReadEmbeddings(folder / "binary"), set);
  WriteEmbeddings(set, folder / "text", {ArkForm::kText, false});
  ExpectSame(ReadEmbeddings(folder / "text"), set);
  EXPECT_FALSE(std::filesystem::exists(folder / "text" / "xvector.npy"));
  EXPECT_TRUE(ReadEmbeddings(folder / "text" / "xvector.ark").vectors == set.vectors);
  const EmbeddingSet npy = ReadEmbeddings(folder / "binary" / "xvector.npy");
  EXPECT_TRUE(npy.vectors == set.vectors);
  EXPECT_EQ(npy.ids, set.ids);
  EXPECT_FALSE(npy.HasSpeakers());
  // A folder with only the array is a folder too.
  std::filesystem::remove(folder / "binary" / "xvector.scp");
  std::filesystem::remove(folder / "binary" / "xvector.ark");
  ExpectSame(ReadEmbeddings(folder / "binary"), set);
}

TEST(Embeddings, WhatIsThereIsReplacedOnlyWhenAsked) {
  TemporaryFolder folder;
  EmbeddingFiles files{ArkForm::kBinary, true, IfExists::kRefuse};
  RefuseExistingEmbeddings(folder / "e", files);  // no folder: nothing is there
  std::filesystem::create_directories(folder / "e");
  for (const char* name :
       {"xvector.ark", "xvector.scp", "utt2spk", "spk2gender", "xvector.npy", "ids"}) {
    WriteFileAtomically(folder / "e" / name, "kept");
    EXPECT_REFUSED(RefuseExistingEmbeddings(folder / "e", files), name);
    EXPECT_REFUSED(WriteEmbeddings(Example(), folder / "e", files), name);
    EXPECT_EQ(ReadTextFile(folder / "e" / name), "kept");
    std::filesystem::remove_all(folder / "e");
    std::filesystem::create_directories(folder / "e");
  }
  WriteFileAtomically(folder / "e" / "xvector.npy", "kept");
  // One that is not asked for would be left beside other embeddings.
  EXPECT_REFUSED(
      RefuseExistingEmbeddings(folder / "e", {ArkForm::kBinary, false, IfExists::kRefuse}),
      "xvector.npy");
  files.if_exists = IfExists::kReplace;
  WriteEmbeddings(Example(), folder / "e", files);
  EXPECT_NE(ReadTextFile(folder / "e" / "xvector.npy"), "kept");
  files.npy = false;
  WriteEmbeddings(Example(), folder / "e", files);
  EXPECT_FALSE(std::filesystem::exists(folder / "e" / "xvector.npy"));
}

TEST(Embeddings, DoubleVectorsAreRead) {
  std::string ark = "x ";
  ark += testing::KaldiFile(testing::KaldiValue(Eigen::VectorXd(Eigen::Vector2d(0.5, -0.25))));
  const EmbeddingSet set = ParseArk(ark, "x.ark");
  EXPECT_EQ(set.vectors(0, 0), 0.5F);
  EXPECT_EQ(set.vectors(1, 0), -0.25F);
}

TEST(Embeddings, ScpFindsItsArkBesideItAfterAMove) {
  TemporaryFolder folder;
  WriteEmbeddings(Example(), folder / "one");
  std::string scp = ReadTextFile(folder / "one" / "xvector.scp");
  std::string moved;
  for (std::size_t at = 0; at < scp.size();) {
    const std::size_t end = scp.find('\n', at);
    std::string line = scp.substr(at, end - at);
    line.insert(line.find(' ') + 1, "/no/such/place/");
    moved += line + "\n";
    at = end + 1;
  }
  WriteFileAtomically(folder / "one" / "xvector.scp", moved);
  ExpectSame(ReadEmbeddings(folder / "one"), Example());
  WriteFileAtomically(folder / "one" / "xvector.scp", "a-1 other.ark:4\n");
  EXPECT_REFUSED(ReadEmbeddings(folder / "one"), "no file 'other.ark'");
  WriteFileAtomically(folder / "one" / "xvector.scp", "a-1 cat xvector.ark |\n");
  EXPECT_REFUSED(ReadEmbeddings(folder / "one"), "pipe");
  WriteFileAtomically(folder / "one" / "xvector.scp", "a-1 xvector.ark:99999\n");
  EXPECT_REFUSED(ReadEmbeddings(folder / "one"), "behind the end");
}

TEST(Embeddings, WhatIsMissingIsCounted) {
  EmbeddingSet set = Example();
  set.speakers.clear();
  EXPECT_REFUSED(AddSpeakers(set, "a-1 a\n", "utt2spk"),
                 "2 of 3 embeddings without a speaker (the first: 'a-2')");
  EXPECT_REFUSED(AddSpeakers(set, "a-1 a\na-2 a\nb-1 b\nc-1 c\n", "utt2spk"),
                 "1 of 4 utterances without an embedding (the first: 'c-1')");
  EXPECT_REFUSED(AddSpeakers(set, "a-1 a\na-1 a\n", "utt2spk"), "twice");
  EXPECT_REFUSED(AddGenders(set, "a x\n", "spk2gender"), "allowed are f and m");
  EXPECT_REFUSED(RequireGenders(Example(), "here"), "1 of 2 speakers have no gender");
  EXPECT_REFUSED(ParseArk("a [ 1 2 ]\na [ 1 2 ]\n", "x"), "1 ids appear twice");
  EXPECT_REFUSED(ParseArk("a [ 1 nan ]\nb [ inf 2 ]\n", "x"), "2 of 2 embeddings hold NaN");
  EXPECT_REFUSED(ParseArk("a [ 1 2 ]\nb [ 1 ]\n", "x"), "has 1 numbers");
  EXPECT_REFUSED(ParseArk("a [ 1 2\n", "x"), "not a number");
  EXPECT_REFUSED(ParseArk("", "x"), "no embeddings");
  EXPECT_REFUSED(ParseArk(std::string_view("a \0BFM \4\1\0\0\0\4\0\0\0\0", 17), "x"), "FV or DV");
  EXPECT_REFUSED(ParseArk(std::string_view("a \0BFV \4\xff\xff\xff\x7f", 12), "x"), "not fit");
  EXPECT_REFUSED(ParseNpyEmbeddings(TwoValues(2), "a\nb\n", "x"), "each of the 2");
}

TEST(Embeddings, ForgedNpyShapesAreRefused) {
  const std::string good = TwoValues(1);
  EXPECT_EQ(good.size() % 64, 8U);
  EXPECT_EQ(ParseNpyView(good, "x").shape, (std::vector<std::size_t>{2, 1}));
  std::string bad = good;
  bad.replace(bad.find("(2, 1)"), 6, "(2, 9)");
  EXPECT_REFUSED(ParseNpyView(bad, "x"), "2 x 9");
  bad = good;
  bad.replace(bad.find("False"), 5, "True ");
  EXPECT_REFUSED(ParseNpyView(bad, "x"), "Fortran");
}

TEST(Embeddings, SelectKeepsLabels) {
  const EmbeddingSet chosen = Example().Select({2, 0});
  EXPECT_EQ(chosen.ids, (std::vector<std::string>{"b-1", "a-1"}));
  EXPECT_EQ(chosen.speakers, (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(chosen.vectors(1, 0), Example().vectors(1, 2));
  EXPECT_EQ(chosen.WithoutGender(), std::vector<std::string>{"b"});
}

TEST(Embeddings, TheFieldsOwnFoldersAreRead) {
  SOTTO_NEEDS_SHARED("data/xvectors");
  const auto xvectors = testing::SharedFolder() / "data/xvectors";
  const EmbeddingSet enrolls = ReadEmbeddings(xvectors / "b1/enrolls");
  EXPECT_EQ(enrolls.size(), 438U);
  EXPECT_EQ(enrolls.Dimension(), 512);
  EXPECT_EQ(enrolls.BySpeaker().size(), 29U);
  EXPECT_TRUE(enrolls.WithoutGender().empty());
  EXPECT_TRUE(ParseArk(ReadTextFile(xvectors / "b1/enrolls/xvector.ark"), "ark").vectors ==
              enrolls.vectors);
  const EmbeddingSet pool = ReadEmbeddings(xvectors / "b1_pool/spk_xvector.ark");
  EXPECT_EQ(pool.size(), 1160U);
}

}  // namespace
}  // namespace sotto
