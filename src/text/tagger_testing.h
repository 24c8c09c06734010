// For tests only: a small world in which some words are names, and a tagger that has learned it.
#pragma once

#include <string>
#include <vector>

#include "base/random.h"
#include "text/labelled_corpora.h"
#include "text/tagger_training.h"

namespace sotto::testing {

inline NameLists SmallLists() {
  NameLists lists;
  lists.female = {"Anna", "Berta", "Clara", "Dora", "Emma", "Flora", "Greta", "Hanna"};
  lists.male = {"Adam", "Bruno", "Carl", "David", "Emil", "Felix", "Georg", "Hugo"};
  lists.first = lists.female;
  lists.surnames = {"Huber", "Maier", "Bauer", "Wagner"};
  lists.cities = {"Linz", "Graz", "Wels", "Steyr", "Bad Ischl", "Villach"};
  lists.countries = {"Austria", "Norway"};
  lists.regions = {"Tyrol"};
  return lists;
}

// Sentences of a few templates; `unmarked_dates`: dates are there and stand under O.
inline LabelledCorpus SmallCorpus(bool unmarked_dates = false) {
  const NameLists lists = SmallLists();
  static const char* const days[] = {"today", "tomorrow", "next monday", "this friday"};
  SeededRng rng(7);
  LabelledCorpus corpus{"small", {}};
  for (int i = 0; i < 400; ++i) {
    const std::string name =
        rng.Below(2) == 0 ? lists.female[rng.Below(8)] : lists.male[rng.Below(8)];
    const std::string city = lists.cities[rng.Below(6)], day = days[rng.Below(4)];
    const std::string before = i % 2 == 0 ? "Please call " : "Write to ";
    const std::string in = i % 3 == 0 ? " in " : " near ";
    std::string text = before;
    for (const std::string& part : {name, in, city, std::string(" about lunch "), day})
      text += part;
    std::vector<Entity> entities = {
        {before.size(), before.size() + name.size(), EntityType::kPerson},
        {before.size() + name.size() + in.size(),
         before.size() + name.size() + in.size() + city.size(), EntityType::kLocation}};
    if (!unmarked_dates)
      entities.push_back({text.size() - day.size(), text.size(), EntityType::kDate});
    auto sentence = MakeSentence(text, entities);
    if (unmarked_dates) {
      sentence.annotated[static_cast<std::size_t>(EntityType::kDate)] = false;
      sentence.annotated[static_cast<std::size_t>(EntityType::kTime)] = false;
    }
    sentence.pattern = text;
    sentence.part = i % 5 == 0   ? CorpusPart::kReport
                    : i % 5 == 1 ? CorpusPart::kTune
                                 : CorpusPart::kTrain;
    corpus.sentences.push_back(std::move(sentence));
  }
  return corpus;
}

inline TaggerTrainingOptions SmallOptions() {
  TaggerTrainingOptions options;
  options.epochs = 3;
  options.final_epochs = 1;
  options.features = 5000;
  return options;
}

}  // namespace sotto::testing
