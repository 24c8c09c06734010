#include "speaker/hider_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "speaker/scoring.h"

namespace sotto {
namespace {

using Eigen::Index;

// Labels of the speakers of one folder by name, for each attribute.
using Words = std::vector<std::map<std::string, std::string>>;

// One folder.
struct Source {
  std::string where;
  EmbeddingSet set;
  Words words;
};

// A person: the folder, unless they are merged, and the name.
using Person = std::pair<std::size_t, std::string>;

std::string GenderWord(const std::string& word, const std::string& speaker,
                       const std::string& where) {
  const Gender gender = ParseGender(word);
  if (gender != Gender::kUnknown) return Name(gender);
  throw Error(
      fmt::format("{}: speaker '{}' has gender '{}': F or M is allowed, and --unknown {} "
                  "leaves such speakers out",
                  where, speaker, word, word));
}

Words ReadWords(const EmbeddingSet& set, const HiderSources& sources, std::size_t folder) {
  Words words(sources.attributes.size());
  if (sources.labels.empty()) {
    if (sources.attributes.size() != 1 || sources.attributes[0] != "gender") {
      throw Error("embeddings tell genders alone: other attributes need --labels");
    }
    for (const auto& [speaker, gender] : set.genders) {
      if (gender != Gender::kUnknown) words[0].emplace(speaker, Name(gender));
    }
    return words;
  }
  const std::filesystem::path& table = sources.labels[sources.labels.size() == 1 ? 0 : folder];
  for (std::size_t a = 0; a < words.size(); ++a) {
    const AttributeLabels labels =
        ReadAttributeLabels(table, sources.attributes[a], sources.unknown);
    for (const std::string& speaker : std::set(set.speakers.begin(), set.speakers.end())) {
      const auto label = labels.of_speaker.find(speaker);
      if (label == labels.of_speaker.end()) continue;
      const std::string& word = labels.categories[static_cast<std::size_t>(label->second)];
      words[a][speaker] =
          sources.attributes[a] == "gender" ? GenderWord(word, speaker, table.string()) : word;
    }
  }
  return words;
}

void CheckSet(const EmbeddingSet& set, const std::string& where) {
  if (set.size() == 0) throw Error(fmt::format("{}: no embeddings", where));
  if (!set.HasSpeakers()) {
    throw Error(
        fmt::format("{}: embeddings without speakers: a folder with utt2spk is needed", where));
  }
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (set.vectors.col(static_cast<Index>(i)).squaredNorm() > 0.0F) continue;
    throw Error(
        fmt::format("{}: voiceprint '{}' is all zeros: it has no direction", where, set.ids[i]));
  }
}

std::vector<Source> ReadSources(const HiderSources& sources) {
  if (sources.embeddings.empty()) throw Error("no embeddings are named");
  const std::set<std::string> named(sources.attributes.begin(), sources.attributes.end());
  if (named.empty() || named.size() < sources.attributes.size()) {
    throw Error("no attribute is named, or one of them twice");
  }
  if (sources.labels.size() > 1 && sources.labels.size() != sources.embeddings.size()) {
    throw Error(fmt::format("{} tables of labels for {} folders: one for all, or one for each",
                            sources.labels.size(), sources.embeddings.size()));
  }
  std::vector<Source> all;
  for (std::size_t i = 0; i < sources.embeddings.size(); ++i) {
    const std::filesystem::path& folder = sources.embeddings[i];
    Source source{folder.string(), ReadEmbeddings(folder), {}};
    CheckSet(source.set, source.where);
    RequireSameEncoder(sources.embeddings[0], folder);
    if (source.set.Dimension() != (all.empty() ? source : all[0]).set.Dimension()) {
      throw Error(fmt::format("{} has {} dimensions, {} {}", source.where, source.set.Dimension(),
                              all[0].where, all[0].set.Dimension()));
    }
    source.words = ReadWords(source.set, sources, i);
    all.push_back(std::move(source));
  }
  return all;
}

// Refuses names that may be one person or two, and say so of nobody's labels.
void CheckNames(const std::vector<Source>& all, const HiderSources& sources) {
  std::map<std::string, const Source*> seen;
  for (const Source& source : all) {
    for (const auto& [speaker, places] : source.set.BySpeaker()) {
      const auto [known, fresh] = seen.try_emplace(speaker, &source);
      if (fresh) continue;
      if (!sources.merge_speakers) {
        if (sources.labels.size() != 1) continue;
        throw Error(
            fmt::format("speaker '{}' is in {} and in {}, and {} has one label for the "
                        "name: give --merge-speakers, or a table for each",
                        speaker, known->second->where, source.where, sources.labels[0].string()));
      }
      for (std::size_t a = 0; a < source.words.size(); ++a) {
        const auto here = source.words[a].find(speaker);
        const auto there = known->second->words[a].find(speaker);
        if (here == source.words[a].end() || there == known->second->words[a].end()) continue;
        if (here->second == there->second) continue;
        throw Error(fmt::format("speaker '{}' is of two values of {}: '{}' in {}, '{}' in {}",
                                speaker, sources.attributes[a], there->second, known->second->where,
                                here->second, source.where));
      }
    }
  }
}

bool IsLabelled(const Words& words, const std::string& speaker) {
  return std::all_of(words.begin(), words.end(),
                     [&](const auto& of) { return of.contains(speaker); });
}

// Throws Error unless all speakers are labelled, or those who are not may be left out.
std::size_t LeftOut(const Source& source, const HiderSources& sources) {
  std::vector<std::string> without;
  const auto speakers = source.set.BySpeaker();
  for (const auto& [speaker, places] : speakers) {
    if (!IsLabelled(source.words, speaker)) without.push_back(speaker);
  }
  if (without.empty() || !sources.unknown.empty()) return without.size();
  throw Error(fmt::format(
      "{}: {} of {} speakers have no {} (the first: '{}'); --unknown leaves out "
      "those without a label, and those of the labels it names",
      source.where, without.size(), speakers.size(), ListOf(sources.attributes), without.front()));
}

std::vector<HiddenAttribute> Attributes(const std::vector<Source>& all,
                                        const HiderSources& sources) {
  std::vector<HiddenAttribute> attributes;
  for (std::size_t a = 0; a < sources.attributes.size(); ++a) {
    std::set<std::string> words;
    for (const Source& source : all) {
      for (const auto& [speaker, places] : source.set.BySpeaker()) {
        if (IsLabelled(source.words, speaker)) words.insert(source.words[a].at(speaker));
      }
    }
    const std::string& name = sources.attributes[a];
    if (words.empty()) throw Error(fmt::format("no speaker has a known {}", name));
    if (words.size() == 1) {
      throw Error(fmt::format("all speakers have the same {} ('{}'): there is nothing to hide",
                              name, *words.begin()));
    }
    attributes.push_back({name, {words.begin(), words.end()}});
  }
  return attributes;
}

}  // namespace

