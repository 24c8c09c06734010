#include "assess/fairness_trials.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "base/testing.h"

namespace sotto {
namespace {

TEST(FairnessTrials, GroupsOfBothSidesTellImpostorsApart) {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "t.tsv";
  WriteFileAtomically(path,
                      "label\tscore\tenrol_sex\ttest_sex\tage\n"
                      "target\t3\tf\tf\told\nnontarget\t1\tf\tm\told\nnontarget\t0\tf\tf\told\n"
                      "target\t3\tm\tm\tyoung\nnontarget\t\tm\tm\tyoung\n");
  EXPECT_THROW(ReadFairnessTrials(path, {"sex"}), Error);  // a score is missing
  const FairnessTrials sex = ReadFairnessTrials(path, {"sex", false, true});
  EXPECT_TRUE(sex.has_sides);
  EXPECT_EQ(sex.trials.n_without_score, 1U);
  EXPECT_EQ(sex.grouping.n_cross_group, 1U);
  EXPECT_EQ(sex.grouping.kept, (std::vector<std::uint32_t>{0, 2, 3}));
  EXPECT_EQ(ReadFairnessTrials(path, {"sex", true, true}).grouping.kept.size(), 4U);
  const FairnessTrials age = ReadFairnessTrials(path, {"age", false, true});
  EXPECT_FALSE(age.has_sides);
  EXPECT_EQ(age.grouping.trials.groups, (std::vector<std::string>{"old", "young"}));
  EXPECT_THROW(ReadFairnessTrials(path, {"height", false, true}), Error);
}

}  // namespace
}  // namespace sotto
