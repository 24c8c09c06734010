#include "text/labelled_corpora.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/tsv.h"
#include "text/mended_text.h"
#include "text/utf8.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;

std::string ReadMended(const fs::path& path) {
  std::string text = MendedText(ReadTextFile(path));
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  return text;
}

std::string_view Trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string_view WithoutPossessive(std::string_view text) {
  if (text.size() > 2 && text.ends_with("'s")) text.remove_suffix(2);
  if (text.size() > 4 && text.ends_with("\u2019s")) text.remove_suffix(4);
  return Trimmed(text);
}

// Puts a sentence together from pieces, some of them entities.
class SentenceBuilder {
 public:
  void Add(std::string_view plain) {
    text_ += plain;
    pattern_ += LowerCase(plain);
  }
  // `slot` stands for it in the template.
  void AddEntity(std::string_view words, EntityType type, std::string_view slot) {
    const auto core = WithoutPossessive(words);
    if (!core.empty()) {
      const std::size_t begin = text_.size() + static_cast<std::size_t>(core.data() - words.data());
      entities_.push_back({begin, begin + core.size(), type});
    }
    AddSlot(words, slot);
  }
  // Something that is filled in the template and no entity.
  void AddSlot(std::string_view words, std::string_view slot) {
    text_ += words;
    pattern_ += fmt::format("<{}>", slot);
  }
  // Names between words that are none.
  void AddNames(std::string_view words, std::string_view slot) {
    static constexpr std::array<std::string_view, 70> kNoNames = {"and",
                                                                  "i",
                                                                  "me",
                                                                  "my",
                                                                  "mine",
                                                                  "we",
                                                                  "us",
                                                                  "our",
                                                                  "your",
                                                                  "his",
                                                                  "her",
                                                                  "their",
                                                                  "myself",
                                                                  "mother",
                                                                  "father",
                                                                  "mom",
                                                                  "mum",
                                                                  "dad",
                                                                  "son",
                                                                  "sons",
                                                                  "daughter",
                                                                  "daughters",
                                                                  "brother",
                                                                  "brothers",
                                                                  "sister",
                                                                  "sisters",
                                                                  "wife",
                                                                  "husband",
                                                                  "parents",
                                                                  "children",
                                                                  "child",
                                                                  "kids",
                                                                  "kid",
                                                                  "baby",
                                                                  "babies",
                                                                  "teens",
                                                                  "friend",
                                                                  "friends",
                                                                  "colleague",
                                                                  "colleagues",
                                                                  "uncle",
                                                                  "aunt",
                                                                  "aunts",
                                                                  "uncles",
                                                                  "cousin",
                                                                  "cousins",
                                                                  "nephew",
                                                                  "nephews",
                                                                  "niece",
                                                                  "nieces",
                                                                  "great",
                                                                  "grandmother",
                                                                  "grandfather",
                                                                  "grandson",
                                                                  "granddaughter",
                                                                  "grandparents",
                                                                  "grandchildren",
                                                                  "step",
                                                                  "in-laws",
                                                                  "family",
                                                                  "girlfriend",
                                                                  "boyfriend",
                                                                  "a",
                                                                  "the",
                                                                  "of",
                                                                  "for",
                                                                  "with",
                                                                  "people",
                                                                  "party",
                                                                  "adult"};
    const std::size_t base = text_.size();
    std::optional<Entity> open;
    const auto close = [&] {
      if (open) entities_.push_back(*open);
      open.reset();
    };
    for (const auto& token : Tokenise(words)) {
      const std::string word = LowerCase(words.substr(token.begin, token.end - token.begin));
      const bool name = word != "'s" && word != "\u2019s" && word.find_first_of(",.&") != 0 &&
                        std::find(kNoNames.begin(), kNoNames.end(), word) == kNoNames.end();
      if (!name) {
        close();
      } else if (open) {
        open->end = base + token.end;
      } else {
        open = Entity{base + token.begin, base + token.end, EntityType::kPerson};
      }
    }
    close();
    AddSlot(words, slot);
  }

  LabelledSentence Take() {
    auto sentence = MakeSentence(std::move(text_), entities_);
    sentence.pattern = std::move(pattern_);
    *this = {};
    return sentence;
  }

