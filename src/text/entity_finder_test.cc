#include "text/entity_finder.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>

#include "base/error.h"
#include "base/testing.h"
#include "text/tagger.h"
#include "text/tagger_testing.h"

namespace sotto {
namespace {

using enum EntityType;

std::string Marked(const EntityFinder& finder, std::string_view text) {
  std::string marked;
  std::size_t end = 0;
  for (const auto& entity : finder.Find(text)) {
    EXPECT_GE(entity.begin, end);
    EXPECT_GE(entity.confidence, 0.0);
    EXPECT_LE(entity.confidence, 1.0 + 1e-9);
    end = entity.end;
    if (!marked.empty()) marked += " | ";
    marked += std::string(EntityName(entity.type)) + " " +
              std::string(text.substr(entity.begin, entity.end - entity.begin));
  }
  return marked;
}

class Fixed : public EntityFinder {
 public:
  explicit Fixed(std::vector<Entity> entities) : entities_(std::move(entities)) {}
  std::vector<Entity> Find(std::string_view /*text*/) const override { return entities_; }

 private:
  std::vector<Entity> entities_;
};

TEST(EntityFinder, TheProgramsModelFindsNamesInTranscriptsAndInOrdinaryText) {
  const auto finder = MakeEntityFinder();
  EXPECT_EQ(Marked(*finder, "remind me to call david miller at five pm tomorrow"),
            "PER david miller | TIME five pm | DATE tomorrow");
  EXPECT_EQ(Marked(*finder, "what's the weather like in berlin today"), "LOC berlin | DATE today");
  EXPECT_EQ(Marked(*finder, "Angela Jones moved to London."), "PER Angela Jones | LOC London");
}

// Floors below the figures of docs/models.md, so that a change that costs them is seen.
TEST(EntityFinder, TheProgramsModelReachesItsFiguresOnSentencesItWasNotFittedTo) {
  SOTTO_NEEDS_SHARED("data/text");
  const auto corpora = ReadLabelledCorpora(testing::SharedFolder() / "data" / "text");
  const Tagger& tagger = *ProgramTagger();
  const double threshold = tagger.ThresholdOf(0.99);
  const std::map<std::string, double> floors = {
      {"nlu_eval", 0.82}, {"slurp", 0.80}, {"snips", 0.895}, {"wikigold", 0.64}, {"btc", 0.61}};
  for (const auto& corpus : corpora) {
    if (!floors.contains(corpus.name)) continue;
    const bool assistant = corpus.name != "wikigold" && corpus.name != "btc";
    auto types = AnnotatedTypes(corpus);
    if (assistant) std::erase(types, kOrganisation);
    const auto scores = ScoreTagger(tagger, corpus, CorpusPart::kReport, assistant);
    EXPECT_GT(scores.Total(types).F1(), floors.at(corpus.name)) << corpus.name;
    if (!assistant) continue;
    const auto wide = ScoreTagger(tagger, corpus, CorpusPart::kReport, true, threshold);
    EXPECT_GE(wide.tokens.Recall(), 0.97) << corpus.name;
    EXPECT_LE(wide.tokens.Masked(), 0.15) << corpus.name;
  }
}

TEST(EntityFinder, OnlyTheTypesAskedForAreFound) {
  FinderOptions options;
  options.types = {kLocation};
  const auto finder = MakeEntityFinder(options);
  EXPECT_EQ(Marked(*finder, "what's the weather like in berlin today"), "LOC berlin");
}

TEST(EntityFinder, AHigherRecallCoversAllThatALowerOneDoes) {
  FinderOptions options;
  options.recall = 0.9;
  const auto some = MakeEntityFinder(options);
  options.recall = 0.99;
  const auto more = MakeEntityFinder(options);
  const std::string_view text = "play xavi and brill at the old mill on the ninth with my gran";
  std::vector<bool> covered(text.size(), false);
  for (const auto& entity : more->Find(text)) {
    for (std::size_t i = entity.begin; i < entity.end; ++i) covered[i] = true;
  }
  for (const auto& entity : some->Find(text)) {
    for (std::size_t i = entity.begin; i < entity.end; ++i) {
      EXPECT_TRUE(covered[i] || text[i] == ' ') << i;
    }
  }
  options.recall = 1.0;
  EXPECT_THROW(MakeEntityFinder(options), Error);
}

TEST(EntityFinder, WhatSeveralFindersFindIsOneListOfTheTypesWanted) {
  std::vector<std::unique_ptr<EntityFinder>> finders;
  finders.push_back(std::make_unique<Fixed>(std::vector<Entity>{{0, 4, kPerson}, {10, 14, kDate}}));
  finders.push_back(std::make_unique<Fixed>(std::vector<Entity>{{0, 9, kEmail}}));
  const CombinedFinder finder(std::move(finders), {kEmail, kPerson});
  EXPECT_EQ(finder.Find("x"), (std::vector<Entity>{{0, 9, kEmail}}));
}

TEST(EntityFinder, ALineOfManyWordsTakesTimeInProportion) {
  const auto finder = MakeEntityFinder();
  const auto seconds = [&](std::size_t times) {
    std::string text;
    for (std::size_t i = 0; i < times; ++i) text += "call anna in paris at five pm ";
    const auto start = std::chrono::steady_clock::now();
    EXPECT_GE(finder->Find(text).size(), 3 * times - 3);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  seconds(1000);  // the model is read
  const double one = seconds(4000), four = seconds(16000);
  EXPECT_LT(four, 12 * one);
}

TEST(EntityFinder, AnyBytesAreText) {
  const auto finder = MakeEntityFinder();
  for (const char* text :
       {"", "\xff\xfe\x80", "\xEF\xBB\xBF call anna", "\u0645\u0631\u062D\u0628\u0627 \u202E"}) {
    for (const auto& entity : finder->Find(text))
      EXPECT_LE(entity.end, std::string_view(text).size());
  }
}

}  // namespace
}  // namespace sotto
