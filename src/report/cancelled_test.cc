// A run of all there is, called off and taken up again.
#include <gtest/gtest.h>

#include <set>

#include "base/progress.h"
#include "base/testing.h"
#include "evaluate/evaluate.h"
#include "evaluate/testing.h"
#include "onnx/testing.h"
#include "report/evaluation_report.h"

namespace sotto {
namespace {

// The tasks of a run, which is cancelled as another than `wanted` begins.
std::set<std::string> TasksUntilCancelled(const EvaluateOptions& options,
                                          const std::string& wanted) {
  std::set<std::string> tasks;
  const RunWatch watch{
      .progress = [&](const RunProgress& now) { tasks.insert(now.task); },
      .cancelled = [&] { return tasks.size() > (tasks.contains(wanted) ? 1U : 0U); }};
  const WatchScope scope(&watch);
  EXPECT_THROW(Evaluate(options, "test", EvaluationSteps()), Cancelled);
  return tasks;
}

TEST(Evaluate, ACancelledRunKeepsItsSteps) {
  SOTTO_NEEDS_SHARED("data/speech/libri_eval/manifest.tsv");
  const testing::TemporaryFolder folder;
  testing::LinkSmallCorpus(folder / "in", 4);
  const testing::WithoutModels quick;
  EvaluateOptions options;
  options.original = folder / "in";
  options.out = folder / "work";
  options.methods = {"mcadams"};
  options.seed = 1;
  options.quick = true;
  options.resamples = 0;
  options.jobs = 1;  // the watch is asked where it is told
  const std::set<std::string> first = TasksUntilCancelled(options, "anonymise");
  EXPECT_EQ(first.size(), 2U);
  EXPECT_TRUE(first.contains("anonymise"));
  const std::set<std::string> then = TasksUntilCancelled(options, "anonymise");
  EXPECT_EQ(then.size(), 1U);
  EXPECT_FALSE(then.contains("anonymise"));
}

}  // namespace
}  // namespace sotto
