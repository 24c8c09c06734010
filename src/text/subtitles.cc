#include "text/subtitles.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "text/cue_text.h"

namespace sotto {
namespace {

bool IsBlankText(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

bool IsNumber(std::string_view text) {
  const std::size_t end = text.find_last_not_of(" \t");
  return end != std::string_view::npos &&
         text.substr(0, end + 1).find_first_not_of("0123456789") == std::string_view::npos;
}

// `word` alone or before a blank.
bool BeginsWithWord(std::string_view text, std::string_view word) {
  return text.starts_with(word) &&
         (text.size() == word.size() || text[word.size()] == ' ' || text[word.size()] == '\t');
}

// Lines up to and including a blank one.
using Block = std::vector<TextLine>;

// A line of text in the raw bytes.
struct CueLine {
  std::size_t begin = 0, end = 0, next = 0;  // next: behind the line's end
  std::size_t cue = 0;
};

class Cues : public Passage {
 public:
  Cues(std::string raw, const std::vector<CueLine>& lines, bool references)
      : Passage(std::move(raw)), lines_(lines), references_(references) {
    for (const CueLine& line : lines_) {
      if (!map_.Text().empty()) map_.AddJoint(" ");
      AddCueLine(Raw(), line.begin, line.end, references_, map_, known_);
    }
  }

  const std::string& Text() const override { return map_.Text(); }
  std::span<const Entity> Known() const override { return known_; }

  std::string Write(std::span<const TextEdit> edits) const override {
    std::vector<TextEdit> raw = map_.RawEdits(edits);
    for (TextEdit& edit : raw) {
      if (references_) edit.text = CueEncoded(edit.text);
      // The blank behind a word that went away at a line's beginning.
      const auto line = std::partition_point(
          lines_.begin(), lines_.end(), [&](const CueLine& l) { return l.begin < edit.begin; });
      if (edit.text.empty() && line != lines_.end() && line->begin == edit.begin) {
        while (edit.end < Raw().size() && Raw()[edit.end] == ' ') ++edit.end;
      }
    }
    return Finished(raw);
  }

 private:
  // Line by line, so that none is left empty.
  std::string Finished(const std::vector<TextEdit>& edits) const {
    std::vector<std::string> written;
    std::vector<bool> has_text(lines_.empty() ? 0 : lines_.back().cue + 1);  // each cue
    for (const CueLine& line : lines_) {
      written.push_back(WrittenLine(line, edits));
      if (!IsBlankText(written.back())) has_text[line.cue] = true;
    }
    std::string result;
    std::size_t at = 0;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const CueLine& line = lines_[i];
      result += std::string_view(Raw()).substr(at, line.begin - at);
      at = line.next;
      const std::string_view end = std::string_view(Raw()).substr(line.end, line.next - line.end);
      if (!EmptiedLine(i, written)) {
        result += written[i];
        result += end;
      } else if (!has_text[line.cue]) {
        has_text[line.cue] = true;
        result += "…";
        result += end;
      }
    }
    result += std::string_view(Raw()).substr(at);
    return result;
  }

  std::string WrittenLine(const CueLine& line, const std::vector<TextEdit>& edits) const {
    std::vector<TextEdit> own;
    for (auto edit = std::partition_point(edits.begin(), edits.end(),
                                          [&](const TextEdit& e) { return e.end <= line.begin; });
         edit != edits.end() && edit->begin < line.end; ++edit) {
      own.push_back({edit->begin - line.begin, edit->end - line.begin, edit->text});
    }
    return Edited(std::string_view(Raw()).substr(line.begin, line.end - line.begin), own);
  }

  bool EmptiedLine(std::size_t i, const std::vector<std::string>& written) const {
    const CueLine& line = lines_[i];
    return IsBlankText(written[i]) &&
           !IsBlankText(std::string_view(Raw()).substr(line.begin, line.end - line.begin));
  }

  std::vector<CueLine> lines_;
  bool references_;
  SourceMap map_;
  std::vector<Entity> known_;
};

// A style for a speaker: ::cue(v[voice="Name"]).
class Style : public Passage {
 public:
  explicit Style(std::string raw) : Passage(std::move(raw)) {
    for (std::size_t at = Raw().find("voice"); at != std::string::npos;
         at = Raw().find("voice", at + 1)) {
      const std::size_t quote = Raw().find_first_of("\"'", at);
      if (quote == std::string::npos) return;
      const std::size_t end = Raw().find(Raw()[quote], quote + 1);
      if (end == std::string::npos) return;
      if (end == quote + 1) continue;
      if (!map_.Text().empty()) map_.AddJoint("\n");
      const std::size_t begin = map_.Text().size();
      map_.Add(quote + 1, std::string_view(Raw()).substr(quote + 1, end - quote - 1));
      known_.push_back({begin, map_.Text().size(), EntityType::kPerson, 1.0});
      at = end;
    }
  }

