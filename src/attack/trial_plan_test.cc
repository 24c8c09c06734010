#include "attack/trial_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"

namespace sotto {
namespace {

// Two women and two men; speaker s has the utterances s-0 … s-(n−1), in falling order.
EmbeddingSet People(int utterances) {
  EmbeddingSet set;
  for (const char* speaker : {"ann", "bea", "carl", "dan"}) {
    for (int u = utterances - 1; u >= 0; --u) {
      set.ids.push_back(std::string(speaker) + "-" + std::to_string(u));
      set.speakers.emplace_back(speaker);
    }
    set.genders[speaker] = speaker[0] < 'c' ? Gender::kFemale : Gender::kMale;
  }
  set.vectors = Eigen::MatrixXf::Zero(1, static_cast<Eigen::Index>(set.ids.size()));
  return set;
}

std::string ErrorOf(const EmbeddingSet& set, const PlanOptions& options) {
  try {
    const TrialPlan plan(set, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(TrialPlan, EnrolmentAndTrialsShareNoUtteranceAndFollowTheIds) {
  const TrialPlan plan(People(7), {});
  ASSERT_EQ(plan.Enrolment().size(), 16U);
  ASSERT_EQ(plan.Trials().size(), 12U);
  EXPECT_EQ(plan.Enrolment()[0].id, "ann-0");
  EXPECT_EQ(plan.Enrolment()[3].id, "ann-6");
  EXPECT_EQ(plan.Trials()[0].id, "ann-1");
}

TEST(TrialPlan, ModelsAverageDisjointGroups) {
  const TrialPlan plan(People(7), {});
  EXPECT_EQ(plan.Models(1).size(), 16U);
  const auto threes = plan.Models(3);
  ASSERT_EQ(threes.size(), 4U);
  EXPECT_EQ(threes[1].members, (std::vector<Eigen::Index>{4, 5, 6}));
  EXPECT_EQ(plan.Models(0)[0].members.size(), 4U);
  EXPECT_THROW(plan.Models(5), Error);
}

TEST(TrialPlan, ComparesEverybodyOrTheSameGender) {
  const TrialPlan plan(People(4), {});
  const auto models = plan.Models(1);
  const Eigen::MatrixXf scores = Eigen::MatrixXf::Ones(8, 8);
  const Trials all = plan.Compare(models, scores, false);
  EXPECT_EQ(all.size(), 64U);
  EXPECT_EQ(std::count(all.is_target.begin(), all.is_target.end(), 1), 16);
  const Trials same = plan.Compare(models, scores, true);
  EXPECT_EQ(same.size(), 32U);
  EXPECT_EQ(std::count(same.is_target.begin(), same.is_target.end(), 1), 16);
  for (std::size_t i = 0; i < same.size(); ++i) {
    EXPECT_EQ(plan.GenderOf(same.enrol_spk.At(i)), plan.GenderOf(same.test_spk.At(i)));
  }
}

TEST(TrialPlan, CountsWhatIsMissing) {
  EmbeddingSet set = People(4);
  set.genders.erase("bea");
  EXPECT_NE(ErrorOf(set, {}).find("1 speaker (the first: 'bea')"), std::string::npos);
  PlanOptions exclude;
  exclude.unlabelled = Unlabelled::kExclude;
  const TrialPlan plan(set, exclude);
  EXPECT_EQ(plan.Excluded(), 1U);
  EXPECT_EQ(plan.Speakers().size(), 3U);
  EXPECT_NE(ErrorOf(People(1), {}).find("4 speakers (the first: 'ann') with a single utterance"),
            std::string::npos);
  EXPECT_THROW(VectorsOf(People(3), plan.Trials(), "release"), Error);
}

TEST(TrialPlan, TakesListsOfSpeakersAndOfUtterances) {
  PlanOptions options;
  options.listed =
      ParseTrialList("ann ann-3 target\nann bea-3 nontarget\nbea ann-3 nontarget\n", "");
  const TrialPlan by_speaker(People(4), options);
  EXPECT_EQ(by_speaker.Trials().size(), 2U);
  EXPECT_EQ(by_speaker.Enrolment().size(), 6U);  // three of ann's and of bea's are not tried
  const auto models = by_speaker.Models(0);
  const Trials trials = by_speaker.Compare(models, Eigen::MatrixXf::Zero(2, 2), false);
  EXPECT_EQ(trials.size(), 3U);

  options.listed = ParseTrialList("ann-0 ann-3 target\nbea-0 ann-3 nontarget\n", "");
  const TrialPlan by_utterance(People(4), options);
  EXPECT_EQ(by_utterance.Models(1).size(), 2U);
  EXPECT_THROW(by_utterance.Models(3), Error);
}

TEST(TrialPlan, RefusesBadLists) {
  EXPECT_THROW(ParseTrialList("", "list"), Error);
  EXPECT_THROW(ParseTrialList("ann ann-3 maybe\n", "list"), Error);
  PlanOptions options;
  options.listed = ParseTrialList("ann eve-1 nontarget\n", "");
  EXPECT_NE(ErrorOf(People(4), options).find("1 id (the first: 'eve-1')"), std::string::npos);
  options.listed = ParseTrialList("ann-1 ann-2 target\nann-2 bea-1 nontarget\n", "");
  EXPECT_NE(ErrorOf(People(4), options).find("for enrolment and as trial"), std::string::npos);
  options.listed = ParseTrialList("ann ann-0 target\nann ann-1 target\nbea ann-0 nontarget\n", "");
  EXPECT_NE(ErrorOf(People(2), options).find("without enrolment"), std::string::npos);
}

}  // namespace
}  // namespace sotto
