#include "text/foreign_tagger.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/tsv.h"
#include "text/tokens.h"
#include "text/utf8.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;

std::optional<EntityType> TypeNamed(std::string_view name) {
  using enum EntityType;
  static const std::map<std::string_view, EntityType> types = {{"PER", kPerson},
                                                               {"PERSON", kPerson},
                                                               {"LOC", kLocation},
                                                               {"LOCATION", kLocation},
                                                               {"GPE", kLocation},
                                                               {"ORG", kOrganisation},
                                                               {"ORGANIZATION", kOrganisation},
                                                               {"ORGANISATION", kOrganisation},
                                                               {"DATE", kDate},
                                                               {"TIME", kTime}};
  const auto at = types.find(name);
  return at == types.end() ? std::nullopt : std::optional(at->second);
}

// One object of texts, with what was asked for remembered.
class Object {
 public:
  Object(std::string_view json, const std::string& where) : where_(where) {
    try {
      json_ = ParseJson(json);
    } catch (const nlohmann::json::exception& thrown) {
      throw Error(where_ + ": " + JsonTrouble(thrown));
    }
    if (!json_.is_object()) throw Error(where_ + ": a JSON object is expected");
  }

  const nlohmann::json* Find(const std::string& key) {
    known_.push_back(key);
    const auto at = json_.find(key);
    return at == json_.end() ? nullptr : &*at;
  }
  std::optional<std::string> Text(const std::string& key) {
    const auto* value = Find(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_string() || value->get<std::string>().empty()) {
      throw Error(fmt::format("{}: '{}': a text that is not empty is allowed", where_, key));
    }
    return value->get<std::string>();
  }
  std::string Required(const std::string& key) {
    auto text = Text(key);
    if (!text) throw Error(fmt::format("{}: '{}' is missing", where_, key));
    return *std::move(text);
  }
  void RefuseOthers() const {
    for (const auto& [key, value] : json_.items()) {
      if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
        throw Error(fmt::format("{}: '{}' is no setting", where_, key));
      }
    }
  }

 private:
  nlohmann::json json_;
  std::string where_;
  std::vector<std::string> known_;
};

void ReadLabels(const nlohmann::json* labels, const std::string& where,
                ForeignTaggerDescription& description) {
  const std::string wanted = where + ": 'labels': a list of texts, 2 or more, is needed";
  if (labels == nullptr || !labels->is_array() || labels->size() < 2) throw Error(wanted);
  for (const auto& entry : *labels) {
    if (!entry.is_string()) throw Error(wanted);
    std::string label = entry.get<std::string>();
    std::transform(label.begin(), label.end(), label.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    const bool tagged = label.size() > 2 && (label[1] == '-' || label[1] == '_') &&
                        std::string_view("BIES").find(label[0]) != std::string_view::npos;
    description.begins.push_back(tagged && (label[0] == 'B' || label[0] == 'S'));
    description.types.push_back(TypeNamed(tagged ? std::string_view(label).substr(2) : label));
  }
  const bool any = std::any_of(description.types.begin(), description.types.end(),
                               [](const auto& type) { return type.has_value(); });
  if (!any) throw Error(where + ": 'labels': none is of PER, LOC, ORG, DATE, TIME");
}

bool IsAsciiSign(char c) {
  return c > ' ' && c < 0x7F && std::isalnum(static_cast<unsigned char>(c)) == 0;
}

}  // namespace

ForeignTaggerDescription ParseForeignTagger(std::string_view json, const std::string& where) {
  Object object(json, where);
  ForeignTaggerDescription description;
  description.input = object.Required("input");
  description.output = object.Required("output");
  description.vocabulary = object.Required("vocabulary");
  description.mask = object.Text("mask");
  description.segments = object.Text("segments");
  description.begin = object.Text("begin");
  description.end = object.Text("end");
  description.unknown = object.Text("unknown").value_or(description.unknown);
  const auto pieces = object.Text("pieces").value_or("wordpiece");
  if (pieces != "words" && pieces != "wordpiece") {
    throw Error(where + ": 'pieces': \"words\" or \"wordpiece\" is allowed");
  }
  if (pieces == "words") description.pieces = ForeignTaggerDescription::Pieces::kWords;
  if (const auto* lower = object.Find("lower_case")) {
    if (!lower->is_boolean()) throw Error(where + ": 'lower_case': true or false is allowed");
    description.lower_case = lower->get<bool>();
  }
  if (const auto* most = object.Find("most_pieces")) {
    if (!most->is_number_integer() || most->get<std::int64_t>() < 16 ||
        most->get<std::int64_t>() > 65536) {
      throw Error(where + ": 'most_pieces': a whole number from 16 to 65536 is allowed");
    }
    description.most_pieces = most->get<std::size_t>();
  }
  ReadLabels(object.Find("labels"), where, description);
  object.RefuseOthers();
  return description;
}

