// The one door to finding: a tagger for names, dates and times, and the patterns, as one list.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/entity.h"

namespace sotto {

class Tagger;

// What finds some types of entities. Finders are safe to use from several threads at a time.
class EntityFinder {
 public:
  virtual ~EntityFinder() = default;
  // In order, without overlap. A text of any length in one call; memory grows with it.
  virtual std::vector<Entity> Find(std::string_view text) const = 0;
};

// Names, places, organisations, dates and times, by a tagger (tagger.h). An entity's confidence is
// the least probability, over its tokens, of belonging to an entity of that type.
class TaggerFinder : public EntityFinder {
 public:
  // With `recall` tokens above the model's threshold for it are found beside the most probable
  // labels; else these alone. Throws Error where the model's table does not reach it.
  explicit TaggerFinder(std::shared_ptr<const Tagger> tagger, std::optional<double> recall = {});
  std::vector<Entity> Find(std::string_view text) const override;

 private:
  std::shared_ptr<const Tagger> tagger_;
  std::optional<double> threshold_;
};

// What several finders find, as WithoutOverlap has it; of the types in `types` only (empty: all).
class CombinedFinder : public EntityFinder {
 public:
  CombinedFinder(std::vector<std::unique_ptr<EntityFinder>> finders, std::vector<EntityType> types);
  std::vector<Entity> Find(std::string_view text) const override;

 private:
  std::vector<std::unique_ptr<EntityFinder>> finders_;
  std::vector<EntityType> types_;
};

struct FinderOptions {
  // The tagger's model: empty: the program's own; a file of `sotto train entities`; or "x.onnx", a
  // foreign one with its description beside it (foreign_tagger.h).
  std::filesystem::path model;
  std::optional<double> recall;   // above 0, below 1; not with foreign models, which have no table
  std::vector<EntityType> types;  // to be found; empty: all
  // Folders of the library that runs foreign models, see onnx/models.h.
  std::filesystem::path models;
  bool trust_models = false;
};

// Tagger and patterns. Throws Error for a model that cannot be read and a recall it cannot reach.
std::unique_ptr<EntityFinder> MakeEntityFinder(const FinderOptions& options = {});

// The program's own model, read once.
std::shared_ptr<const Tagger> ProgramTagger();

}  // namespace sotto
