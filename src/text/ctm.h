// Words with times as recognisers write them: CTM (NIST; Kaldi's form of it), a line a word,
//
//   utterance channel begin duration word [confidence]          times in seconds
//
// Lines that begin with ";;" are remarks.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/passage.h"
#include "text/text_stream.h"
#include "text/tokens.h"

namespace sotto {

struct CtmWord {
  std::string utterance, channel;
  double begin_s = 0.0, duration_s = 0.0;
  std::string word;
  std::string confidence{};  // as it was written; empty: none

  double EndS() const { return begin_s + duration_s; }
};

// Throws Error (by `lines`, with the line's number) unless there are five or six fields, times that
// are numbers from 0 on, and a confidence that is a number. A line of alternatives ("*" for both
// times) has times 0.
CtmWord ParseCtmLine(const TextLine& line, const LineReader& lines);
// With as many decimals as `decimals`; without a line end.
std::string CtmText(const CtmWord& word, int decimals = 2);

// Whether it stands for a sound or a gap and not for a word: "<eps>", "[noise]", "SIL".
bool IsCtmMark(std::string_view word);

// The times of `count` words that take the place of others: of each of them its own where they are
// equally many; else the time from the first's begin to the last's end in shares by letters
// (`letters`, one number for each new word), since longer words take longer.
struct WordTime {
  double begin_s = 0.0, duration_s = 0.0;
};
std::vector<WordTime> SpreadWords(std::span<const WordTime> replaced,
                                  std::span<const std::size_t> letters);

// Which words an edit of the text of an utterance (its words with one blank between) replaces, and
// by which. Edits that share a word are one.
struct CtmChange {
  std::size_t first = 0, last = 0;  // words, both included
  std::vector<std::string> words;
};
// `spans`: where each word stands in `text`; begin == end: a mark, which stands in none.
std::vector<CtmChange> CtmChanges(std::string_view text, std::span<const Token> spans,
                                  std::span<const TextEdit> edits);

// Passages are runs of lines of one utterance and channel. Marks are no text; where words around
// one are replaced it goes with them. Replaced words have confidence 1.00, and their lines are
// written alike whether the surrogate is the word itself or another one: a confidence would tell.
// Words that are not replaced stay byte for byte.
std::unique_ptr<PassageReader> ReadCtm(LineReader& lines);

}  // namespace sotto
