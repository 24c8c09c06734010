#include "text/ctm.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "text/utf8.h"

namespace sotto {
namespace {

constexpr double kLongestSeconds = 1e7;  // 115 days

struct Field {
  std::size_t begin = 0, end = 0;  // in the line
};

// Line ends too.
bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

std::vector<Field> Fields(std::string_view line) {
  std::vector<Field> fields;
  for (std::size_t at = 0; at < line.size();) {
    while (at < line.size() && IsBlank(line[at])) ++at;
    const std::size_t begin = at;
    while (at < line.size() && !IsBlank(line[at])) ++at;
    if (at > begin) fields.push_back({begin, at});
  }
  return fields;
}

std::string_view Of(std::string_view line, const Field& field) {
  return line.substr(field.begin, field.end - field.begin);
}

std::optional<double> Number(std::string_view text) {
  double value = 0.0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

double Seconds(std::string_view text, const char* name, const TextLine& line,
               const LineReader& lines) {
  const std::optional<double> value = Number(text);
  if (!value || *value < 0.0 || *value > kLongestSeconds) {
    throw lines.Failure(line.number, fmt::format("the {} of a CTM is a number of seconds, 0 … {:g}",
                                                 name, kLongestSeconds));
  }
  return *value;
}

int Decimals(std::string_view number) {
  constexpr std::size_t kMost = 9;
  const std::size_t point = number.find('.');
  if (point == std::string_view::npos) return 0;
  return static_cast<int>(std::min(number.size() - point - 1, kMost));
}

std::size_t Letters(std::string_view word) {
  std::size_t letters = 0;
  for (std::size_t at = 0; at < word.size(); at += DecodeUtf8(word, at).size) ++letters;
  return std::max<std::size_t>(letters, 1);
}

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= text.size();) {
    const Rune rune = at < text.size() ? DecodeUtf8(text, at) : Rune{U' ', 1, true};
    if (IsSpace(rune.code)) {
      if (at > begin) words.emplace_back(text.substr(begin, at - begin));
      begin = at + rune.size;
    }
    at += rune.size;
  }
  return words;
}

class Utterance : public Passage {
 public:
  Utterance(std::string raw, std::vector<std::string> lines)
      : Passage(std::move(raw)), lines_(std::move(lines)) {
    for (const std::string& line : lines_) {
      const std::string_view word = Of(line, Fields(line)[4]);
      if (IsCtmMark(word)) {
        spans_.push_back({text_.size(), text_.size()});
        continue;
      }
      if (!text_.empty()) text_ += ' ';
      spans_.push_back({text_.size(), text_.size() + word.size()});
      text_ += word;
    }
  }

  const std::string& Text() const override { return text_; }

  std::string Write(std::span<const TextEdit> edits) const override {
    std::string result;
    std::size_t next = 0;
    for (const CtmChange& change : CtmChanges(text_, spans_, edits)) {
      for (; next < change.first; ++next) result += lines_[next];
      AppendChange(change, result);
      next = change.last + 1;
    }
    for (; next < lines_.size(); ++next) result += lines_[next];
    return result;
  }

 private:
  // The line `i` with other fields from the third on; blanks and the line end as they are.
  std::string Line(std::size_t i, std::string_view begin, std::string_view duration,
                   std::string_view word) const {
    const std::string& line = lines_[i];
    const std::vector<Field> fields = Fields(line);
    std::vector<TextEdit> edits = {{fields[2].begin, fields[2].end, std::string(begin)},
                                   {fields[3].begin, fields[3].end, std::string(duration)},
                                   {fields[4].begin, fields[4].end, std::string(word)}};
    if (fields.size() == 6) edits.push_back({fields[5].begin, fields[5].end, "1.00"});
    return Edited(line, edits);
  }