 private:
  std::string text_, pattern_;
  std::vector<Entity> entities_;
};

std::optional<EntityType> AssistantType(std::string_view slot) {
  using enum EntityType;
  if (slot == "person" || slot == "artist_name" || slot == "audiobook_author") return kPerson;
  if (slot == "place_name") return kLocation;
  if (slot == "business_name" || slot == "transport_agency") return kOrganisation;
  if (slot == "date") return kDate;
  if (slot == "time" || slot == "timeofday") return kTime;
  return std::nullopt;
}

// "wake me at [time : five am]".
LabelledSentence ParseBrackets(std::string_view annotation, const std::string& where) {
  SentenceBuilder builder;
  while (true) {
    const auto open = annotation.find('[');
    builder.Add(annotation.substr(0, open));
    if (open == std::string_view::npos) return builder.Take();
    const auto colon = annotation.find(':', open), close = annotation.find(']', open);
    if (colon == std::string_view::npos || close == std::string_view::npos || colon > close) {
      throw Error(fmt::format("{}: '[' without \"slot : words]\" after it", where));
    }
    const auto slot = Trimmed(annotation.substr(open + 1, colon - open - 1));
    const auto words = Trimmed(annotation.substr(colon + 1, close - colon - 1));
    if (const auto type = AssistantType(slot)) {
      builder.AddEntity(words, *type, slot);
    } else {
      builder.AddSlot(words, slot);
    }
    annotation.remove_prefix(close + 1);
  }
}

void AddSnipsPiece(std::string_view words, std::string_view slot, SentenceBuilder& builder) {
  using enum EntityType;
  static const std::map<std::string_view, EntityType> types = {{"artist", kPerson},
                                                               {"city", kLocation},
                                                               {"state", kLocation},
                                                               {"country", kLocation},
                                                               {"poi", kLocation},
                                                               {"geographic_poi", kLocation},
                                                               {"location_name", kLocation},
                                                               {"current_location", kLocation},
                                                               {"restaurant_name", kOrganisation},
                                                               {"year", kDate}};
  if (slot == "timeRange") {
    builder.AddEntity(words, TimeOrDate(words), slot);
  } else if (slot == "playlist_owner" || slot == "party_size_description") {
    builder.AddNames(words, slot);
  } else if (const auto at = types.find(slot); at != types.end()) {
    builder.AddEntity(words, at->second, slot);
  } else {
    builder.AddSlot(words, slot);
  }
}

// Tokens of a corpus of words in columns, as ordinary text.
class ColumnSentence {
 public:
  void Add(std::string_view word, std::string_view tag) {
    const auto type = tag.ends_with("-PER")   ? std::optional(EntityType::kPerson)
                      : tag.ends_with("-LOC") ? std::optional(EntityType::kLocation)
                      : tag.ends_with("-ORG") ? std::optional(EntityType::kOrganisation)
                                              : std::nullopt;
    if (!text_.empty() && !Joins(word)) text_ += ' ';
    // A name behind '@' or '#' is the name alone; some parts of the corpus mark the sign, as a word
    // of its own or as the name's first letter.
    const bool signs = word[0] == '@' || word[0] == '#';
    const std::size_t begin = text_.size() + (signs ? 1 : 0);
    text_ += word;
    const bool alone = signs && word.size() == 1;
    if (type && before_ == type && tag[0] == 'I' && !entities_.empty()) {
      entities_.back().end = text_.size();
    } else if (type && !alone) {
      entities_.push_back({begin, text_.size(), *type});
    }
    before_ = alone ? std::nullopt : type;
    last_ = word;
  }
  bool Empty() const { return text_.empty(); }
  LabelledSentence Take() {
    auto sentence = MakeSentence(std::move(text_), entities_);
    sentence.annotated[static_cast<std::size_t>(EntityType::kDate)] = false;
    sentence.annotated[static_cast<std::size_t>(EntityType::kTime)] = false;
    sentence.pattern = LowerCase(sentence.text);
    *this = {};
    return sentence;
  }

