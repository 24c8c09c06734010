#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/labelled_corpora.h"
#include "text/utf8.h"

namespace sotto {

LabelledSentence MakeSentence(std::string text, std::span<const Entity> entities) {
  LabelledSentence sentence;
  sentence.tokens = Tokenise(text);
  sentence.labels.assign(sentence.tokens.size(), kOutside);
  std::size_t at = 0;
  for (const auto& entity : entities) {
    while (at < sentence.tokens.size() && sentence.tokens[at].end <= entity.begin) ++at;
    bool first = true;
    for (; at < sentence.tokens.size() && sentence.tokens[at].begin < entity.end; ++at) {
      sentence.labels[at] = first ? BeginOf(entity.type) : InsideOf(entity.type);
      first = false;
    }
  }
  sentence.text = std::move(text);
  return sentence;
}

LabelledSentence AsTranscript(const LabelledSentence& sentence) {
  LabelledSentence made;
  made.annotated = sentence.annotated;
  made.pattern = sentence.pattern;
  made.part = sentence.part;
  std::vector<Entity> entities;
  BioLabel before = kOutside;
  for (std::size_t i = 0; i < sentence.tokens.size(); ++i) {
    const auto [from, to] = std::pair(sentence.tokens[i].begin, sentence.tokens[i].end);
    const std::string_view word = std::string_view(sentence.text).substr(from, to - from);
    const BioLabel label = sentence.labels[i];
    const bool possessive = word == "'s" || word == "\u2019s" || word == "'S";
    if (!IsWordCharacter(DecodeUtf8(word, 0).code) && !possessive) continue;
    if (!made.text.empty() && !possessive) made.text += ' ';
    const std::size_t begin = made.text.size();
    made.text += LowerCase(word);
    if (label != kOutside) {
      const bool goes_on = !IsBegin(label) && before != kOutside && !entities.empty() &&
                           TypeOf(before) == TypeOf(label);
      if (goes_on) {
        entities.back().end = made.text.size();
      } else {
        entities.push_back({begin, made.text.size(), TypeOf(label)});
      }
    }
    before = label;
  }
  auto with_labels = MakeSentence(std::move(made.text), entities);
  made.text = std::move(with_labels.text);
  made.tokens = std::move(with_labels.tokens);
  made.labels = std::move(with_labels.labels);
  return made;
}

std::vector<Entity> EntitiesOf(const LabelledSentence& sentence) {
  return EntitiesOf(sentence.tokens, sentence.labels);
}

}  // namespace sotto
