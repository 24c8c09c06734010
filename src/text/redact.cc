#include "text/redact.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "base/json.h"
#include "base/parameter.h"
#include "text/ctm.h"
#include "text/subtitles.h"
#include "text/utf8.h"

namespace sotto {
namespace {

class PlainReader : public PassageReader {
 public:
  explicit PlainReader(LineReader& lines) : lines_(lines) {}

  std::unique_ptr<Passage> Next() override {
    std::optional<TextLine> line = lines_.Next();
    if (!line) return nullptr;
    SourceMap map;
    map.Add(0, line->Text());
    return std::make_unique<MappedPassage>(std::move(line->bytes), std::move(map));
  }

 private:
  LineReader& lines_;
};

struct Joined {
  std::vector<Entity> entities;
  std::vector<Token> own;
};

// Own words take in whatever they overlap, and what that overlaps.
Joined JoinOwnWords(std::vector<Entity> entities, const std::vector<Token>& words) {
  Joined joined;
  auto word = words.begin();
  auto entity = entities.begin();
  while (word != words.end()) {
    for (; entity != entities.end() && entity->end <= word->begin; ++entity) {
      joined.entities.push_back(*entity);
    }
    Token all = *word++;
    for (bool more = true; more;) {
      more = false;
      for (; entity != entities.end() && entity->begin < all.end; ++entity, more = true) {
        all.begin = std::min(all.begin, entity->begin);
        all.end = std::max(all.end, entity->end);
      }
      for (; word != words.end() && word->begin < all.end; ++word, more = true) {
        all.end = std::max(all.end, word->end);
      }
    }
    joined.own.push_back(all);
  }
  joined.entities.insert(joined.entities.end(), entity, entities.end());
  return joined;
}

// Without white space at either side: what sticks out of another entity begins with the blank
// between the two, which is not to go.
std::vector<Entity> Trimmed(std::string_view text, std::vector<Entity> entities) {
  for (Entity& entity : entities) {
    std::size_t begin = entity.end, end = entity.begin;
    for (std::size_t at = entity.begin; at < entity.end;) {
      const Rune rune = DecodeUtf8(text.substr(0, entity.end), at);
      if (!IsSpace(rune.code)) {
        begin = std::min(begin, at);
        end = at + rune.size;
      }
      at += rune.size;
    }
    entity.begin = begin;
    entity.end = end;
  }
  std::erase_if(entities, [](const Entity& entity) { return entity.begin >= entity.end; });
  return entities;
}

nlohmann::ordered_json CountsJson(const Redaction& redaction) {
  auto counts = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < kEntityTypes; ++i) {
    if (redaction.counts[i] > 0) counts[std::string(kEntityNames[i])] = redaction.counts[i];
  }
  if (redaction.own_words > 0) counts[std::string(kOwnWordName)] = redaction.own_words;
  return counts;
}

std::string JsonLine(std::string_view text, const Redaction& redaction) {
  nlohmann::ordered_json line;
  line["text"] = Edited(text, redaction.edits);
  line["entities"] = CountsJson(redaction);
  return DumpJson(line) + "\n";
}

}  // namespace

const std::vector<std::string>& TextFormatNames() {
  static const std::vector<std::string> kNames = {"text", "jsonl", "ctm", "srt", "vtt"};
  return kNames;
}

std::string_view Name(TextFormat format) {
  return TextFormatNames()[static_cast<std::size_t>(format)];
}

TextFormat ParseTextFormat(std::string_view name) {
  const auto& names = TextFormatNames();
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) {
    throw Error("format '" + std::string(name) + "': " + ListOf(names) + " is allowed");
  }
  return static_cast<TextFormat>(at - names.begin());
}

TextFormat FormatOf(const std::filesystem::path& file) {
  const std::string end = LowerCase(file.extension().string());
  if (end == ".jsonl" || end == ".ndjson" || end == ".json") return TextFormat::kJsonLines;
  if (end == ".ctm") return TextFormat::kCtm;
  if (end == ".srt") return TextFormat::kSrt;
  if (end == ".vtt") return TextFormat::kWebVtt;
  return TextFormat::kPlain;
}

