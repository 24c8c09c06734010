#include "text/passage.h"

#include <algorithm>
#include <utility>

namespace sotto {
namespace {

const std::string& NoText() {
  static const std::string kEmpty;
  return kEmpty;
}

}  // namespace

std::string Edited(std::string_view text, std::span<const TextEdit> edits) {
  std::string result;
  result.reserve(text.size());
  std::size_t at = 0;
  for (const TextEdit& edit : edits) {
    result += text.substr(at, edit.begin - at);
    result += edit.text;
    at = edit.end;
  }
  result += text.substr(at);
  return result;
}

void SourceMap::Add(std::size_t raw_begin, std::string_view same) {
  if (same.empty()) return;
  pieces_.push_back(
      {text_.size(), text_.size() + same.size(), raw_begin, raw_begin + same.size(), false});
  text_ += same;
}

void SourceMap::AddCoded(std::size_t raw_begin, std::size_t raw_end, std::string_view text) {
  pieces_.push_back({text_.size(), text_.size() + text.size(), raw_begin, raw_end, true});
  text_ += text;
}

void SourceMap::Append(const SourceMap& other) {
  for (Piece piece : other.pieces_) {
    piece.begin += text_.size();
    piece.end += text_.size();
    pieces_.push_back(piece);
  }
  text_ += other.text_;
}

std::vector<TextEdit> SourceMap::RawEdits(std::span<const TextEdit> edits) const {
  std::vector<TextEdit> raw;
  for (const TextEdit& edit : edits) {
    auto piece = std::partition_point(pieces_.begin(), pieces_.end(),
                                      [&](const Piece& p) { return p.end <= edit.begin; });
    bool first = true;
    for (; piece != pieces_.end() && piece->begin < edit.end; ++piece) {
      std::size_t begin = piece->raw_begin, end = piece->raw_end;
      if (!piece->coded) {
        begin += std::max(edit.begin, piece->begin) - piece->begin;
        end -= piece->end - std::min(edit.end, piece->end);
      }
      // A character in code that another edit has taken already.
      if (!raw.empty()) begin = std::max(begin, raw.back().end);
      if (!raw.empty() && raw.back().end >= begin && (!first || begin >= end)) {
        raw.back().end = std::max(raw.back().end, end);
        if (first) raw.back().text += edit.text;
        first = false;
        continue;
      }
      raw.push_back({begin, end, first ? edit.text : ""});
      first = false;
    }
  }
  return raw;
}

const std::string& Passage::Dialogue() const { return NoText(); }

const std::string& VerbatimPassage::Text() const { return NoText(); }

MappedPassage::MappedPassage(std::string raw, SourceMap map,
                             std::function<std::string(std::string_view)> encode,
                             std::string dialogue)
    : Passage(std::move(raw)),
      map_(std::move(map)),
      encode_(std::move(encode)),
      dialogue_(std::move(dialogue)) {}

std::string MappedPassage::Write(std::span<const TextEdit> edits) const {
  std::vector<TextEdit> raw = map_.RawEdits(edits);
  if (encode_) {
    for (TextEdit& edit : raw) edit.text = encode_(edit.text);
  }
  return Edited(Raw(), raw);
}

}  // namespace sotto