PieceVocabulary::PieceVocabulary(std::string_view lines,
                                 const ForeignTaggerDescription& description,
                                 const std::string& where)
    : word_pieces_(description.pieces == ForeignTaggerDescription::Pieces::kWordPiece),
      lower_case_(description.lower_case) {
  std::int64_t number = 0;
  for (const auto line : SplitLines(lines)) numbers_.emplace(line, number++);
  for (const auto& piece :
       {std::optional(description.unknown), description.begin, description.end}) {
    if (piece && !Find(*piece)) {
      throw Error(fmt::format("{}: no piece '{}', which the description asks for", where, *piece));
    }
  }
  unknown_ = *Find(description.unknown);
}

std::optional<std::int64_t> PieceVocabulary::Find(std::string_view piece) const {
  const auto at = numbers_.find(std::string(piece));
  return at == numbers_.end() ? std::nullopt : std::optional(at->second);
}

bool PieceVocabulary::AddPieces(std::string_view part, std::vector<std::int64_t>& pieces) const {
  // Longer words are no words; and time stays linear.
  constexpr std::size_t kLongest = 100;
  if (part.size() > kLongest) return false;
  const std::size_t before = pieces.size();
  for (std::size_t at = 0; at < part.size();) {
    std::size_t end = part.size();
    std::optional<std::int64_t> found;
    for (; end > at && !found; --end) {
      found = Find((at == 0 ? "" : "##") + std::string(part.substr(at, end - at)));
      if (found) break;
    }
    if (!found) {
      pieces.resize(before);
      return false;
    }
    pieces.push_back(*found);
    at = end;
  }
  return true;
}

std::vector<std::int64_t> PieceVocabulary::PiecesOf(std::string_view word) const {
  const std::string lower = lower_case_ ? LowerCase(word) : std::string(word);
  if (!word_pieces_) return {Find(lower).value_or(unknown_)};
  std::vector<std::int64_t> pieces;
  // Signs within a word are words of their own to such models.
  for (std::size_t at = 0; at < lower.size();) {
    std::size_t end = at + 1;
    if (!IsAsciiSign(lower[at])) {
      while (end < lower.size() && !IsAsciiSign(lower[end])) ++end;
    }
    if (!AddPieces(std::string_view(lower).substr(at, end - at), pieces)) {
      pieces.push_back(unknown_);
    }
    at = end;
  }
  if (pieces.empty()) pieces.push_back(unknown_);
  return pieces;
}

ForeignTaggerFinder::ForeignTaggerFinder(const fs::path& model, const ModelFolders& libraries)
    : name_(model.string()) {
  fs::path beside = model;
  beside.replace_extension(".json");
  description_ = ParseForeignTagger(ReadTextFile(beside), beside.string());
  const fs::path vocabulary =
      JoinInside(model.parent_path().empty() ? "." : model.parent_path(), description_.vocabulary);
  vocabulary_ = std::make_unique<PieceVocabulary>(ReadTextFile(vocabulary), description_,
                                                  vocabulary.string());
  const std::string bytes = ReadTextFile(model);
  session_ = std::make_unique<OnnxSession>(OnnxRuntime::Open(libraries), bytes, name_);
  session_->Input(description_.input);
  session_->Output(description_.output);
}

