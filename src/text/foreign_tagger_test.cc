#include "text/foreign_tagger.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/error.h"
#include "base/files.h"
#include "base/testing.h"
#include "onnx/testing.h"

namespace sotto {
namespace {

using enum EntityType;
using testing::ProtoWriter;
using testing::TemporaryFolder;

const char* const kDescription =
    R"({"input": "ids", "output": "scores", "vocabulary": "vocab.txt", "lower_case": true,)"
    R"( "begin": "[CLS]", "end": "[SEP]", "most_pieces": 32,)"
    R"( "labels": ["O", "B-PER", "I-PER", "B-LOC", "B-MISC"]})";
const char* const kVocabulary = "[UNK]\n[CLS]\n[SEP]\ncall\nann\n##a\nmay\nin\nwels\nnorth\n-\n";

// Scores of each piece by a table alone: Gather(table, ids).
std::string TableModel(std::size_t pieces, std::size_t labels, const std::vector<float>& table) {
  std::string raw(table.size() * sizeof(float), '\0');
  std::memcpy(raw.data(), table.data(), raw.size());
  const ProtoWriter initializer =
      ProtoWriter().Int(1, pieces).Int(1, labels).Int(2, 1).Bytes(8, "t").Bytes(9, raw);
  const ProtoWriter gather =
      ProtoWriter().Bytes(1, "t").Bytes(1, "ids").Bytes(2, "scores").Bytes(4, "Gather");
  const ProtoWriter shape =
      ProtoWriter().Message(1, ProtoWriter().Int(1, 1)).Message(1, ProtoWriter().Bytes(2, "n"));
  const ProtoWriter ids = ProtoWriter().Bytes(1, "ids").Message(
      2, ProtoWriter().Message(1, ProtoWriter().Int(1, 7).Message(2, shape)));
  const ProtoWriter graph =
      ProtoWriter()
          .Message(1, gather)
          .Bytes(2, "table")
          .Message(5, initializer)
          .Message(11, ids)
          .Message(12, testing::TensorOf("scores", {1, -1, static_cast<std::int64_t>(labels)}));
  return ProtoWriter().Int(1, 8).Message(7, graph).Message(8, ProtoWriter().Int(2, 13)).Text();
}

std::string MessageOf(const std::string& json) {
  try {
    ParseForeignTagger(json, "ner.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(ForeignTagger, ADescriptionIsReadWholeOrRefused) {
  const auto description = ParseForeignTagger(kDescription, "ner.json");
  EXPECT_EQ(description.types, (std::vector<std::optional<EntityType>>{
                                   std::nullopt, kPerson, kPerson, kLocation, std::nullopt}));
  EXPECT_EQ(description.begins, (std::vector<bool>{false, true, false, true, true}));
  EXPECT_EQ(description.most_pieces, 32u);
  std::string json = kDescription;
  EXPECT_EQ(MessageOf("{}"), "ner.json: 'input' is missing");
  EXPECT_EQ(MessageOf(json.insert(1, R"("imput": "x", )")), "ner.json: 'imput' is no setting");
  EXPECT_EQ(MessageOf(R"({"input": "a", "output": "b", "vocabulary": "c", "labels": ["O", "X"]})"),
            "ner.json: 'labels': none is of PER, LOC, ORG, DATE, TIME");
  EXPECT_EQ(MessageOf(R"({"input": "a", "output": "b", "vocabulary": "c", "pieces": "bpe"})"),
            "ner.json: 'pieces': \"words\" or \"wordpiece\" is allowed");
}

TEST(ForeignTagger, WordsFallIntoTheLongestPieces) {
  const auto description = ParseForeignTagger(kDescription, "ner.json");
  const PieceVocabulary vocabulary(kVocabulary, description, "vocab.txt");
  EXPECT_EQ(vocabulary.PiecesOf("Anna"), (std::vector<std::int64_t>{4, 5}));
  EXPECT_EQ(vocabulary.PiecesOf("anno"), std::vector<std::int64_t>{0});
  EXPECT_EQ(vocabulary.PiecesOf("north-wels"), (std::vector<std::int64_t>{9, 10, 8}));
  EXPECT_EQ(vocabulary.PiecesOf(std::string(1000, 'a')), std::vector<std::int64_t>{0});
  EXPECT_THROW(PieceVocabulary("[CLS]\n[SEP]\n", description, "vocab.txt"), Error);
}

TEST(ForeignTagger, FindsWhatTheModelSaysInTextsOfAnyLength) {
  SOTTO_NEEDS_MODEL("onnxruntime/libonnxruntime.so.1");
  const TemporaryFolder folder;
  std::vector<float> table(11 * 5, 0.0F);
  for (std::size_t piece = 0; piece < 11; ++piece) table[piece * 5] = 3.0F;
  table[4 * 5 + 1] = 9.0F;  // ann: B-PER
  table[6 * 5 + 2] = 9.0F;  // may: I-PER
  table[8 * 5 + 3] = 9.0F;  // wels: B-LOC
  table[9 * 5 + 4] = 9.0F;  // north: B-MISC
  WriteFileAtomically(folder / "ner.onnx", TableModel(11, 5, table));
  WriteFileAtomically(folder / "ner.json", kDescription);
  WriteFileAtomically(folder / "vocab.txt", kVocabulary);
  const ForeignTaggerFinder finder(folder / "ner.onnx", testing::TestModels());
  const std::string line = "call Anna May in Wels north ";
  const auto found = finder.Find(line);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(line.substr(found[0].begin, found[0].end - found[0].begin), "Anna May");
  EXPECT_EQ(found[0].type, kPerson);
  EXPECT_GT(found[0].confidence, 0.99);
  EXPECT_EQ(found[1].type, kLocation);
  std::string text;
  for (int i = 0; i < 50; ++i) text += line;
  EXPECT_EQ(finder.Find(text).size(), 100u);
  EXPECT_TRUE(finder.Find("").empty());

  FinderOptions options;
  options.model = folder / "ner.onnx";
  EXPECT_EQ(MakeEntityFinder(options)->Find(line).size(), 2u);
  options.recall = 0.9;
  EXPECT_THROW(MakeEntityFinder(options), Error);
  // A table of another size than the labels.
  WriteFileAtomically(folder / "ner.onnx", TableModel(11, 1, std::vector<float>(11, 0.0F)));
  EXPECT_THROW(ForeignTaggerFinder(folder / "ner.onnx", testing::TestModels()).Find(line), Error);
}

}  // namespace
}  // namespace sotto