  const std::string& Text() const override { return map_.Text(); }
  std::span<const Entity> Known() const override { return known_; }
  std::string Write(std::span<const TextEdit> edits) const override {
    std::vector<TextEdit> raw = map_.RawEdits(edits);
    for (TextEdit& edit : raw) {  // in a string of CSS
      std::string escaped;
      for (const char c : edit.text) {
        if (c == '"' || c == '\'' || c == '\\') escaped += '\\';
        escaped += c;
      }
      edit.text = std::move(escaped);
    }
    return Edited(Raw(), raw);
  }

 private:
  SourceMap map_;
  std::vector<Entity> known_;
};

class SubtitleReader : public PassageReader {
 public:
  SubtitleReader(LineReader& lines, SubtitleKind kind)
      : lines_(lines), web_(kind == SubtitleKind::kWebVtt) {}

  std::unique_ptr<Passage> Next() override {
    if (web_ && !began_) return Header();
    std::vector<Block> group;
    std::size_t bytes = 0, cues = 0;
    while (std::optional<Block> block = NextBlock()) {
      const bool starts_alone = IsAlone(*block) || StartsSpeaker(*block);
      if (!group.empty() && (starts_alone || bytes > kLargestPassage / 64)) {
        waiting_.insert(waiting_.begin(), std::move(*block));
        break;
      }
      if (group.empty() && IsAlone(*block)) return Alone(*block);
      cues += HasTiming(*block) ? 1 : 0;
      for (const TextLine& line : *block) bytes += line.bytes.size();
      group.push_back(std::move(*block));
      if (EndsASentence(group.back())) break;
      if (cues > kMostCuesAtOnce) {
        PutBackFromLongestPause(group);
        break;
      }
    }
    if (group.empty()) {
      if (!web_ && !has_cue_) throw Error(lines_.Where() + ": no timing line, so no SRT");
      return nullptr;
    }
    return Made(group);
  }

  std::vector<std::string> Notes() const override {
    if (named_ids_ == 0) return {};
    return {fmt::format("{} of the cues' ids are no numbers; ids are not searched", named_ids_)};
  }

 private:
  std::optional<Block> NextBlock() {
    if (!waiting_.empty()) {
      Block block = std::move(waiting_.front());
      waiting_.erase(waiting_.begin());
      return block;
    }
    Block block;
    std::size_t bytes = 0;
    bool has_text = false;
    while (std::optional<TextLine> line = lines_.Next()) {
      const bool blank = IsBlankText(line->bytes);
      bytes += line->bytes.size();
      if (bytes > kLargestPassage) {
        throw lines_.Failure(line->number,
                             fmt::format("a cue of more than {} MiB", kLargestPassage >> 20));
      }
      block.push_back(std::move(*line));
      if (blank && has_text) break;
      has_text = has_text || !blank;
    }
    if (block.empty()) return std::nullopt;
    return block;
  }

  // The first line that is not blank; null: there is none.
  static const TextLine* FirstLine(const Block& block) {
    const auto line = std::find_if(block.begin(), block.end(),
                                   [](const TextLine& one) { return !IsBlankText(one.bytes); });
    return line == block.end() ? nullptr : &*line;
  }

  // A line with an arrow is a timing line or damaged.
  bool IsTiming(const TextLine& line) const {
    if (line.bytes.find("-->") == std::string::npos) return false;
    if (!ParseTimingLine(line.Text())) {
      throw lines_.Failure(line.number,
                           "a damaged timing line; 00:00:01,000 --> 00:00:02,500 is one");
    }
    return true;
  }

  bool HasTiming(const Block& block) const {
    return std::any_of(block.begin(), block.end(),
                       [this](const TextLine& line) { return IsTiming(line); });
  }

  // What is no cue: remarks, styles, regions, blank lines.
  bool IsAlone(const Block& block) const {
    const TextLine* first = FirstLine(block);
    if (first == nullptr) return true;
    if (!web_ || HasTiming(block)) return false;
    return BeginsWithWord(first->Text(), "NOTE") || BeginsWithWord(first->Text(), "STYLE") ||
           BeginsWithWord(first->Text(), "REGION");
  }

  std::unique_ptr<Passage> Alone(const Block& block) const {
    const TextLine* first = FirstLine(block);
    const std::string_view kind = first == nullptr ? std::string_view() : first->Text();
    std::string raw;
    for (const TextLine& line : block) raw += line.bytes;
    if (BeginsWithWord(kind, "STYLE")) return std::make_unique<Style>(std::move(raw));
    if (first == nullptr || BeginsWithWord(kind, "REGION")) {
      return std::make_unique<VerbatimPassage>(std::move(raw));
    }
    std::vector<CueLine> texts;
    std::size_t at = 0;
    for (const TextLine& line : block) {
      if (!IsBlankText(line.bytes)) {
        const std::size_t skip = &line == first ? 4 : 0;  // "NOTE"
        texts.push_back({at + skip, at + line.Text().size(), at + line.bytes.size(), 0});
      }
      at += line.bytes.size();
    }
    return std::make_unique<Cues>(std::move(raw), texts, /*references=*/false);
  }

