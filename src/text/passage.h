// A passage: the smallest part of a text that is searched as a whole, with the bytes it stands in.
// Of each format there is one reader that cuts the text into passages; all passages together are
// the text again, byte for byte.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/entity.h"

namespace sotto {

// Bytes begin … end of a text become `text`.
struct TextEdit {
  std::size_t begin = 0, end = 0;
  std::string text;

  friend bool operator==(const TextEdit&, const TextEdit&) = default;
};

// `edits` in order and without overlap.
std::string Edited(std::string_view text, std::span<const TextEdit> edits);

// A searched text that is made of pieces of raw bytes: which byte of the one is which of the other.
class SourceMap {
 public:
  // The piece raw[begin, begin + same.size()), which reads as it stands.
  void Add(std::size_t raw_begin, std::string_view same);
  // The piece raw[begin, end), one character written in another way ("é"), which is never parted.
  void AddCoded(std::size_t raw_begin, std::size_t raw_end, std::string_view text);
  // What stands between pieces in the text alone: a blank between lines.
  void AddJoint(std::string_view text) { text_ += text; }

  // All of another map of the same raw bytes.
  void Append(const SourceMap& other);

  const std::string& Text() const { return text_; }
  // Edits of the text as edits of the raw bytes. What stands between pieces stays; of an edit that
  // covers several pieces which do not touch, the first becomes its text and the rest nothing.
  std::vector<TextEdit> RawEdits(std::span<const TextEdit> edits) const;

 private:
  struct Piece {
    std::size_t begin, end;  // in the text
    std::size_t raw_begin, raw_end;
    bool coded;
  };

  std::string text_;
  std::vector<Piece> pieces_;
};

class Passage {
 public:
  explicit Passage(std::string raw) : raw_(std::move(raw)) {}
  Passage(const Passage&) = delete;
  Passage& operator=(const Passage&) = delete;
  virtual ~Passage() = default;

  // As it stands in the input, with line ends.
  const std::string& Raw() const { return raw_; }
  // What is searched; empty: nothing in it is text.
  virtual const std::string& Text() const = 0;
  // What the format itself calls an entity of Text(): the speaker of a cue.
  virtual std::span<const Entity> Known() const { return {}; }
  // The conversation it belongs to, where the format says so.
  virtual const std::string& Dialogue() const;
  // The raw bytes with these edits of Text(), in order and without overlap. Without any: Raw().
  virtual std::string Write(std::span<const TextEdit> edits) const = 0;

 private:
  std::string raw_;
};

// Bytes that hold no text: blank lines, styles.
class VerbatimPassage : public Passage {
 public:
  using Passage::Passage;
  const std::string& Text() const override;
  std::string Write(std::span<const TextEdit> /*edits*/) const override { return Raw(); }
};

// Text in pieces of the raw bytes; `encode` writes what is new as the format does (null: as it is).
class MappedPassage : public Passage {
 public:
  MappedPassage(std::string raw, SourceMap map,
                std::function<std::string(std::string_view)> encode = nullptr,
                std::string dialogue = "");
  const std::string& Text() const override { return map_.Text(); }
  const std::string& Dialogue() const override { return dialogue_; }
  std::string Write(std::span<const TextEdit> edits) const override;

 private:
  SourceMap map_;
  std::function<std::string(std::string_view)> encode_;
  std::string dialogue_;
};

class PassageReader {
 public:
  virtual ~PassageReader() = default;
  // Null at the end. Throws Error for what the format does not allow, with the line.
  virtual std::unique_ptr<Passage> Next() = 0;
  // What a reader of the record should know of how this text was taken.
  virtual std::vector<std::string> Notes() const { return {}; }
};

}  // namespace sotto
