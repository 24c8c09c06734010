// Taggers that others trained, as ONNX: models that give each piece of a text scores of labels
// ("token classification"). A small JSON beside the model ("ner.json" beside "ner.onnx") says what
// the file itself does not:
//
//   {"input": "input_ids", "mask": "attention_mask", "segments": "token_type_ids",
//    "output": "logits", "vocabulary": "vocab.txt", "pieces": "wordpiece", "lower_case": true,
//    "unknown": "[UNK]", "begin": "[CLS]", "end": "[SEP]", "most_pieces": 512,
//    "labels": ["O", "B-PER", "I-PER", "B-LOC", "I-LOC", "B-ORG", "I-ORG", "B-MISC", "I-MISC"]}
//
// input     numbers of pieces [1, n] (int64); mask (ones) and segments (zeros) where the model asks
// output    scores [1, n, labels]
// pieces    "words": a word is one piece; "wordpiece": the longest pieces of the vocabulary, from
//           the left, those within a word behind "##" (Wu et al. 2016, § 4.1)
// vocabulary  a piece a line, its number counted from 0; beside the model
// begin, end  pieces before and after each passage; none where they are not given
// labels    in their order: "O", or a type behind "B-", "I-", "E-", "S-" or nothing: PER,
//           PERSON; LOC, LOCATION, GPE; ORG, ORGANIZATION, ORGANISATION; DATE; TIME; others are no
//           entities here
//
// A word has the label of its first piece. Long texts go in passages of at most `most_pieces`, each
// with words around it that are read and not kept.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "onnx/session.h"
#include "text/bio_labels.h"
#include "text/entity_finder.h"

namespace sotto {

struct ForeignTaggerDescription {
  enum class Pieces { kWords, kWordPiece };

  std::string input, output, vocabulary;  // required, as are labels
  std::optional<std::string> mask, segments, begin, end;
  Pieces pieces = Pieces::kWordPiece;
  bool lower_case = false;
  std::string unknown = "[UNK]";
  std::size_t most_pieces = 512;
  // Of each label of the model.
  std::vector<std::optional<EntityType>> types;
  std::vector<bool> begins;  // that a new entity begins, whatever stands before it
};

// Throws Error naming `where`, the field and what is allowed. Fields that are not known are one.
ForeignTaggerDescription ParseForeignTagger(std::string_view json, const std::string& where);

// From words to the numbers of their pieces.
class PieceVocabulary {
 public:
  // Throws Error naming `where` where a piece of the description is not in it.
  PieceVocabulary(std::string_view lines, const ForeignTaggerDescription& description,
                  const std::string& where);
  // At least one.
  std::vector<std::int64_t> PiecesOf(std::string_view word) const;
  std::optional<std::int64_t> Find(std::string_view piece) const;

 private:
  bool AddPieces(std::string_view part, std::vector<std::int64_t>& pieces) const;

  std::unordered_map<std::string, std::int64_t> numbers_;
  bool word_pieces_, lower_case_;
  std::int64_t unknown_ = 0;
};

class ForeignTaggerFinder : public EntityFinder {
 public:
  // Reads x.onnx, x.json and the vocabulary beside them.
  ForeignTaggerFinder(const std::filesystem::path& model, const ModelFolders& libraries);
  std::vector<Entity> Find(std::string_view text) const override;

 private:
  struct Labelled {
    std::optional<EntityType> type;
    bool begins = false;
    double probability = 0.0;
  };
  // Of the words begin … end − 1, whose pieces fit in a passage.
  std::vector<Labelled> Passage(const std::vector<std::vector<std::int64_t>>& words,
                                std::size_t begin, std::size_t end) const;

  std::string name_;
  ForeignTaggerDescription description_;
  std::unique_ptr<PieceVocabulary> vocabulary_;
  std::unique_ptr<OnnxSession> session_;
};

}  // namespace sotto
