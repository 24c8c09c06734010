#include "attack/word_links.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "attack/reading_sessions.h"
#include "attack/word_corpora.h"
#include "base/error.h"
#include "base/random.h"

namespace sotto {
namespace {

TEST(ReadingSessions, ChaptersOfNearNumbersAreOneBook) {
  const ReadingSessions sessions(
      {{"1-500-0", "1"}, {"1-580-0", "1"}, {"2-660-1", "2"}, {"1-900-0", "1"}, {"2-100-0", "2"}});
  ASSERT_TRUE(sessions.Known());
  EXPECT_EQ(sessions.Books(), 3U);
  EXPECT_EQ(sessions.BookOf("1-500-0"), sessions.BookOf("1-580-0"));
  EXPECT_EQ(sessions.BookOf("1-500-0"), sessions.BookOf("2-660-1"));  // another reader of it
  EXPECT_NE(sessions.BookOf("1-900-0"), sessions.BookOf("1-500-0"));
  EXPECT_FALSE(ReadingSessions({{"1-500-0", "1"}, {"u7", "1"}}).Known());
}

// Speakers 1 … n read `books` books of six utterances each; speaker 1 reads one alone.
struct Library {
  explicit Library(int n, bool numbered = true, int books = 2) {
    SeededRng rng(1);
    for (int s = 1; s <= n; ++s) {
      const std::string speaker = numbered ? fmt::to_string(s) : fmt::format("s{}", s);
      set.genders[speaker] = s % 2 == 0 ? Gender::kFemale : Gender::kMale;
      for (int b = 0; b < (s == 1 ? 1 : books); ++b) {
        for (int u = 0; u < 6; ++u) {
          const std::string id = fmt::format("{}-{}-{:04}", speaker, 1000 * s + 500 * b, u);
          set.ids.push_back(id);
          set.speakers.push_back(speaker);
          TextWords& words = material.original[id];
          for (int w = 0; w < 10; ++w) words.push_back(fmt::format("w{}", rng.Below(50)));
          // A habit of the speaker, and what the book is about.
          for (int w = 0; w < 4; ++w) words.push_back(fmt::format("habit{}", s));
          words.push_back(fmt::format("book{}of{}", b, s));
        }
      }
    }
    set.vectors = Eigen::MatrixXf::Ones(1, static_cast<Eigen::Index>(set.ids.size()));
    material.released = material.original;
  }

  EmbeddingSet set;
  WordMaterial material;
};

TEST(WordLinks, NothingIsComparedWithinABook) {
  const Library library(5);
  const TrialPlan plan(library.set, {});
  for (const int l : {1, 3, 0}) {
    const WordLinks links = LinkByWords(plan, library.material, l);
    std::size_t targets = 0;
    for (std::size_t m = 0; m < links.models.size(); ++m) {
      for (std::size_t t = 0; t < plan.Trials().size(); ++t) {
        if (!links.used[t] ||
            std::isnan(links.scores(static_cast<Eigen::Index>(m), static_cast<Eigen::Index>(t)))) {
          continue;
        }
        const PlannedUtterance& trial = plan.Trials()[t];
        for (const Eigen::Index member : links.models[m].members) {
          const PlannedUtterance& enrolled = plan.Enrolment()[static_cast<std::size_t>(member)];
          EXPECT_NE(ChapterOf(enrolled.id, enrolled.speaker), ChapterOf(trial.id, trial.speaker));
        }
        if (trial.speaker == links.models[m].speaker) ++targets;
        EXPECT_FALSE(trial.speaker == "1" && links.models[m].speaker == "1");
      }
    }
    // Three trials of each of four speakers, against 3, 1 and 1 models.
    EXPECT_EQ(targets, l == 1 ? 36U : 12U) << l;
    EXPECT_NE(links.remark.find("15 of 27 trials, across books alone"), std::string::npos)
        << links.remark;
  }
  EXPECT_THROW(LinkByWords(plan, library.material, 7), Error);
}

TEST(WordLinks, HabitsLinkAcrossBooks) {
  const Library library(8);
  const TrialPlan plan(library.set, {});
  for (const TextScore score : kTextScores) {
    const WordLinks links = LinkByWords(plan, library.material, 0, score);
    for (std::size_t t = 0; t < plan.Trials().size(); ++t) {
      const std::string& speaker = plan.Trials()[t].speaker;
      if (!links.used[t] || speaker == "1") continue;
      Eigen::Index best = 0;
      links.scores.col(static_cast<Eigen::Index>(t)).maxCoeff(&best);
      EXPECT_EQ(links.models[static_cast<std::size_t>(best)].speaker, speaker) << Name(score);
    }
  }
}

TEST(WordLinks, OtherIdsAreComparedAndSaidToShareWhatTheySpeakOf) {
  Library library(4, false);
  const TrialPlan plan(library.set, {});
  EXPECT_NE(LinkByWords(plan, library.material, 1).remark.find("may share"), std::string::npos);
  // What has no transcript is left out.
  library.material.original.erase(plan.Enrolment()[0].id);
  library.material.released.erase(plan.Trials()[0].id);
  const WordLinks links = LinkByWords(plan, library.material, 1);
  EXPECT_EQ(links.models.size() + 1, plan.Enrolment().size());
  EXPECT_FALSE(links.used[0]);
  EXPECT_TRUE(links.used[1]);
  library.material.original.clear();
  EXPECT_THROW(LinkByWords(plan, library.material, 1), Error);
}

TEST(WordLinks, GivenListsKeepTheirEnrolment) {
  const Library library(3);
  PlanOptions options;
  options.listed = {{"2-2000-0000", "2-2500-0000", true},
                    {"2-2000-0000", "2-2000-0001", true},
                    {"3-3000-0000", "2-2500-0000", false}};
  const TrialPlan plan(library.set, options);
  const WordLinks links = LinkByWords(plan, library.material, 1);
  ASSERT_EQ(links.models.size(), 2U);
  const Trials trials = plan.Compare(links.models, links.scores, false, links.used);
  std::size_t within = 0;
  for (const double score : trials.scores) within += std::isnan(score) ? 1 : 0;
  EXPECT_EQ(trials.size(), 3U);
  EXPECT_EQ(within, 1U);
}

}  // namespace
}  // namespace sotto
