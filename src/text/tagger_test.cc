#include "text/tagger.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "text/tagger_testing.h"

namespace sotto {
namespace {

TaggerModel SmallModel() {
  static const TaggerModel model = TrainTagger(std::vector<LabelledCorpus>{testing::SmallCorpus()},
                                               testing::SmallLists(), testing::SmallOptions());
  return model;
}

TEST(Tagger, AModelFileHoldsAllOfTheModel) {
  auto model = SmallModel();
  model.card["data"] = "a small world";
  const auto bytes = model.Serialise();
  const auto again = ParseTaggerModel(bytes, "here");
  EXPECT_EQ(again.features, model.features);
  EXPECT_EQ(again.card, model.card);
  EXPECT_EQ(again.recalls, model.recalls);
  EXPECT_EQ(again.Serialise(), bytes);
  const Tagger tagger(again);
  const auto tagged = tagger.Tag("write to emma in bad ischl tomorrow");
  EXPECT_EQ(EntitiesOf(tagged.tokens, tagged.labels),
            (std::vector<Entity>{{9, 13, EntityType::kPerson},
                                 {17, 26, EntityType::kLocation},
                                 {27, 35, EntityType::kDate}}));
}

TEST(Tagger, ADamagedModelIsRefusedAndNeverReadPast) {
  const auto bytes = SmallModel().Serialise();
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{7}, std::size_t{100}, bytes.size() / 2, bytes.size() - 1}) {
    EXPECT_THROW(ParseTaggerModel(std::string_view(bytes).substr(0, size), "here"), Error) << size;
  }
  const auto refused = [](auto change) {
    TaggerModel model = SmallModel();
    change(model);
    EXPECT_THROW(ParseTaggerModel(model.Serialise(), "here"), Error);
  };
  refused([](TaggerModel& model) { std::swap(model.features[0], model.features[1]); });
  refused([](TaggerModel& model) { model.recalls[1].threshold = 2.0; });
  refused([](TaggerModel& model) { model.recalls[1].recall = 0.0; });
}

TEST(Tagger, ALongTextHasTheLabelsOfItsSentences) {
  const Tagger tagger(SmallModel());
  std::string text;
  for (int i = 0; i < 400; ++i) text += "please call greta near wels about lunch next monday ";
  const auto tagged = tagger.Tag(text);
  ASSERT_GT(tagged.labels.size(), 3 * Tagger::kWindow);
  const auto one = tagger.Tag("please call greta near wels about lunch next monday please call");
  for (std::size_t i = 9; i + 9 < tagged.labels.size(); ++i) {
    ASSERT_EQ(tagged.labels[i], one.labels[i % 9]) << i;
  }
}

TEST(Tagger, EveryTokenHasProbabilitiesThatSumToOne) {
  const Tagger tagger(SmallModel());
  for (const char* text : {"", " ", "x", "@ # \xff\xfe", "\u202Etext \U0001F600 anna"}) {
    const auto tagged = tagger.Tag(text);
    EXPECT_EQ(tagged.tokens, Tokenise(text));
    ASSERT_EQ(tagged.labels.size(), tagged.tokens.size());
    for (const auto& row : tagged.marginals) {
      double sum = 0.0;
      for (const double value : row) sum += value;
      EXPECT_NEAR(sum, 1.0, 1e-9);
    }
  }
}

TEST(Tagger, AThresholdAddsTokensAndTakesNoneAway) {
  TaggedText tagged;
  tagged.tokens = {{0, 1}, {2, 3}, {4, 5}, {6, 7}};
  const auto person = BeginOf(EntityType::kPerson);
  tagged.labels = {kOutside, person, kOutside, kOutside};
  tagged.marginals.resize(4);
  const auto set = [&](std::size_t i, EntityType type, double p) {
    tagged.marginals[i][kOutside] = 1.0 - p;
    tagged.marginals[i][BeginOf(type)] = p;
  };
  set(0, EntityType::kDate, 0.3);
  set(1, EntityType::kPerson, 0.9);
  set(2, EntityType::kPerson, 0.2);
  set(3, EntityType::kPerson, 0.05);
  const std::vector<BioLabel> above = {BeginOf(EntityType::kDate), person,
                                       InsideOf(EntityType::kPerson), kOutside};
  EXPECT_EQ(LabelsAbove(tagged, 0.1), above);
  EXPECT_EQ(LabelsAbove(tagged, 0.95), tagged.labels);
}

TEST(Tagger, TheThresholdOfARecallIsTheTablesNextAndOthersAreRefused) {
  TaggerModel model = SmallModel();
  model.recalls = {{0.5, 0.9, 0.0}, {0.9, 0.4, 0.01}, {0.99, 0.02, 0.1}};
  const Tagger tagger(model);
  EXPECT_DOUBLE_EQ(tagger.ThresholdOf(0.5), 0.9);
  EXPECT_DOUBLE_EQ(tagger.ThresholdOf(0.51), 0.4);
  EXPECT_DOUBLE_EQ(tagger.ThresholdOf(0.99), 0.02);
  EXPECT_THROW(tagger.ThresholdOf(0.995), Error);
  EXPECT_THROW(tagger.ThresholdOf(0.0), Error);
  EXPECT_THROW(tagger.ThresholdOf(1.0), Error);
}

}  // namespace
}  // namespace sotto
