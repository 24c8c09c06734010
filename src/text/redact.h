// A text with its entities replaced, passage by passage: what the finder finds, what the format
// itself calls an entity, and words of the user's own. What none of them finds stands in the output
// as it was said.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "text/entity_finder.h"
#include "text/json_lines.h"
#include "text/own_words.h"
#include "text/passage.h"
#include "text/replacement.h"
#include "text/text_stream.h"

namespace sotto {

enum class TextFormat { kPlain, kJsonLines, kCtm, kSrt, kWebVtt };

// "text", "jsonl", "ctm", "srt", "vtt".
const std::vector<std::string>& TextFormatNames();
std::string_view Name(TextFormat format);
TextFormat ParseTextFormat(std::string_view name);  // throws Error that lists the names
// By the end of a file's name (.txt, .jsonl, .ndjson, .json, .ctm, .srt, .vtt); others are plain.
TextFormat FormatOf(const std::filesystem::path& file);

// A reader of the format's passages; plain text has one a line. Throws Error where the text is
// empty. `lines` must outlive it.
std::unique_ptr<PassageReader> ReadPassages(LineReader& lines, TextFormat format,
                                            const JsonLineFields& fields = {});

// What became of one passage.
struct Redaction {
  std::vector<TextEdit> edits;  // of its text
  // Found, of the types that are replaced. Which of them the coin of p kept is told nowhere.
  std::array<std::uint64_t, kEntityTypes> counts{};
  std::uint64_t own_words = 0;
  std::vector<ReplacedText::Draw> draws;
};

class Redactor {
 public:
  // All must outlive it; `words` may be null.
  Redactor(const EntityFinder& finder, const Replacer& replacer, const OwnWords* words)
      : finder_(finder), replacer_(replacer), words_(words) {}

  // `known`: entities of the text beside those of the finder, in order and without overlap. What
  // overlaps one of the user's own words goes with it, whatever the replacer's options say.
  Redaction Redact(std::string_view text, std::span<const Entity> known,
                   const TextPlace& place) const;

  const Replacer& By() const { return replacer_; }

 private:
  std::vector<Entity> Found(std::string_view text, std::span<const Entity> known) const;

  const EntityFinder& finder_;
  const Replacer& replacer_;
  const OwnWords* words_;
};

// Of a whole text. Nothing in it is a word or a place.
struct RedactTotals {
  std::array<std::uint64_t, kEntityTypes> counts{};
  std::uint64_t own_words = 0;
  std::uint64_t passages = 0;  // with text
  std::uint64_t tokens = 0;
  std::uint64_t draws = 0;   // mentions that share one count once
  double largest_eps = 0.0;  // of a draw
  double total_eps = 0.0;    // if all entities were one person's

  std::uint64_t Found() const;
};

// Adds up redactions. Draws that are shared are remembered (8 bytes each and some) where there may
// be such: with ReplacementOptions::consistent.
class RedactAccount {
 public:
  explicit RedactAccount(bool consistent) : consistent_(consistent) {}
  void Add(std::string_view text, const Redaction& redaction);
  const RedactTotals& Totals() const { return totals_; }

 private:
  bool consistent_;
  RedactTotals totals_;
  std::unordered_set<std::uint64_t> seen_;
};

// How results are written.
enum class ResultForm {
  kAsRead,     // the text in its own format
  kJsonLines,  // of each passage with text: {"text": …, "entities": {"PER": 1}}
};

using TextSink = std::function<void(std::string_view)>;

// Reads, replaces and writes passage by passage: `write` is called once a passage, with all of it.
// `dialogue` names the conversation; the format's own, where it has one, is added to it.
RedactTotals RedactPassages(LineReader& lines, PassageReader& passages, const Redactor& redactor,
                            const std::string& dialogue, ResultForm form, const TextSink& write);

// Reads to the end and throws Error where RedactPassages would.
void CheckPassages(PassageReader& passages);

}  // namespace sotto