  void AppendChange(const CtmChange& change, std::string& result) const {
    std::vector<WordTime> times;
    std::vector<std::size_t> of;  // whose times they are
    int decimals = 2;
    for (std::size_t i = change.first; i <= change.last; ++i) {
      if (spans_[i].begin == spans_[i].end) continue;
      const std::vector<Field> fields = Fields(lines_[i]);
      const std::string_view begin = Of(lines_[i], fields[2]), duration = Of(lines_[i], fields[3]);
      times.push_back({Number(begin).value_or(0.0), Number(duration).value_or(0.0)});
      of.push_back(i);
      decimals = std::max({decimals, Decimals(begin), Decimals(duration)});
    }
    if (change.words.size() == of.size()) {  // times as they were written
      for (std::size_t w = 0; w < of.size(); ++w) {
        const std::vector<Field> fields = Fields(lines_[of[w]]);
        result += Line(of[w], Of(lines_[of[w]], fields[2]), Of(lines_[of[w]], fields[3]),
                       change.words[w]);
      }
    } else {
      std::vector<std::size_t> letters(change.words.size());
      std::transform(change.words.begin(), change.words.end(), letters.begin(),
                     [](const std::string& word) { return Letters(word); });
      const std::vector<WordTime> spread = SpreadWords(times, letters);
      for (std::size_t w = 0; w < spread.size(); ++w) {
        std::string line =
            Line(of.front(), fmt::format("{:.{}f}", spread[w].begin_s, decimals),
                 fmt::format("{:.{}f}", spread[w].duration_s, decimals), change.words[w]);
        if (!line.ends_with('\n')) line += '\n';
        result += line;
      }
    }
    if (change.words.empty()) return;
    // The text's last line may have no end; none in its midst may be without.
    const bool has_end = lines_[change.last].ends_with('\n');
    if (has_end && !result.ends_with('\n')) result += '\n';
    if (!has_end && result.ends_with('\n')) result.pop_back();
    if (!has_end && result.ends_with('\r')) result.pop_back();
  }

  std::vector<std::string> lines_;  // with their ends
  std::string text_;
  std::vector<Token> spans_;  // of each line in text_
};

class CtmReader : public PassageReader {
 public:
  explicit CtmReader(LineReader& lines) : lines_(lines) {}

  std::unique_ptr<Passage> Next() override {
    std::optional<TextLine> line = lines_.Next();
    if (!line) return nullptr;
    if (Fields(line->Text()).empty()) {
      return std::make_unique<VerbatimPassage>(std::move(line->bytes));
    }
    const std::size_t start = line->Text().find_first_not_of(" \t");
    if (line->Text().substr(start).starts_with(";;")) {
      SourceMap remark;
      remark.Add(start + 2, line->Text().substr(start + 2));
      return std::make_unique<MappedPassage>(std::move(line->bytes), std::move(remark));
    }
    const CtmWord first = ParseCtmLine(*line, lines_);
    std::string raw = line->bytes;
    std::vector<std::string> words = {std::move(line->bytes)};
    while ((line = lines_.Next())) {
      if (!Belongs(*line, first)) {
        lines_.PutBack(std::move(*line));
        break;
      }
      raw += line->bytes;
      if (raw.size() > kLargestPassage) {
        throw lines_.Failure(
            line->number, fmt::format("an utterance of more than {} MiB", kLargestPassage >> 20));
      }
      words.push_back(std::move(line->bytes));
    }
    return std::make_unique<Utterance>(std::move(raw), std::move(words));
  }

 private:
  bool Belongs(const TextLine& line, const CtmWord& first) const {
    const std::vector<Field> fields = Fields(line.Text());
    if (fields.size() < 2 || Of(line.Text(), fields[0]).starts_with(";;")) return false;
    if (Of(line.Text(), fields[0]) != first.utterance ||
        Of(line.Text(), fields[1]) != first.channel) {
      return false;
    }
    ParseCtmLine(line, lines_);
    return true;
  }

  LineReader& lines_;
};

}  // namespace