  // "WEBVTT", which a title may follow, and lines up to a blank one.
  std::unique_ptr<Passage> Header() {
    began_ = true;
    std::optional<TextLine> line = lines_.Next();
    if (!line || !BeginsWithWord(line->Text(), "WEBVTT")) {
      throw lines_.Failure(1, "no WebVTT: its first line begins with WEBVTT");
    }
    std::string raw;
    std::vector<CueLine> texts;
    std::size_t skip = 6;  // "WEBVTT"
    while (line) {
      const bool blank = IsBlankText(line->bytes);
      // Of a block without a blank line before it.
      if (skip == 0 && !blank && line->bytes.find("-->") != std::string::npos) {
        lines_.PutBack(std::move(*line));
        break;
      }
      const std::string_view text = line->Text();
      const bool technical = text.starts_with("X-TIMESTAMP-MAP") || text.starts_with("Kind:") ||
                             text.starts_with("Language:") || text.starts_with("Region:");
      if (!blank && !technical && !IsBlankText(text.substr(skip))) {
        texts.push_back(
            {raw.size() + skip, raw.size() + text.size(), raw.size() + line->bytes.size(), 0});
      }
      skip = 0;
      raw += line->bytes;
      if (blank) break;
      line = lines_.Next();
    }
    return std::make_unique<Cues>(std::move(raw), texts, /*references=*/false);
  }

  // Which lines of the block are text.
  std::vector<bool> TextLines(const Block& block) const {
    std::vector<bool> text(block.size());
    const TextLine* first = FirstLine(block);
    for (std::size_t i = 0; i < block.size(); ++i) {
      const bool timing = IsTiming(block[i]);
      text[i] = !timing && !IsBlankText(block[i].bytes);
      // The id of a cue.
      if (timing && i > 0 && (&block[i - 1] == first || IsNumber(block[i - 1].Text()))) {
        text[i - 1] = false;
      }
    }
    return text;
  }

  std::string_view TextOf(const Block& block, bool last) const {
    const std::vector<bool> text = TextLines(block);
    std::string_view found;
    for (std::size_t i = 0; i < block.size(); ++i) {
      if (!text[i]) continue;
      found = block[i].Text();
      if (!last) break;
    }
    return found;
  }

  bool EndsASentence(const Block& block) const {
    const std::string_view line = TextOf(block, /*last=*/true);
    SourceMap map;
    std::vector<Entity> speakers;
    AddCueLine(line, 0, line.size(), web_, map, speakers);
    return EndsSentence(map.Text());
  }

  bool StartsSpeaker(const Block& block) const {
    std::string_view line = TextOf(block, /*last=*/false);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    return line.starts_with('-') || line.starts_with("–") || line.starts_with(">>") ||
           line.starts_with("<v ") || line.starts_with("<v.");
  }

  // Of the second half, so that much of the sentence is still searched together.
  void PutBackFromLongestPause(std::vector<Block>& group) {
    const auto times = [this](const Block& block) {
      for (const TextLine& line : block) {
        if (IsTiming(line)) return ParseTimingLine(line.Text()).value_or(CueTimes{});
      }
      return CueTimes{};
    };
    std::size_t at = group.size() - 1;
    double longest = -1.0;
    for (std::size_t i = group.size() / 2; i < group.size(); ++i) {
      const double pause = times(group[i]).begin_s - times(group[i - 1]).end_s;
      if (pause <= longest || !HasTiming(group[i])) continue;
      longest = pause;
      at = i;
    }
    const auto from = group.begin() + static_cast<std::ptrdiff_t>(at);
    waiting_.insert(waiting_.begin(), std::make_move_iterator(from),
                    std::make_move_iterator(group.end()));
    group.erase(from, group.end());
  }

  std::unique_ptr<Passage> Made(const std::vector<Block>& group) {
    std::string raw;
    std::vector<CueLine> texts;
    std::size_t cue = 0;
    for (const Block& block : group) {
      const std::vector<bool> text = TextLines(block);
      for (std::size_t i = 0; i < block.size(); ++i) {
        const TextLine& line = block[i];
        if (IsTiming(line)) {
          ++cue;
          has_cue_ = true;
          const bool has_id =
              i > 0 && !text[i - 1] && !IsBlankText(block[i - 1].bytes) && !IsTiming(block[i - 1]);
          named_ids_ += has_id && !IsNumber(block[i - 1].Text()) ? 1 : 0;
        } else if (text[i]) {
          if (!has_cue_ && !web_) {
            throw lines_.Failure(line.number, "text before the first timing line, so no SRT");
          }
          texts.push_back(
              {raw.size(), raw.size() + line.Text().size(), raw.size() + line.bytes.size(), cue});
        }
        raw += line.bytes;
      }
    }
    return std::make_unique<Cues>(std::move(raw), texts, web_);
  }

  LineReader& lines_;
  const bool web_;
  bool began_ = false, has_cue_ = false;
  std::size_t named_ids_ = 0;
  std::vector<Block> waiting_;
};

}  // namespace

std::unique_ptr<PassageReader> ReadSubtitles(LineReader& lines, SubtitleKind kind) {
  return std::make_unique<SubtitleReader>(lines, kind);
}

}  // namespace sotto
