// Word and character error rates with alignment counts.
//
// WER = (S + D + I) / N over a Levenshtein alignment with unit costs; N is the number of reference
// words. Among alignments of the same cost the one by Kaldi's rule is counted (an insertion before
// a deletion before a substitution), so S, D and I are those of compute-wer; other tools split the
// same total differently. Text is UTF-8; words are compared code point by code point after the
// normaliser, which is stated with every figure: no Unicode composition (NFC) is applied.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sotto {

enum class TextNormaliser {
  kNone,          // words as they are
  kLower,         // simple lower case of every code point
  kLowerNoPunct,  // lower case, punctuation removed except apostrophes and hyphens inside words
};

// "none", "lower", "lower-nopunct"; anything else is an Error.
TextNormaliser ParseTextNormaliser(std::string_view name);
std::string_view TextNormaliserName(TextNormaliser normaliser);

struct EditCounts {
  std::size_t n = 0;  // reference tokens
  std::size_t hits = 0, sub = 0, del = 0, ins = 0;
  std::size_t Errors() const { return sub + del + ins; }
  // Errors per reference token; NaN when there is no reference token.
  double Rate() const;
  EditCounts& operator+=(const EditCounts& other);
};

// Edits that turn `ref` into `hyp`.
EditCounts AlignTokens(const std::vector<std::u32string>& ref,
                       const std::vector<std::u32string>& hyp);
EditCounts AlignCharacters(std::u32string_view ref, std::u32string_view hyp);

// Code points of UTF-8 text; Error naming `where` when it is not UTF-8.
std::u32string DecodeUtf8(std::string_view text, const std::string& where);

// Words between runs of white space (Unicode White_Space), after the normaliser.
std::vector<std::u32string> SplitWords(std::u32string_view text, TextNormaliser normaliser);

// One utterance per line: id, a tab or blanks, words (Kaldi's "text"). Ids are unique; the words
// may be missing. Throws Error naming `where` and the line.
using Transcripts = std::vector<std::pair<std::string, std::u32string>>;
Transcripts ParseTranscripts(std::string_view text, const std::string& where);

struct UtteranceErrors {
  std::string id;
  EditCounts words, chars, chars_no_spaces;
};

struct WerOptions {
  TextNormaliser normaliser = TextNormaliser::kNone;
  // A reference without a hypothesis counts as an empty hypothesis; a hypothesis without a
  // reference is left out. Otherwise both are errors.
  bool allow_missing = false;
};

struct WerResult {
  EditCounts words;
  EditCounts chars;            // words joined by single spaces, which count; "_" is a space
  EditCounts chars_no_spaces;  // spaces removed
  std::size_t utterances = 0;
  std::size_t utterances_with_errors = 0;
  std::size_t without_hypothesis = 0;
  std::size_t without_reference = 0;
  std::vector<UtteranceErrors> per_utterance;  // in the order of the reference
};

WerResult ComputeWer(const Transcripts& ref, const Transcripts& hyp, const WerOptions& options);

// The speaker of each utterance of the result, numbered from 0, by the lines of a Kaldi utt2spk
// file. Throws Error that names `where` and an utterance without a speaker.
std::vector<std::size_t> UtteranceSpeakers(const WerResult& result, std::string_view utt2spk,
                                           const std::string& where);

}  // namespace sotto