std::vector<ForeignTaggerFinder::Labelled> ForeignTaggerFinder::Passage(
    const std::vector<std::vector<std::int64_t>>& words, std::size_t begin, std::size_t end) const {
  std::vector<std::int64_t> pieces;
  if (description_.begin) pieces.push_back(*vocabulary_->Find(*description_.begin));
  std::vector<std::size_t> first;
  for (std::size_t i = begin; i < end; ++i) {
    first.push_back(pieces.size());
    pieces.insert(pieces.end(), words[i].begin(), words[i].end());
  }
  if (description_.end) pieces.push_back(*vocabulary_->Find(*description_.end));
  const auto n = static_cast<std::int64_t>(pieces.size());
  const auto& runtime = session_->Runtime();
  const auto input = OnnxTensor::Ints(runtime, pieces, {1, n});
  const auto ones = OnnxTensor::Ints(runtime, std::vector<std::int64_t>(pieces.size(), 1), {1, n});
  const auto zeros = OnnxTensor::Ints(runtime, std::vector<std::int64_t>(pieces.size(), 0), {1, n});
  std::vector<OnnxSession::Named> inputs = {{description_.input, &input}};
  if (description_.mask) inputs.emplace_back(*description_.mask, &ones);
  if (description_.segments) inputs.emplace_back(*description_.segments, &zeros);
  const std::vector<std::string> outputs = {description_.output};
  const auto output = session_->Run(inputs, outputs);
  const auto labels = static_cast<std::int64_t>(description_.types.size());
  if (output[0].Shape() != std::vector<std::int64_t>{1, n, labels}) {
    throw Error(fmt::format("{}: output '{}' must have the shape [1, {}, {}], of pieces and labels",
                            name_, description_.output, n, labels));
  }
  const auto scores = output[0].Floats();
  std::vector<Labelled> labelled;
  for (const std::size_t at : first) {
    const auto row =
        scores.subspan(at * static_cast<std::size_t>(labels), static_cast<std::size_t>(labels));
    const auto best =
        static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin());
    double sum = 0.0;
    for (const float score : row) {
      if (!std::isfinite(score)) throw Error(name_ + ": a score that is not finite");
      sum += std::exp(static_cast<double>(score) - static_cast<double>(row[best]));
    }
    labelled.push_back({description_.types[best], description_.begins[best], 1.0 / sum});
  }
  return labelled;
}

std::vector<Entity> ForeignTaggerFinder::Find(std::string_view text) const {
  const auto tokens = Tokenise(text);
  // No word may take a passage for itself alone.
  const std::size_t room = description_.most_pieces - 2, most_of_a_word = room / 2;
  const std::size_t context = room / 8;
  std::vector<Entity> entities;
  bool open = false;
  for (std::size_t begin = 0; begin < tokens.size();) {
    // Words of the passage: some before, then as many as there is room for; of those at the end
    // some are read alone, unless it is the text's end.
    std::size_t from = begin, used = 0;
    std::vector<std::vector<std::int64_t>> words;
    const auto pieces_of = [&](std::size_t i) {
      auto pieces =
          vocabulary_->PiecesOf(text.substr(tokens[i].begin, tokens[i].end - tokens[i].begin));
      if (pieces.size() > most_of_a_word) pieces.resize(most_of_a_word);
      return pieces;
    };
    while (from > 0) {
      auto pieces = pieces_of(from - 1);
      if (used + pieces.size() > context) break;
      used += pieces.size();
      words.insert(words.begin(), std::move(pieces));
      --from;
    }
    std::size_t end = begin, kept = begin;
    while (end < tokens.size()) {
      auto pieces = pieces_of(end);
      if (used + pieces.size() > room) break;
      used += pieces.size();
      words.push_back(std::move(pieces));
      ++end;
      if (used + context <= room) kept = end;
    }
    if (end == tokens.size() || kept == begin) kept = end;
    const auto labelled = Passage(words, 0, words.size());
    for (std::size_t i = begin; i < kept; ++i) {
      const Labelled& label = labelled[i - from];
      if (label.type && open && !label.begins && entities.back().type == *label.type) {
        entities.back().end = tokens[i].end;
        entities.back().confidence = std::min(entities.back().confidence, label.probability);
      } else if (label.type) {
        entities.push_back({tokens[i].begin, tokens[i].end, *label.type, label.probability});
      }
      open = label.type.has_value();
    }
    begin = kept;
  }
  return entities;
}

}  // namespace sotto