 private:
  // Whether it stands at the word before it without a space.
  bool Joins(std::string_view word) const {
    static constexpr std::array<std::string_view, 17> kLeft = {
        ".",  ",",   ";",   ":",   "!",   "?",  ")",  "]",      "%",
        "'s", "n't", "'re", "'ve", "'ll", "'d", "'m", "\u2019s"};
    if (last_ == "(" || last_ == "[" || last_ == "$" || last_ == "#" || last_ == "@") return true;
    return std::find(kLeft.begin(), kLeft.end(), word) != kLeft.end();
  }

  std::string text_, last_;
  std::vector<Entity> entities_;
  std::optional<EntityType> before_;
};

void ReadColumns(const fs::path& path, bool tabs, std::vector<LabelledSentence>& sentences) {
  const std::string text = ReadMended(path);
  ColumnSentence sentence;
  std::size_t number = 0;
  const auto finish = [&] {
    if (!sentence.Empty()) sentences.push_back(sentence.Take());
  };
  for (const auto line : SplitLines(text)) {
    ++number;
    if (Trimmed(line).empty()) {
      finish();
      continue;
    }
    const auto fields = tabs ? SplitTabs(line) : SplitBlanks(line);
    // Between words that are empty stands an invisible character; they say nothing.
    if (fields.size() < 2) continue;
    const auto tag = fields.back();
    if (tag != "O" && (tag.size() < 3 || tag[1] != '-')) {
      throw Error(fmt::format("{}: line {}: the last column is no label (O, B-PER, I-LOC, …)",
                              path.string(), number));
    }
    if (!Trimmed(fields[0]).empty()) sentence.Add(Trimmed(fields[0]), tag);
  }
  finish();
}

nlohmann::json ParseFile(const fs::path& path, std::string_view text) {
  try {
    return ParseJson(text);
  } catch (const nlohmann::json::exception& thrown) {
    throw Error(path.string() + ": " + JsonTrouble(thrown));
  }
}

// What the library throws about fields that are missing or of another kind, in our words.
template <typename Read>
void Fields(const fs::path& path, const Read& read) {
  try {
    read();
  } catch (const nlohmann::json::exception& thrown) {
    throw Error(path.string() + ": " + JsonTrouble(thrown));
  }
}

}  // namespace

LabelledCorpus ReadNluEval(const fs::path& tsv) {
  LabelledCorpus corpus{"nlu_eval", {}};
  const std::string text = ReadMended(tsv);
  std::size_t number = 0;
  for (const auto line : SplitLines(text)) {
    if (++number == 1 || line.empty()) continue;
    const auto fields = SplitTabs(line);
    const std::string where = fmt::format("{}: line {}", tsv.string(), number);
    if (fields.size() != 2) {
      throw Error(fmt::format("{}: {} columns where intent and annotation should be", where,
                              fields.size()));
    }
    corpus.sentences.push_back(ParseBrackets(fields[1], where));
  }
  return corpus;
}

LabelledCorpus ReadSlurp(const fs::path& jsonl) {
  LabelledCorpus corpus{"slurp", {}};
  const std::string text = ReadMended(jsonl);
  std::size_t number = 0;
  for (const auto line : SplitLines(text)) {
    ++number;
    if (line.empty()) continue;
    const std::string where = fmt::format("{}: line {}", jsonl.string(), number);
    const auto json = TryParseJson(line);
    if (!json.is_object() || !json.contains("annotation") || !json["annotation"].is_string()) {
      throw Error(where + ": no JSON object with a text 'annotation'");
    }
    corpus.sentences.push_back(ParseBrackets(json["annotation"].get<std::string>(), where));
  }
  return corpus;
}

LabelledCorpus ReadSnips(const fs::path& folder) {
  LabelledCorpus corpus{"snips", {}};
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  if (files.empty()) throw Error(folder.string() + ": no .json in it");
  for (const auto& path : files) {
    Fields(path, [&] {
      const auto json = ParseFile(path, ReadMended(path));
      for (const auto& [intent, utterances] : json.items()) {
        for (const auto& utterance : utterances) {
          SentenceBuilder builder;
          for (const auto& piece : utterance.at("data")) {
            std::string words = piece.at("text").get<std::string>();
            std::replace(words.begin(), words.end(), '\n', ' ');
            if (piece.contains("entity")) {
              AddSnipsPiece(words, piece["entity"].get<std::string>(), builder);
            } else {
              builder.Add(words);
            }
          }
          corpus.sentences.push_back(builder.Take());
        }
      }
    });
  }
  return corpus;
}