CtmWord ParseCtmLine(const TextLine& line, const LineReader& lines) {
  const std::string_view text = line.Text();
  const std::vector<Field> fields = Fields(text);
  if (fields.size() != 5 && fields.size() != 6) {
    throw lines.Failure(line.number,
                        fmt::format("{} fields; a line of a CTM is utterance, channel, begin, "
                                    "duration, word and, if known, confidence",
                                    fields.size()));
  }
  CtmWord word{std::string(Of(text, fields[0])), std::string(Of(text, fields[1])), 0.0, 0.0,
               std::string(Of(text, fields[4]))};
  if (Of(text, fields[2]) != "*" || Of(text, fields[3]) != "*") {
    word.begin_s = Seconds(Of(text, fields[2]), "begin", line, lines);
    word.duration_s = Seconds(Of(text, fields[3]), "duration", line, lines);
  }
  if (fields.size() == 6) {
    word.confidence = Of(text, fields[5]);
    if (!Number(word.confidence) && word.confidence != "NA") {
      throw lines.Failure(line.number, "the confidence of a CTM is a number, or NA");
    }
  }
  return word;
}

std::string CtmText(const CtmWord& word, int decimals) {
  return fmt::format("{} {} {:.{}f} {:.{}f} {}{}{}", word.utterance, word.channel, word.begin_s,
                     decimals, word.duration_s, decimals, word.word,
                     word.confidence.empty() ? "" : " ", word.confidence);
}

bool IsCtmMark(std::string_view word) {
  // Those of Kaldi's recipes and of NIST.
  constexpr std::array<std::string_view, 19> kMarks = {
      "<eps>",          "<unk>",       "<UNK>",      "<s>",       "</s>",
      "<sil>",          "SIL",         "!SIL",       "<noise>",   "[noise]",
      "[NOISE]",        "<laughter>",  "[laughter]", "<silence>", "[vocalized-noise]",
      "<spoken_noise>", "<ALT_BEGIN>", "<ALT>",      "<ALT_END>"};
  return std::find(kMarks.begin(), kMarks.end(), word) != kMarks.end();
}

std::vector<WordTime> SpreadWords(std::span<const WordTime> replaced,
                                  std::span<const std::size_t> letters) {
  if (replaced.size() == letters.size()) return {replaced.begin(), replaced.end()};
  std::vector<WordTime> times;
  if (replaced.empty()) return times;
  const double begin = replaced.front().begin_s;
  double end = begin;
  for (const WordTime& word : replaced) end = std::max(end, word.begin_s + word.duration_s);
  const auto all =
      static_cast<double>(std::accumulate(letters.begin(), letters.end(), std::size_t{0}));
  double before = 0.0;
  for (const std::size_t n : letters) {
    const auto share = static_cast<double>(n);
    times.push_back({begin + (end - begin) * before / all, (end - begin) * share / all});
    before += share;
  }
  return times;
}

std::vector<CtmChange> CtmChanges(std::string_view text, std::span<const Token> spans,
                                  std::span<const TextEdit> edits) {
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  std::vector<CtmChange> changes;
  std::size_t word = 0;
  for (std::size_t e = 0; e < edits.size();) {
    // Words that the edits from e on touch, as long as they share one.
    std::size_t first = kNone, last = 0, used = e;
    for (; used < edits.size(); ++used) {
      const TextEdit& edit = edits[used];
      while (word < spans.size() &&
             (spans[word].begin == spans[word].end || spans[word].end <= edit.begin)) {
        ++word;
      }
      if (first != kNone && word > last) break;
      for (std::size_t i = word; i < spans.size() && spans[i].begin < edit.end; ++i) {
        if (spans[i].begin == spans[i].end) continue;
        first = std::min(first, i);
        last = i;
      }
    }
    if (first == kNone) break;  // no word is left
    std::vector<TextEdit> own;
    const std::size_t begin = std::min(spans[first].begin, edits[e].begin);
    const std::size_t end = std::max(spans[last].end, edits[used - 1].end);
    for (std::size_t i = e; i < used; ++i) {
      own.push_back({edits[i].begin - begin, edits[i].end - begin, edits[i].text});
    }
    changes.push_back({first, last, Words(Edited(text.substr(begin, end - begin), own))});
    e = used;
  }
  return changes;
}

std::unique_ptr<PassageReader> ReadCtm(LineReader& lines) {
  return std::make_unique<CtmReader>(lines);
}

}  // namespace sotto
