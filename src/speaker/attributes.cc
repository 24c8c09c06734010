#include "speaker/attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/input.h"
#include "base/tsv.h"

namespace sotto {
namespace {

// Categories by name, the same number for the same word.
AttributeLabels FromWords(const std::string& name,
                          const std::map<std::string, std::string>& word_of_speaker,
                          const std::string& where) {
  AttributeLabels labels;
  labels.name = name;
  std::set<std::string> words;
  for (const auto& [speaker, word] : word_of_speaker) words.insert(word);
  if (words.empty()) throw Error(fmt::format("{}: no speaker has a label for {}", where, name));
  if (words.size() == 1) {
    throw Error(fmt::format("{}: all {} speakers have the same {} ('{}'): nothing to hide", where,
                            word_of_speaker.size(), name, *words.begin()));
  }
  labels.categories.assign(words.begin(), words.end());
  for (const auto& [speaker, word] : word_of_speaker) {
    labels.of_speaker[speaker] = static_cast<int>(std::distance(words.begin(), words.find(word)));
  }
  return labels;
}

}  // namespace

std::vector<int> AttributeLabels::Of(const EmbeddingSet& set, const std::string& where) const {
  std::vector<int> found;
  found.reserve(set.size());
  std::set<std::string> missing;
  for (const std::string& speaker : set.speakers) {
    const auto label = of_speaker.find(speaker);
    if (label == of_speaker.end()) {
      missing.insert(speaker);
    } else {
      found.push_back(label->second);
    }
  }
  if (!missing.empty()) {
    throw Error(fmt::format("{}: {} of {} speakers have no {} (the first: '{}')", where,
                            missing.size(), set.BySpeaker().size(), name, *missing.begin()));
  }
  return found;
}

EmbeddingSet AttributeLabels::Labelled(const EmbeddingSet& set) const {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (of_speaker.contains(set.speakers.at(i))) places.push_back(i);
  }
  return set.Select(places);
}

AttributeLabels GenderLabels(const EmbeddingSet& set, const std::string& where) {
  std::map<std::string, std::string> words;
  for (const auto& [speaker, gender] : set.genders) {
    if (gender != Gender::kUnknown) words[speaker] = std::string(Name(gender));
  }
  return FromWords("gender", words, where);
}

std::map<std::string, std::string> ReadAttributeWords(const std::filesystem::path& table,
                                                      const std::string& attribute,
                                                      const std::vector<std::string>& unknown) {
  const std::string where = table.string();
  const std::string text = ReadTextFile(table, kLargestTable);
  const Tsv tsv = ParseTsv(text, where);
  const std::size_t speaker = tsv.Column("speaker"), value = tsv.Column(attribute);
  if (speaker == Tsv::kNone) throw Error(fmt::format("{}: no column 'speaker'", where));
  if (value == Tsv::kNone) throw Error(fmt::format("{}: no column '{}'", where, attribute));
  std::map<std::string, std::string> words;
  for (std::size_t i = 0; i < tsv.rows.size(); ++i) {
    const std::string who(tsv.rows[i][speaker]), what(tsv.rows[i][value]);
    if (what.empty() || std::find(unknown.begin(), unknown.end(), what) != unknown.end()) continue;
    std::string& known = words[who];
    if (known.empty()) known = what;
    if (known != what) {
      throw Error(fmt::format("{}: line {}: speaker '{}' has two values of {}, '{}' and '{}'",
                              where, tsv.lines[i], who, attribute, known, what));
    }
  }
  return words;
}

AttributeLabels ReadAttributeLabels(const std::filesystem::path& table,
                                    const std::string& attribute,
                                    const std::vector<std::string>& unknown) {
  return FromWords(attribute, ReadAttributeWords(table, attribute, unknown), table.string());
}

}  // namespace sotto