HiderInput ReadHiderInput(const HiderSources& sources) {
  const std::vector<Source> all = ReadSources(sources);
  CheckNames(all, sources);
  HiderInput input;
  HiderData& data = input.data;
  for (const Source& source : all) input.left_out += LeftOut(source, sources);
  data.header.attributes = Attributes(all, sources);
  for (const auto& folder : sources.embeddings) {
    const auto record = ReadEncoderRecord(folder);
    if (record) data.header.encoder = *record;
  }
  Index n = 0;
  for (const Source& source : all) n += source.set.vectors.cols();
  data.x.resize(all[0].set.Dimension(), n);
  data.categories.resize(std::ssize(data.header.attributes), n);
  for (const HiddenAttribute& attribute : data.header.attributes) {
    input.speakers.emplace_back(attribute.categories.size());
  }
  std::map<Person, int> persons;
  n = 0;
  for (std::size_t domain = 0; domain < all.size(); ++domain) {
    const Source& source = all[domain];
    for (std::size_t i = 0; i < source.set.size(); ++i) {
      const std::string& speaker = source.set.speakers[i];
      if (!IsLabelled(source.words, speaker)) continue;
      const auto [person, fresh] = persons.try_emplace(
          {sources.merge_speakers ? 0 : domain, speaker}, static_cast<int>(persons.size()));
      for (std::size_t a = 0; a < source.words.size(); ++a) {
        const auto& categories = data.header.attributes[a].categories;
        const auto place =
            std::find(categories.begin(), categories.end(), source.words[a].at(speaker)) -
            categories.begin();
        data.categories(static_cast<Index>(a), n) = static_cast<int>(place);
        input.speakers[a][static_cast<std::size_t>(place)] += fresh ? 1 : 0;
      }
      data.x.col(n++) = source.set.vectors.col(static_cast<Index>(i));
      data.speaker.push_back(person->second);
      data.domain.push_back(static_cast<int>(domain));
    }
  }
  data.x = UnitLength(data.x.leftCols(n));
  data.categories.conservativeResize(Eigen::NoChange, n);
  return input;
}

}  // namespace sotto
