#include "text/entity_finder.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "text/foreign_tagger.h"
#include "text/patterns.h"
#include "text/tagger.h"

namespace sotto {

extern const std::string_view kEntitiesBytes;  // entities.safetensors

TaggerFinder::TaggerFinder(std::shared_ptr<const Tagger> tagger, std::optional<double> recall)
    : tagger_(std::move(tagger)) {
  if (recall) threshold_ = tagger_->ThresholdOf(*recall);
}

std::vector<Entity> TaggerFinder::Find(std::string_view text) const {
  const auto tokens = Tokenise(text);
  std::vector<Entity> entities;
  BioLabel before = kOutside;
  for (const auto& window : Tagger::Windows(tokens.size())) {
    const TaggedText tagged = tagger_->TagWindow(text, tokens, window.first, window.second);
    const auto labels = threshold_ ? LabelsAbove(tagged, *threshold_) : tagged.labels;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const BioLabel label = labels[i];
      if (label != kOutside) {
        const EntityType type = TypeOf(label);
        const auto& marginals = tagged.marginals[i];
        const double sure = marginals[BeginOf(type)] + marginals[InsideOf(type)];
        if (IsBegin(label) || !MayFollow(before, label)) {
          entities.push_back({tagged.tokens[i].begin, tagged.tokens[i].end, type, sure});
        } else {
          entities.back().end = tagged.tokens[i].end;
          entities.back().confidence = std::min(entities.back().confidence, sure);
        }
      }
      before = label;
    }
  }
  return entities;
}

CombinedFinder::CombinedFinder(std::vector<std::unique_ptr<EntityFinder>> finders,
                               std::vector<EntityType> types)
    : finders_(std::move(finders)), types_(std::move(types)) {}

std::vector<Entity> CombinedFinder::Find(std::string_view text) const {
  std::vector<Entity> all;
  for (const auto& finder : finders_) {
    const auto found = finder->Find(text);
    all.insert(all.end(), found.begin(), found.end());
  }
  // Before the types are chosen: a name within an address is none of its own, and stays with it.
  all = WithoutOverlap(std::move(all));
  std::erase_if(all, [&](const Entity& entity) {
    return !types_.empty() && std::find(types_.begin(), types_.end(), entity.type) == types_.end();
  });
  return all;
}

std::shared_ptr<const Tagger> ProgramTagger() {
  static const auto tagger = std::make_shared<const Tagger>(
      ParseTaggerModel(kEntitiesBytes, "the program's model of entities"));
  return tagger;
}

std::unique_ptr<EntityFinder> MakeEntityFinder(const FinderOptions& options) {
  std::vector<std::unique_ptr<EntityFinder>> finders;
  if (options.model.extension() == ".onnx") {
    if (options.recall) {
      throw Error("recall: a foreign model has no table of thresholds that reach one");
    }
    finders.push_back(std::make_unique<ForeignTaggerFinder>(
        options.model, ModelFolders::Default(options.models, options.trust_models)));
  } else {
    const auto tagger = options.model.empty()
                            ? ProgramTagger()
                            : std::make_shared<const Tagger>(ReadTaggerModel(options.model));
    finders.push_back(std::make_unique<TaggerFinder>(tagger, options.recall));
  }
  finders.push_back(std::make_unique<PatternFinder>());
  return std::make_unique<CombinedFinder>(std::move(finders), options.types);
}

}  // namespace sotto
