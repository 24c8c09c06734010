#include "attack/word_corpora.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "attack/word_splits.h"
#include "audio/transcripts.h"
#include "base/error.h"

namespace sotto {
namespace {

std::optional<long> ParseDigits(std::string_view text) {
  long value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end || text.empty() || value < 0) return std::nullopt;
  return value;
}

WordAttribute MakeAttribute(const std::string& name, const std::array<std::string, 2>& classes,
                            std::size_t speakers) {
  WordAttribute attribute;
  attribute.name = name;
  attribute.classes = classes;
  attribute.labels.assign(speakers, -1);
  return attribute;
}

constexpr const char* kExpected =
    "where speakers read what they were given, chance: the words are those of the text's author";
constexpr const char* kBooks =
    "ids are speaker-chapter-utterance: sentences of one book lie on both sides of a split by "
    "sentence, and a book links its reader";

}  // namespace

int ParseAgeGroup(std::string_view age) {
  constexpr std::array<std::string_view, 9> kDecades = {"twenties",  "thirties", "forties",
                                                        "fourties",  "fifties",  "sixties",
                                                        "seventies", "eighties", "nineties"};
  if (age == "teens") return 1;
  if (std::find(kDecades.begin(), kDecades.end(), age) != kDecades.end()) return 0;
  const std::optional<long> years = ParseDigits(age);
  if (!years || *years > 130) return -1;
  return *years < 20 ? 1 : 0;
}

std::optional<long> ChapterOf(std::string_view utterance, std::string_view speaker) {
  const std::size_t first = utterance.find('-');
  if (first == std::string_view::npos || utterance.substr(0, first) != speaker) return std::nullopt;
  const std::string_view rest = utterance.substr(first + 1);
  const std::size_t second = rest.find('-');
  if (second == std::string_view::npos || !ParseDigits(speaker)) return std::nullopt;
  if (!ParseDigits(rest.substr(second + 1))) return std::nullopt;
  return ParseDigits(rest.substr(0, second));
}

WordCorpus ReadWordCorpus(const std::filesystem::path& path) {
  const Corpus corpus = OpenCorpus(path);
  const std::map<std::string, std::string> transcripts = Transcripts(corpus);
  WordCorpus words;
  const std::filesystem::path named = path.has_filename() ? path : path.parent_path();
  words.name = named.filename().string();
  words.expected = kExpected;
  std::map<std::string, std::size_t> place;
  std::size_t sentences = 0, chapters = 0;
  for (const Recording& recording : corpus.recordings) {
    for (const Span& span : recording.spans) {
      const auto found = transcripts.find(span.utterance);
      if (found == transcripts.end()) continue;
      std::vector<std::string> sentence = WordsOf(found->second);
      if (sentence.empty()) continue;
      const auto [at, fresh] = place.emplace(span.speaker, words.speakers.size());
      if (fresh) words.speakers.push_back({span.speaker, {}});
      words.speakers[at->second].sentences.push_back(std::move(sentence));
      ++sentences;
      if (ChapterOf(span.utterance, span.speaker)) ++chapters;
    }
  }
  if (words.speakers.empty()) {
    throw Error(fmt::format("'{}': none of {} utterances has a transcript", path.string(),
                            corpus.utterances));
  }
  if (chapters == sentences) words.notes.emplace_back(kBooks);
  WordAttribute gender = MakeAttribute("gender", {"male", "female"}, words.speakers.size());
  WordAttribute age = MakeAttribute("age", {"adult", "teenager"}, words.speakers.size());
  const std::map<std::string, Gender> genders = SpeakerGenders(corpus);
  const std::map<std::string, std::string> ages = SpeakerColumn(corpus, "age");
  for (std::size_t s = 0; s < words.speakers.size(); ++s) {
    const auto gender_of = genders.find(words.speakers[s].id);
    if (gender_of != genders.end() && gender_of->second != Gender::kUnknown) {
      gender.labels[s] = gender_of->second == Gender::kFemale ? 1 : 0;
    }
    const auto age_of = ages.find(words.speakers[s].id);
    if (age_of != ages.end()) {
      age.labels[s] = static_cast<std::int8_t>(ParseAgeGroup(age_of->second));
    }
  }
  for (WordAttribute* attribute : {&gender, &age}) {
    const auto counts = CountLabelled(words, *attribute);
    if (std::min(counts[0], counts[1]) >= kFewestOfClass) {
      words.attributes.push_back(std::move(*attribute));
      continue;
    }
    words.notes.push_back(fmt::format("{}: {} {} and {} {} speakers; {} of each are needed",
                                      attribute->name, counts[0], attribute->classes[0], counts[1],
                                      attribute->classes[1], kFewestOfClass));
  }
  return words;
}

}  // namespace sotto
