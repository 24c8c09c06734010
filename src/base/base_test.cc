#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

#include "base/error.h"
#include "base/parallel.h"
#include "base/progress.h"
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

TEST(Progress, LineShowsCountsTimeLeftAndRealTimeFactor) {
  Progress progress("anonymise", 4, 100.0);
  progress.Done(25.0, 50.0);
  EXPECT_EQ(progress.Line(10.0),
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
