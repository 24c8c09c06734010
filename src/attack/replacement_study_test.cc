#include "attack/replacement_study.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <mutex>
#include <string>

#include "base/error.h"

namespace sotto {
namespace {

const std::vector<std::string> kNames = {"anna", "ben", "carla", "dora"};
const std::vector<std::string> kTowns = {"rome", "paris", "new york"};

LabelledSentence Sentence(std::size_t i) {
  const std::string& name = kNames[i % 4 == 3 && i % 8 != 3 ? 0 : i % 4];
  const std::string& town = kTowns[i % 3];
  const std::string begin = fmt::format("tell {} that it rains in ", name);
  const std::vector<Entity> entities = {
      {5, 5 + name.size(), EntityType::kPerson},
      {begin.size(), begin.size() + town.size(), EntityType::kLocation}};
  return MakeSentence(begin + town, entities);
}

ReplacementData Data(std::size_t training = 48) {
  ReplacementData data;
  data.corpora = {"one", "two"};
  for (std::size_t i = 0; i < training; ++i) data.training.push_back(Sentence(i));
  for (std::size_t i = 0; i < 6; ++i) data.development.push_back(Sentence(i + 1));
  for (std::size_t i = 0; i < 12; ++i) {
    data.test.push_back(Sentence(i));
    data.test_corpus.push_back(i % 2);
  }
  return data;
}

// Labels as they are marked, or none at all.
StudiedTagger Oracle(bool finds) {
  return {finds ? "all" : "none",
          [finds](const auto&, const auto&, const std::vector<std::vector<TaggedSentence>>& to_tag,
                  std::uint64_t) {
            std::vector<TaggedRows> tags;
            for (const auto& rows : to_tag) {
              tags.emplace_back();
              for (const TaggedSentence& row : rows) {
                tags.back().push_back(finds ? row.labels
                                            : std::vector<BioLabel>(row.labels.size(), kOutside));
              }
            }
            return tags;
          }};
}

ReplacementStudyOptions Quick() {
  ReplacementStudyOptions o;
  o.seeds = 2;
  o.intervals.resamples = 20;
  return o;
}

TEST(ReplacementStudy, StatesTheEpsilonOfTheTrainingPartsOwnFrequencies) {
  const ReplacementStudy study = StudyReplacement(Data(), {Oracle(true)}, Quick());
  ASSERT_EQ(study.rows.size(), 5U);
  ASSERT_EQ(study.classes.size(), 2U);
  EXPECT_EQ(study.classes[0].entities, 48U);
  EXPECT_EQ(study.classes[0].words, 4U);
  EXPECT_EQ(study.classes[1].words, 3U);
  const double least = 6.0 / 48.0;  // dora
  EXPECT_NEAR(std::exp(study.LogLeastShare()), least, 1e-12);
  EXPECT_TRUE(std::isinf(study.rows[0].epsilon.eps));
  EXPECT_NEAR(study.rows[1].epsilon.eps, std::log((0.5 + 0.5 * least) / (0.5 * least)), 1e-12);
  EXPECT_NEAR(study.rows[2].epsilon.eps, std::log((0.1 + 0.9 * least) / (0.9 * least)), 1e-12);
  EXPECT_EQ(study.rows[3].epsilon.eps, 0.0);
  EXPECT_EQ(study.rows[4].epsilon.eps, 0.0);  // placeholders
  EXPECT_FALSE(study.rows[4].p.has_value());
}

TEST(ReplacementStudy, PublishedEpsilonsFollowFromTheirLeastShare) {
  for (const PublishedReplacement& row : PublishedReplacements()) {
    const double eps = ReplacementEpsilon(row.p, std::log(kPublishedLeastShare));
    if (std::isinf(row.eps)) {
      EXPECT_TRUE(std::isinf(eps));
    } else {
      EXPECT_NEAR(eps, row.eps, 0.0051);
    }
  }
}

TEST(ReplacementStudy, WhatTheFinderMissesStandsBesideEveryEpsilon) {
  const auto found = StudyReplacement(Data(), {Oracle(true)}, Quick());
  EXPECT_EQ(found.missed, 0.0);
  EXPECT_EQ(found.rows[0].taggers[0].all.F1(), 1.0);
  EXPECT_EQ(found.rows[1].taggers[0].replaced.F1(), 1.0);
  EXPECT_EQ(found.rows[1].epsilon.source_eps, found.rows[1].epsilon.eps);
  const auto missed = StudyReplacement(Data(), {Oracle(false), Oracle(true)}, Quick());
  EXPECT_EQ(missed.missed, 1.0);
  for (const ReplacementRow& row : missed.rows) {
    for (const ClassEpsilon& of : row.epsilon.classes) EXPECT_EQ(of.missed, 1.0);
    EXPECT_TRUE(std::isinf(row.epsilon.source_eps.value()));
    EXPECT_EQ(row.taggers[0].all.right, 0U);
    EXPECT_EQ(row.taggers[1].all.F1(), 1.0);
  }
}

TEST(ReplacementStudy, TaggersLearnFromReplacedTextAndAreAskedOfTheOriginal) {
  const ReplacementData data = Data();
  std::mutex mutex;
  std::map<std::string, int> trainings;
  const StudiedTagger watching = {
      "watching", [&](const std::vector<TaggedSentence>& training,
                      const std::vector<TaggedSentence>& development,
                      const std::vector<std::vector<TaggedSentence>>& to_tag, std::uint64_t seed) {
        EXPECT_EQ(training.size(), data.training.size());
        EXPECT_EQ(development.size(), data.development.size());
        EXPECT_EQ(to_tag.at(0)[1].words[1], "ben");
        std::size_t kept = 0;
        bool placeholders = false;
        for (std::size_t i = 0; i < training.size(); ++i) {
          kept += training[i].words[1] == kNames[i % 4] ? 1 : 0;
          for (const std::string& word : training[i].words) {
            placeholders |= word.find("PER") != std::string::npos;
          }
        }
        const std::lock_guard lock(mutex);
        ++trainings[placeholders                      ? "placeholders"
                    : kept >= training.size() * 3 / 4 ? "kept"
                                                      : "replaced"];
        EXPECT_TRUE(seed == 1 || seed == 2);
        return Oracle(true).train(training, development, to_tag, seed);
      }};
  const auto study = StudyReplacement(data, {watching}, Quick());
  EXPECT_EQ(trainings["placeholders"], 2);
  EXPECT_GE(trainings["kept"], 2);
  EXPECT_GE(trainings["replaced"], 4);
  EXPECT_EQ(study.rows[0].changed, 0.0);
  EXPECT_GT(study.rows[3].changed, study.rows[1].changed);
  EXPECT_EQ(study.rows[4].changed, 1.0);
}

TEST(ReplacementStudy, DoesNotDependOnTheNumberOfThreads) {
  ReplacementStudyOptions o = Quick();
  const auto one = StudyReplacement(Data(), {StudiedCrf()}, o);
  o.jobs = o.intervals.jobs = 2;
  const auto two = StudyReplacement(Data(), {StudiedCrf()}, o);
  for (std::size_t i = 0; i < one.rows.size(); ++i) {
    const TaggingFigures &a = one.rows[i].taggers[0], &b = two.rows[i].taggers[0];
    EXPECT_EQ(a.f1_of_seeds, b.f1_of_seeds);
    ASSERT_TRUE(a.f1 && b.f1);
    EXPECT_EQ(a.f1->low, b.f1->low);
    EXPECT_EQ(one.rows[i].changed, two.rows[i].changed);
  }
  // Sentences of one form: there is all to learn from them.
  EXPECT_GT(one.rows[0].taggers[0].all.F1(), 0.95);
  EXPECT_LT(one.missed.value(), 0.05);
}

TEST(ReplacementStudy, RefusesWhatCannotBe) {
  ReplacementStudyOptions o = Quick();
  o.p = {{1, 2}, {1, 2}};
  EXPECT_THROW(StudyReplacement(Data(), {Oracle(true)}, o), Error);
  o.p = {};
  EXPECT_THROW(StudyReplacement(Data(), {Oracle(true)}, o), Error);
  o = Quick();
  o.seeds = 0;
  EXPECT_THROW(StudyReplacement(Data(), {Oracle(true)}, o), Error);
  EXPECT_THROW(StudyReplacement(Data(), {}, Quick()), Error);
  const StudiedTagger lazy = {"lazy", [](const auto&, const auto&, const auto&, std::uint64_t) {
                                return std::vector<TaggedRows>{};
                              }};
  EXPECT_THROW(StudyReplacement(Data(), {lazy}, Quick()), Error);
}

}  // namespace
}  // namespace sotto