std::unique_ptr<PassageReader> ReadPassages(LineReader& lines, TextFormat format,
                                            const JsonLineFields& fields) {
  std::optional<TextLine> first = lines.Next();
  if (!first) throw Error(lines.Where() + ": empty; a text has at least a character");
  lines.PutBack(std::move(*first));
  switch (format) {
    case TextFormat::kJsonLines:
      return ReadJsonLines(lines, fields);
    case TextFormat::kCtm:
      return ReadCtm(lines);
    case TextFormat::kSrt:
      return ReadSubtitles(lines, SubtitleKind::kSrt);
    case TextFormat::kWebVtt:
      return ReadSubtitles(lines, SubtitleKind::kWebVtt);
    case TextFormat::kPlain:
      break;
  }
  return std::make_unique<PlainReader>(lines);
}

// What stands between known entities is searched for itself: a speaker's name is no part of the
// sentence after it.
std::vector<Entity> Redactor::Found(std::string_view text, std::span<const Entity> known) const {
  std::vector<Entity> entities(known.begin(), known.end());
  std::size_t at = 0;
  for (std::size_t i = 0; i <= known.size(); ++i) {
    const std::size_t end = i < known.size() ? known[i].begin : text.size();
    const std::string_view between = text.substr(at, end - at);
    if (!between.empty()) {
      for (Entity entity : finder_.Find(between)) {
        entity.begin += at;
        entity.end += at;
        entities.push_back(entity);
      }
    }
    if (i < known.size()) at = known[i].end;
  }
  return entities;
}

Redaction Redactor::Redact(std::string_view text, std::span<const Entity> known,
                           const TextPlace& place) const {
  Redaction redaction;
  std::vector<Entity> entities = Found(text, known);
  const auto& types = replacer_.Options().types;
  std::erase_if(entities, [&types](const Entity& entity) {
    return !types[static_cast<std::size_t>(entity.type)];
  });
  entities = Trimmed(text, WithoutOverlap(std::move(entities)));
  Joined joined{std::move(entities), {}};
  if (words_ != nullptr) joined = JoinOwnWords(std::move(joined.entities), words_->Find(text));
  const ReplacedText replaced = replacer_.Replace(text, joined.entities, place);
  redaction.counts = replaced.counts;
  redaction.draws = replaced.draws;
  redaction.own_words = joined.own.size();
  for (std::size_t i = 0; i < joined.entities.size(); ++i) {
    const Entity &was = joined.entities[i], &is = replaced.entities[i];
    redaction.edits.push_back(
        {was.begin, was.end, replaced.text.substr(is.begin, is.end - is.begin)});
  }
  for (const Token& word : joined.own) {
    redaction.edits.push_back({word.begin, word.end, std::string(kOwnWordPlaceholder)});
  }
  std::sort(redaction.edits.begin(), redaction.edits.end(),
            [](const TextEdit& a, const TextEdit& b) { return a.begin < b.begin; });
  return redaction;
}

std::uint64_t RedactTotals::Found() const {
  return std::accumulate(counts.begin(), counts.end(), own_words);
}

void RedactAccount::Add(std::string_view text, const Redaction& redaction) {
  ++totals_.passages;
  totals_.tokens += Tokenise(text).size();
  totals_.own_words += redaction.own_words;
  for (std::size_t i = 0; i < kEntityTypes; ++i) totals_.counts[i] += redaction.counts[i];
  for (const ReplacedText::Draw& draw : redaction.draws) {
    if (consistent_ && !seen_.insert(draw.id).second) continue;
    ++totals_.draws;
    totals_.largest_eps = std::max(totals_.largest_eps, draw.eps);
    totals_.total_eps += draw.eps;
  }
}

RedactTotals RedactPassages(LineReader& lines, PassageReader& passages, const Redactor& redactor,
                            const std::string& dialogue, ResultForm form, const TextSink& write) {
  RedactAccount account(redactor.By().Options().consistent);
  bool began = false;
  std::uint64_t part = 0;
  while (const std::unique_ptr<Passage> passage = passages.Next()) {
    std::string result;
    if (!began && form == ResultForm::kAsRead) result = lines.Mark();
    began = true;
    ++part;
    if (passage->Text().empty()) {
      if (form == ResultForm::kAsRead) write(result + passage->Raw());
      continue;
    }
    const std::string conversation = dialogue + '\n' + passage->Dialogue();
    const Redaction redaction =
        redactor.Redact(passage->Text(), passage->Known(), {conversation, part});
    account.Add(passage->Text(), redaction);
    result += form == ResultForm::kAsRead ? passage->Write(redaction.edits)
                                          : JsonLine(passage->Text(), redaction);
    write(result);
  }
  return account.Totals();
}

void CheckPassages(PassageReader& passages) {
  while (passages.Next() != nullptr) continue;
}

}  // namespace sotto
