#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <vector>

#include "base/error.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/progress_bar.h"
#include "base/tsv.h"

namespace sotto {
namespace {

TEST(ParallelFor, VisitsEveryItemOnce) {
  for (const int jobs : {1, 2, 7}) {
    std::vector<std::atomic<int>> visits(1000);
    ParallelFor(visits.size(), jobs, [&](std::size_t i) { ++visits[i]; });
    for (const auto& n : visits) EXPECT_EQ(n, 1);
  }
}

TEST(ParallelFor, RethrowsTheFirstFailure) {
  EXPECT_THROW(ParallelFor(100, 2,
                           [](std::size_t i) {
                             if (i == 50) throw std::runtime_error("x");
                           }),
               std::runtime_error);
}

TEST(ParallelFor, StopsWhenTheRunIsCancelled) {
  for (const int jobs : {1, 3}) {
    std::atomic<int> begun{0};
    const RunWatch watch{.cancelled = [&] { return begun >= 5; }};
    {
      const WatchScope scope(&watch);
      EXPECT_THROW(ParallelFor(100, jobs, [&](std::size_t) { ++begun; }), Cancelled);
    }
    EXPECT_LT(begun, 5 + jobs);
    EXPECT_NO_THROW(ParallelFor(100, jobs, [](std::size_t) {})) << "nobody watches any more";
  }
}

TEST(Progress, NeverFallsAndEndsAtTheTotal) {
  std::vector<RunProgress> calls;
  const RunWatch watch{.progress = [&](const RunProgress& now) { calls.push_back(now); }};
  const WatchScope scope(&watch);
  {
    Progress progress("task", 50, 75.0);  // less than all of them weigh
    ParallelFor(50, 4, [&](std::size_t) { progress.Done(2.0, 0.5); });
  }
  ASSERT_EQ(calls.size(), 52U);
  EXPECT_EQ(calls.front().done, 0U);
  for (std::size_t i = 1; i < calls.size(); ++i) {
    EXPECT_EQ(calls[i].done, std::min<std::size_t>(i, 50));
    EXPECT_GE(calls[i].fraction, calls[i - 1].fraction);
    EXPECT_LE(calls[i].fraction, 1.0);
    EXPECT_EQ(calls[i].ended, i == 51);
  }
  EXPECT_EQ(calls.back().total, 50U);
  EXPECT_EQ(calls.back().fraction, 1.0);
  EXPECT_EQ(calls.back().audio_seconds, 25.0);
}

TEST(ProgressBar, LineShowsCountsTimeLeftAndRealTimeFactor) {
  const RunProgress now{
      .task = "anonymise", .done = 1, .total = 4, .fraction = 0.25, .audio_seconds = 50.0};
  EXPECT_EQ(ProgressLine(now, 10.0),
            "anonymise [######..................] 1/4  25%, 0:30 left, 5x real time");
  EXPECT_EQ(FormatDuration(3723.0), "1:02:03");
}

TEST(Tsv, ReadsWindowsLineEndsByteOrderMarkAndEmptyFields) {
  const Tsv table = ParseTsv("\xEF\xBB\xBFid\ttext\r\na\t\r\n\r\nb\tx y", "t");
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0][1], "");
  EXPECT_EQ(table.rows[1][table.Column("text")], "x y");
  EXPECT_EQ(table.Column("none"), Tsv::kNone);
}

TEST(Tsv, RefusesRaggedRowsAndRepeatedColumns) {
  EXPECT_THROW(ParseTsv("a\tb\n1\n", "t"), Error);
  EXPECT_THROW(ParseTsv("a\ta\n1\t2\n", "t"), Error);
  EXPECT_THROW(ParseTsv("", "t"), Error);
}

TEST(ParseNumber, RefusesWhatIsNoFiniteNumber) {
  EXPECT_EQ(ParseNumber("-1.5e3", "x"), -1500.0);
  for (const char* bad : {"", "1x", "nan", "inf", " 1", "0x1"}) {
    EXPECT_THROW(ParseNumber(bad, "x"), Error) << bad;
  }
}

TEST(SplitBlanks, SkipsRunsOfSpacesAndTabs) {
  EXPECT_EQ(SplitBlanks("  a \t b  ").size(), 2U);
  EXPECT_TRUE(SplitBlanks(" \t").empty());
}

}  // namespace
}  // namespace sotto
