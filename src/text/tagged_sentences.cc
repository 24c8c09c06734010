#include "text/tagged_sentences.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"

namespace sotto {

std::string WriteTaggedSentences(const std::vector<TaggedSentence>& sentences) {
  std::string text;
  for (const TaggedSentence& sentence : sentences) {
    text +=
        DumpJson(nlohmann::ordered_json{{"words", sentence.words}, {"labels", sentence.labels}});
    text += '\n';
  }
  return text;
}

std::vector<TaggedSentence> ParseTaggedSentences(std::string_view text, const std::string& where) {
  std::vector<TaggedSentence> sentences;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const nlohmann::json json = TryParseJson(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    TaggedSentence sentence;
    std::vector<std::uint64_t> numbers;
    try {
      json.at("words").get_to(sentence.words);
      json.at("labels").get_to(numbers);
    } catch (const nlohmann::json::exception&) {
      throw Error(fmt::format("{}: line {} is no JSON object with lists of 'words' and 'labels'",
                              where, line));
    }
    if (std::any_of(numbers.begin(), numbers.end(),
                    [](std::uint64_t label) { return label >= kBioLabels; })) {
      throw Error(fmt::format("{}: line {}: labels are 0 to {}", where, line, kBioLabels - 1));
    }
    sentence.labels.assign(numbers.begin(), numbers.end());
    if (sentence.words.empty() || sentence.words.size() != sentence.labels.size()) {
      throw Error(
          fmt::format("{}: line {} has {} words and {} labels: as many of both, and at "
                      "least one, are allowed",
                      where, line, sentence.words.size(), sentence.labels.size()));
    }
    sentences.push_back(std::move(sentence));
  }
  return sentences;
}

std::vector<TaggedSentence> ReadTaggedSentences(const std::filesystem::path& path) {
  return ParseTaggedSentences(ReadTextFile(path), path.string());
}

}  // namespace sotto
