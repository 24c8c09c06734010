#include "attack/hiding_voices.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/error.h"

namespace sotto {
namespace {

using Eigen::Index;
using Paths = std::vector<std::filesystem::path>;

EmbeddingSet ReadAll(const Paths& folders, std::vector<std::size_t>* folder_of = nullptr) {
  EmbeddingSet all;
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const EmbeddingSet set = ReadEmbeddings(folders[i]);
    AppendVoices(all, set, folders[i].string());
    if (folder_of != nullptr) folder_of->insert(folder_of->end(), set.size(), i);
  }
  return all;
}

// Without speakers who have no label, where these may be left out.
std::vector<std::size_t> LabelledPlaces(const EmbeddingSet& set, const AttributeLabels& labels,
                                        const HidingSources& sources, const std::string& where) {
  if (sources.unknown.empty()) labels.Of(set, where);
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (labels.of_speaker.contains(set.speakers[i])) places.push_back(i);
  }
  return places;
}

void RefuseShared(const EmbeddingSet& test, const std::vector<std::string>& others,
                  const std::string& what) {
  const std::set<std::string> tested(test.speakers.begin(), test.speakers.end());
  std::set<std::string> shared;
  for (const std::string& speaker : others) {
    if (tested.contains(speaker)) shared.insert(speaker);
  }
  if (shared.empty()) return;
  throw Error(
      fmt::format("{} speakers of --test are also in {} (the first: '{}'): test speakers "
                  "must be heard by nobody before",
                  shared.size(), what, *shared.begin()));
}

// Categories that none of these speakers have are no categories here.
AttributeLabels OnlyOf(const AttributeLabels& labels, const HidingVoices& voices) {
  std::map<std::string, std::string> word;
  std::set<std::string> words;
  for (const EmbeddingSet* set : {&voices.attack, &voices.test}) {
    for (const std::string& speaker : set->speakers) {
      const int category = labels.of_speaker.at(speaker);
      word[speaker] = labels.categories[static_cast<std::size_t>(category)];
      words.insert(word[speaker]);
    }
  }
  AttributeLabels only{labels.name, {words.begin(), words.end()}, {}};
  for (const auto& [speaker, own] : word) {
    only.of_speaker[speaker] = static_cast<int>(std::distance(words.begin(), words.find(own)));
  }
  return only;
}

AttributeLabels ReadLabels(const HidingSources& sources, const HidingVoices& voices) {
  if (!sources.labels.empty()) {
    return ReadAttributeLabels(sources.labels, sources.attribute, sources.unknown);
  }
  if (sources.attribute != "gender") {
    throw Error("embeddings tell genders alone: other attributes need --labels");
  }
  EmbeddingSet all = voices.test;
  all.genders.insert(voices.attack.genders.begin(), voices.attack.genders.end());
  return GenderLabels(all, "--attack and --test");
}

// Their last parts, where these differ.
std::vector<std::string> FolderNames(const Paths& folders) {
  std::vector<std::string> whole, last;
  for (const std::filesystem::path& folder : folders) {
    whole.push_back(folder.string());
    last.push_back((folder / ".").lexically_normal().parent_path().filename().string());
  }
  const std::set<std::string> distinct(last.begin(), last.end());
  return distinct.size() == last.size() && !distinct.contains("") ? last : whole;
}

}  // namespace

bool IsCrop(const std::string& id) { return id.find('#') != std::string::npos; }

