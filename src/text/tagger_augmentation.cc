#include "text/tagger_augmentation.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "text/utf8.h"

namespace sotto {
namespace {

bool HasCapitals(std::string_view text) { return LowerCase(text) != text; }

// ASCII letters only, like most of the texts that are written so.
std::string InCapitals(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

const std::string& Any(const std::vector<std::string>& list, SeededRng& rng) {
  return list[rng.Below(list.size())];
}

}  // namespace

void AugmentationOptions::Validate() const {
  const std::pair<const char*, double> shares[] = {{"transcripts", transcripts},
                                                   {"lowered", lowered},
                                                   {"capitals", capitals},
                                                   {"replaced", replaced},
                                                   {"unknown", unknown}};
  for (const auto& [name, share] : shares) {
    if (!(share >= 0.0 && share <= 1.0)) {
      throw Error(fmt::format("{} {}: a share from 0 to 1 is allowed", name, share));
    }
  }
}

Augmentation::Augmentation(std::span<const LabelledCorpus> corpora, const NameLists& names,
                           const AugmentationOptions& options)
    : names_(names), gazetteers_(names), options_(options), pools_(corpora.size()) {
  options.Validate();
  for (std::size_t i = 0; i < corpora.size(); ++i) {
    for (const auto& sentence : corpora[i].sentences) {
      if (sentence.part != CorpusPart::kTrain) continue;
      for (const auto& entity : EntitiesOf(sentence)) {
        pools_[i][static_cast<std::size_t>(entity.type)].push_back(
            sentence.text.substr(entity.begin, entity.end - entity.begin));
      }
    }
  }
}

std::string Augmentation::OtherPerson(std::string_view words, SeededRng& rng) const {
  const auto first_name = [&]() -> const std::string& {
    const double draw = rng.Uniform();
    if (draw < 0.4 && !names_.female.empty()) return Any(names_.female, rng);
    if (draw < 0.8 && !names_.male.empty()) return Any(names_.male, rng);
    return Any(names_.first, rng);
  };
  const auto surname = [&]() -> const std::string& {
    const double draw = rng.Uniform();
    if (draw < 0.25 && !names_.common_surnames.empty()) return Any(names_.common_surnames, rng);
    if (draw < 0.5 && !names_.other_surnames.empty()) return Any(names_.other_surnames, rng);
    return Any(names_.surnames, rng);
  };
  if (names_.first.empty() || names_.surnames.empty()) return {};
  const std::size_t count = Tokenise(words).size();
  if (count == 1) return rng.Uniform() < 0.75 ? first_name() : surname();
  if (count == 2) return first_name() + " " + surname();
  return first_name() + " " + (rng.Uniform() < 0.5 ? first_name() : surname()) + " " + surname();
}

std::string Augmentation::OtherPlace(std::string_view words, SeededRng& rng) const {
  const std::string lower = LowerCase(words);
  std::uint32_t hash = kNoWords;
  for (const auto& token : Tokenise(lower)) {
    const auto word = std::string_view(lower).substr(token.begin, token.end - token.begin);
    if (IsWordCharacter(DecodeUtf8(word, 0).code)) hash = HashOfWords(hash, word);
  }
  const NameKinds kinds = gazetteers_.Find(hash);
  if ((kinds & kCountry) != 0) return Any(names_.countries, rng);
  if ((kinds & kRegion) != 0 && rng.Uniform() < 0.5) return Any(names_.regions, rng);
  if ((kinds & (kCity | kRegion)) != 0 && !names_.cities.empty()) return Any(names_.cities, rng);
  return {};
}

std::string Augmentation::Other(std::string_view words, EntityType type, std::size_t corpus,
                                SeededRng& rng) const {
  // Handles and tags are no names of the lists.
  if (words.find_first_of("@#_/") != std::string_view::npos && type != EntityType::kDate) return {};
  std::string other;
  if (type == EntityType::kPerson && rng.Uniform() < 0.8) other = OtherPerson(words, rng);
  if (type == EntityType::kLocation) other = OtherPlace(words, rng);
  const auto& pool = pools_[corpus][static_cast<std::size_t>(type)];
  if (other.empty() && !pool.empty()) other = Any(pool, rng);
  return HasCapitals(words) ? other : LowerCase(other);
}

LabelledSentence Augmentation::Replace(const LabelledSentence& sentence, std::size_t corpus,
                                       SeededRng& rng) const {
  std::string text;
  std::vector<Entity> entities;
  std::size_t at = 0;
  for (auto entity : EntitiesOf(sentence)) {
    text += sentence.text.substr(at, entity.begin - at);
    at = entity.end;
    std::string words = sentence.text.substr(entity.begin, entity.end - entity.begin);
    if (rng.Uniform() < options_.replaced) {
      std::string other = Other(words, entity.type, corpus, rng);
      if (!other.empty()) words = std::move(other);
    }
    entities.push_back({text.size(), text.size() + words.size(), entity.type});
    text += words;
  }
  text += sentence.text.substr(at);
  auto made = MakeSentence(std::move(text), entities);
  made.annotated = sentence.annotated;
  return made;
}

LabelledSentence Augmentation::Vary(const LabelledSentence& sentence, std::size_t corpus,
                                    SeededRng& rng) const {
  LabelledSentence made = Replace(sentence, corpus, rng);
  const double draw = rng.Uniform();
  if (draw < options_.transcripts) return AsTranscript(made);
  const double other = draw - options_.transcripts;
  if (other < options_.lowered) {
    made.text = LowerCase(made.text);
  } else if (other < options_.lowered + options_.capitals) {
    made.text = InCapitals(std::move(made.text));
  }
  return made;
}

std::vector<bool> Augmentation::Unknown(std::size_t tokens, SeededRng& rng) const {
  std::vector<bool> unknown(tokens);
  for (std::size_t i = 0; i < tokens; ++i) unknown[i] = rng.Uniform() < options_.unknown;
  return unknown;
}

}  // namespace sotto
