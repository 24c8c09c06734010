#include "assess/wer.h"

#include <fmt/format.h>
#include <locale.h>
#include <wctype.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <unordered_map>

#include "base/error.h"
#include "base/text.h"
#include "base/tsv.h"

namespace sotto {
namespace {

// White_Space of the Unicode character database.
bool IsSpace(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

// The C library's Unicode tables, whatever locale the process runs in.
class UnicodeLocale {
 public:
  UnicodeLocale() : locale_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {
    if (locale_ == nullptr) throw Error("locale C.UTF-8 is missing: it is needed to lower text");
  }
  char32_t Lower(char32_t c) const {
    return static_cast<char32_t>(towlower_l(static_cast<wint_t>(c), locale_.get()));
  }
  bool IsPunct(char32_t c) const { return iswpunct_l(static_cast<wint_t>(c), locale_.get()) != 0; }

 private:
  struct Free {
    void operator()(locale_t locale) const { freelocale(locale); }
  };
  std::unique_ptr<std::remove_pointer_t<locale_t>, Free> locale_;
};

constexpr std::pair<TextNormaliser, std::string_view> kNormalisers[] = {
    {TextNormaliser::kNone, "none"},
    {TextNormaliser::kLower, "lower"},
    {TextNormaliser::kLowerNoPunct, "lower-nopunct"},
};

bool IsInnerMark(char32_t c) { return c == U'\'' || c == U'\u2019' || c == U'-'; }

std::u32string Normalise(std::u32string_view word, TextNormaliser normaliser) {
  if (normaliser == TextNormaliser::kNone) return std::u32string(word);
  static const UnicodeLocale locale;
  std::u32string out;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const bool inner = i > 0 && i + 1 < word.size() && IsInnerMark(word[i]);
    if (normaliser == TextNormaliser::kLowerNoPunct && locale.IsPunct(word[i]) && !inner) continue;
    out.push_back(locale.Lower(word[i]));
  }
  return out;
}

// Counts of the best alignment of a prefix of the reference with a prefix of the hypothesis.
struct Cell {
  std::size_t total = 0, sub = 0, del = 0, ins = 0;
};

// Levenshtein 1966, row by row over the reference; the tie rule is Kaldi's.
template <typename Token>
EditCounts Align(std::span<const Token> ref, std::span<const Token> hyp) {
  std::vector<Cell> previous(hyp.size() + 1);
  for (std::size_t j = 0; j <= hyp.size(); ++j) previous[j] = {j, 0, 0, j};
  std::vector<Cell> current(hyp.size() + 1);
  for (std::size_t i = 1; i <= ref.size(); ++i) {
    current[0] = {i, 0, i, 0};
    for (std::size_t j = 1; j <= hyp.size(); ++j) {
      const bool same = ref[i - 1] == hyp[j - 1];
      const std::size_t sub = previous[j - 1].total + (same ? 0 : 1);
      const std::size_t del = previous[j].total + 1;
      const std::size_t ins = current[j - 1].total + 1;
      if (sub < ins && sub < del) {
        current[j] = previous[j - 1];
        current[j].sub += same ? 0 : 1;
        current[j].total = sub;
      } else if (del < ins) {
        current[j] = previous[j];
        ++current[j].del;
        current[j].total = del;
      } else {
        current[j] = current[j - 1];
        ++current[j].ins;
        current[j].total = ins;
      }
    }
    std::swap(previous, current);
  }
  const Cell& last = previous[hyp.size()];
  return {ref.size(), ref.size() - last.sub - last.del, last.sub, last.del, last.ins};
}

std::u32string Join(const std::vector<std::u32string>& words, bool with_spaces) {
  std::u32string text;
  for (const std::u32string& word : words) {
    // Character-level tools write a space as "_", so the two are one symbol: "uh_huh" against
    // "uh huh" costs nothing here.
    if (with_spaces && !text.empty()) text.push_back(U'_');
    text += word;
  }
  return text;
}

}  // namespace

TextNormaliser ParseTextNormaliser(std::string_view name) {
  for (const auto& [normaliser, known] : kNormalisers) {
    if (name == known) return normaliser;
  }
  throw Error(fmt::format("normaliser '{}' is not one of none, lower, lower-nopunct", name));
}

std::string_view TextNormaliserName(TextNormaliser normaliser) {
  return std::find_if(std::begin(kNormalisers), std::end(kNormalisers),
                      [&](const auto& known) { return known.first == normaliser; })
      ->second;
}

double EditCounts::Rate() const {
  return n > 0 ? static_cast<double>(Errors()) / static_cast<double>(n)
               : std::numeric_limits<double>::quiet_NaN();
}

EditCounts& EditCounts::operator+=(const EditCounts& other) {
  n += other.n;
  hits += other.hits;
  sub += other.sub;
  del += other.del;
  ins += other.ins;
  return *this;
}

EditCounts AlignTokens(const std::vector<std::u32string>& ref,
                       const std::vector<std::u32string>& hyp) {
  return Align<std::u32string>(ref, hyp);
}

EditCounts AlignCharacters(std::u32string_view ref, std::u32string_view hyp) {
  return Align<char32_t>(ref, hyp);
}

std::u32string DecodeUtf8(std::string_view text, const std::string& where) {
  std::u32string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80   ? 1
                               : lead < 0xC2 ? 0
                               : lead < 0xE0 ? 2
                               : lead < 0xF0 ? 3
                               : lead < 0xF5 ? 4
                                             : 0;
    char32_t c = length == 1 ? lead : lead & (0xFFU >> (length + 1));
    bool valid = length > 0 && i + length <= text.size();
    for (std::size_t k = 1; valid && k < length; ++k) {
      const auto byte = static_cast<unsigned char>(text[i + k]);
      valid = (byte & 0xC0U) == 0x80;
      c = (c << 6U) | (byte & 0x3FU);
    }
    // Overlong forms, surrogates and values past the end of Unicode.
    valid = valid && !(length == 3 && (c < 0x800 || (c >= 0xD800 && c < 0xE000))) &&
            !(length == 4 && (c < 0x10000 || c > 0x10FFFF));
    if (!valid) throw Error(fmt::format("{}: byte {} is not UTF-8", where, i + 1));
    out.push_back(c);
    i += length;
  }
  return out;
}