void AppendVoices(EmbeddingSet& to, const EmbeddingSet& from, const std::string& where) {
  if (from.size() == 0) throw Error(fmt::format("{}: no embeddings", where));
  if (!from.HasSpeakers()) {
    throw Error(
        fmt::format("{}: embeddings without speakers: a folder with utt2spk is needed", where));
  }
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from.vectors.col(static_cast<Index>(i)).squaredNorm() > 0.0F) continue;
    throw Error(
        fmt::format("{}: voiceprint '{}' is all zeros: it has no direction", where, from.ids[i]));
  }
  if (to.size() > 0 && to.Dimension() != from.Dimension()) {
    throw Error(fmt::format("{} has {} dimensions, the others {}", where, from.Dimension(),
                            to.Dimension()));
  }
  Eigen::MatrixXf vectors(from.Dimension(), to.vectors.cols() + from.vectors.cols());
  if (to.size() > 0) vectors.leftCols(to.vectors.cols()) = to.vectors;
  vectors.rightCols(from.vectors.cols()) = from.vectors;
  to.vectors = std::move(vectors);
  to.ids.insert(to.ids.end(), from.ids.begin(), from.ids.end());
  to.speakers.insert(to.speakers.end(), from.speakers.begin(), from.speakers.end());
  for (const auto& [speaker, gender] : from.genders) {
    const auto [known, fresh] = to.genders.emplace(speaker, gender);
    if (fresh || known->second == gender) continue;
    throw Error(fmt::format("speaker '{}' is of two genders: in {} and in a folder before it",
                            speaker, where));
  }
}

HidingVoices ReadHidingVoices(const HidingSources& sources) {
  Paths all = sources.test;
  all.insert(all.end(), sources.attack.begin(), sources.attack.end());
  all.insert(all.end(), sources.fit.begin(), sources.fit.end());
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) RequireSameEncoder(all[j], all[i]);
  }
  HidingVoices voices;
  voices.folders = FolderNames(sources.test);
  for (const auto& folder : all) {
    if (const auto record = ReadEncoderRecord(folder)) voices.encoder = *record;
  }
  voices.test = ReadAll(sources.test, &voices.folder_of);
  voices.attack = ReadAll(sources.attack);
  if (voices.test.Dimension() != voices.attack.Dimension()) {
    throw Error(fmt::format("--test has {} dimensions, --attack {}", voices.test.Dimension(),
                            voices.attack.Dimension()));
  }
  RefuseShared(voices.test, voices.attack.speakers, "--attack");
  RefuseShared(voices.test, ReadAll(sources.fit).speakers, "--fit");
  const AttributeLabels labels = ReadLabels(sources, voices);
  const auto kept = LabelledPlaces(voices.test, labels, sources, "--test");
  std::vector<std::size_t> folder_of;
  folder_of.reserve(kept.size());
  for (const std::size_t place : kept) folder_of.push_back(voices.folder_of[place]);
  voices.folder_of = std::move(folder_of);
  voices.test = voices.test.Select(kept);
  voices.attack = voices.attack.Select(LabelledPlaces(voices.attack, labels, sources, "--attack"));
  voices.labels = OnlyOf(labels, voices);
  return voices;
}

HiderData ReadFitVoices(const HidingSources& sources) {
  HiderSources fit;
  fit.embeddings = sources.fit;
  if (!sources.labels.empty()) fit.labels = {sources.labels};
  fit.attributes = {sources.attribute};
  fit.unknown = sources.unknown;
  fit.merge_speakers = true;
  return ReadHiderInput(fit).data;
}

Categories CategoriesFor(const Hider& hider, const AttributeLabels& labels,
                         const EmbeddingSet& set) {
  const HiderHeader& header = hider.Header();
  const auto hidden = std::find_if(header.attributes.begin(), header.attributes.end(),
                                   [&](const auto& one) { return one.name == labels.name; });
  if (hidden == header.attributes.end()) {
    throw Error(fmt::format("a model of method {} does not hide {}", header.method, labels.name));
  }
  if (!hider.AsksForCategories()) return {};
  if (header.attributes.size() > 1) {
    throw Error(fmt::format("a model of method {} asks for {} attributes; one can be told here",
                            header.method, header.attributes.size()));
  }
  const std::vector<int> own = labels.Of(set, "voiceprints to be protected");
  Categories categories(1, static_cast<Index>(own.size()));
  for (std::size_t i = 0; i < own.size(); ++i) {
    const std::string& word = labels.categories[static_cast<std::size_t>(own[i])];
    const auto known = std::find(hidden->categories.begin(), hidden->categories.end(), word);
    if (known == hidden->categories.end()) {
      throw Error(
          fmt::format("a model of method {} knows no {} '{}'", header.method, labels.name, word));
    }
    categories(0, static_cast<Index>(i)) =
        static_cast<int>(std::distance(hidden->categories.begin(), known));
  }
  return categories;
}

}  // namespace sotto