LabelledCorpus ReadWikigold(const fs::path& conll) {
  LabelledCorpus corpus{"wikigold", {}};
  ReadColumns(conll, false, corpus.sentences);
  for (std::size_t i = corpus.sentences.size() * 7 / 10; i < corpus.sentences.size(); ++i) {
    corpus.sentences[i].part = CorpusPart::kReport;
  }
  return corpus;
}

LabelledCorpus ReadBtc(const fs::path& folder) {
  LabelledCorpus corpus{"btc", {}};
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".conll") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  if (files.empty()) throw Error(folder.string() + ": no .conll in it");
  for (const auto& path : files) {
    const std::size_t from = corpus.sentences.size();
    ReadColumns(path, true, corpus.sentences);
    if (path.stem() != "h") continue;
    for (std::size_t i = from; i < corpus.sentences.size(); ++i) {
      corpus.sentences[i].part = CorpusPart::kReport;
    }
  }
  return corpus;
}

LabelledCorpus ReadPresidio(const fs::path& path) {
  using enum EntityType;
  LabelledCorpus corpus{"presidio", {}};
  static const std::map<std::string, EntityType> types = {{"PERSON", kPerson},
                                                          {"LOCATION", kLocation},
                                                          {"ADDRESS", kLocation},
                                                          {"ORGANIZATION", kOrganisation}};
  Fields(path, [&] {
    for (const auto& entry : ParseFile(path, ReadMended(path))) {
      const auto text = entry.at("full_text").get<std::string>();
      // Their places count characters.
      std::vector<std::size_t> bytes;
      for (std::size_t at = 0; at < text.size(); at += DecodeUtf8(text, at).size) {
        bytes.push_back(at);
      }
      bytes.push_back(text.size());
      std::vector<Entity> entities;
      for (const auto& span : entry.at("spans")) {
        const auto begin = span.at("start_position").get<std::size_t>();
        const auto end = span.at("end_position").get<std::size_t>();
        if (begin >= end || end >= bytes.size()) {
          throw Error(fmt::format("{}: a span from {} to {} in a text of {} characters",
                                  path.string(), begin, end, bytes.size() - 1));
        }
        const auto kind = span.at("entity_type").get<std::string>();
        Entity entity{bytes[begin], bytes[end]};
        const auto words = std::string_view(text).substr(entity.begin, entity.end - entity.begin);
        entity.end = entity.begin + WithoutPossessive(words).size();
        const auto at = types.find(kind);
        if (at == types.end() && kind != "DATE_TIME") continue;
        entity.type = at != types.end() ? at->second : TimeOrDate(words);
        entities.push_back(entity);
      }
      auto sentence = MakeSentence(text, WithoutOverlap(std::move(entities)));
      sentence.annotated[static_cast<std::size_t>(kDate)] = false;
      sentence.annotated[static_cast<std::size_t>(kTime)] = false;
      sentence.pattern = fmt::format("presidio {}", entry.at("template_id").get<int>());
      corpus.sentences.push_back(std::move(sentence));
    }
  });
  return corpus;
}

std::vector<LabelledCorpus> ReadLabelledCorpora(const fs::path& folder) {
  using Reader = LabelledCorpus (*)(const fs::path&);
  static const std::vector<std::pair<const char*, Reader>> readers = {
      {"nlu_eval/annotated.tsv", ReadNluEval},
      {"slurp/devel.jsonl", ReadSlurp},
      {"snips", ReadSnips},
      {"wikigold/wikigold.conll.txt", ReadWikigold},
      {"btc", ReadBtc},
      {"presidio/generated_large.json", ReadPresidio}};
  std::vector<LabelledCorpus> corpora;
  for (const auto& [relative, read] : readers) {
    if (fs::exists(folder / relative)) corpora.push_back(read(folder / relative));
  }
  if (corpora.empty()) {
    throw Error(folder.string() +
                ": none of nlu_eval, slurp, snips, wikigold, btc, presidio in it");
  }
  SplitCorpora(corpora);
  return corpora;
}

}  // namespace sotto