std::vector<std::u32string> SplitWords(std::u32string_view text, TextNormaliser normaliser) {
  std::vector<std::u32string> words;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin;
    while (end < text.size() && !IsSpace(text[end])) ++end;
    std::u32string word = Normalise(text.substr(begin, end - begin), normaliser);
    if (!word.empty()) words.push_back(std::move(word));
    begin = end + 1;
  }
  return words;
}

Transcripts ParseTranscripts(std::string_view text, const std::string& where) {
  RequireClean(text, where);
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);
  Transcripts out;
  std::unordered_map<std::string_view, std::size_t> seen;
  const auto lines = SplitLines(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    const std::string at = fmt::format("{}, line {}", where, i + 1);
    if (end == 0) throw Error(fmt::format("{}: begins with a blank instead of an id", at));
    const auto [first, fresh] = seen.emplace(line.substr(0, end), i + 1);
    if (!fresh) {
      throw Error(
          fmt::format("{}: id '{}' was given in line {} already", at, first->first, first->second));
    }
    DecodeUtf8(line.substr(0, end), at);
    out.emplace_back(line.substr(0, end), DecodeUtf8(line.substr(end), at));
  }
  return out;
}

WerResult ComputeWer(const Transcripts& ref, const Transcripts& hyp, const WerOptions& options) {
  std::unordered_map<std::string_view, const std::u32string*> hypotheses;
  for (const auto& [id, text] : hyp) hypotheses.emplace(id, &text);
  WerResult result;
  for (const auto& [id, text] : ref) {
    const auto found = hypotheses.find(id);
    if (found == hypotheses.end()) ++result.without_hypothesis;
  }
  result.without_reference = hyp.size() - (ref.size() - result.without_hypothesis);
  if (ref.empty()) throw Error("the reference holds no utterance");
  if (!options.allow_missing && (result.without_hypothesis > 0 || result.without_reference > 0)) {
    throw Error(
        fmt::format("{} of {} references have no hypothesis and {} of {} hypotheses have no "
                    "reference; --allow-missing counts the former as empty and drops the latter",
                    result.without_hypothesis, ref.size(), result.without_reference, hyp.size()));
  }
  for (const auto& [id, text] : ref) {
    const auto found = hypotheses.find(id);
    const auto ref_words = SplitWords(text, options.normaliser);
    const auto hyp_words = found == hypotheses.end()
                               ? std::vector<std::u32string>()
                               : SplitWords(*found->second, options.normaliser);
    const UtteranceErrors one{id, AlignTokens(ref_words, hyp_words),
                              AlignCharacters(Join(ref_words, true), Join(hyp_words, true)),
                              AlignCharacters(Join(ref_words, false), Join(hyp_words, false))};
    result.words += one.words;
    result.chars += one.chars;
    result.chars_no_spaces += one.chars_no_spaces;
    result.utterances_with_errors += one.words.Errors() > 0 ? 1 : 0;
    result.per_utterance.push_back(one);
  }
  result.utterances = result.per_utterance.size();
  return result;
}

std::vector<std::size_t> UtteranceSpeakers(const WerResult& result, std::string_view utt2spk,
                                           const std::string& where) {
  RequireClean(utt2spk, where);
  std::unordered_map<std::string_view, std::string_view> speaker_of;
  for (const std::string_view line : SplitLines(utt2spk)) {
    const auto fields = SplitBlanks(line);
    if (fields.size() == 2) speaker_of.emplace(fields[0], fields[1]);
  }
  std::unordered_map<std::string_view, std::size_t> number;
  std::vector<std::size_t> out;
  for (const UtteranceErrors& one : result.per_utterance) {
    const auto found = speaker_of.find(one.id);
    if (found == speaker_of.end()) {
      throw Error(fmt::format("{}: no speaker for utterance '{}'", where, one.id));
    }
    out.push_back(number.emplace(found->second, number.size()).first->second);
  }
  return out;
}

}  // namespace sotto
