#include "dp/table_release.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "dp/falsify_testing.h"

namespace sotto {
namespace {

using testing::FalsifyDp;
using testing::NeighbourPair;
using testing::SeededBits;

TableReleaseOptions Base(TableMechanism mechanism) {
  TableReleaseOptions options;
  options.mechanism = mechanism;
  options.columns = {"x"};
  options.id_column = "id";
  options.max_contributions = 2;
  options.lower = {0.0};
  options.upper = {10.0};
  options.eps = 1.0;
  return options;
}

// Twenty people with 5, and one with the rows of `own`.
CsvTable People(std::span<const double> own) {
  std::string text = "id,x\n";
  for (int i = 0; i < 20; ++i) text += fmt::format("p{},5\n", i);
  for (const double x : own) text += fmt::format("me,{}\n", x);
  return ParseCsv(text, "t");
}

TEST(TableRelease, AggregatesSurviveFalsificationWithAPersonAddedWhoBreaksEveryRule) {
  for (const auto statistic :
       {TableStatistic::kSum, TableStatistic::kMean, TableStatistic::kCount}) {
    TableReleaseOptions options = Base(TableMechanism::kLaplace);
    options.statistic = statistic;
    const std::vector<NeighbourPair> pairs = {{{1e9, 1e9, 1e9, 1e9}, {}, 1.0},
                                              {{10.0, 10.0}, {}, 1.0}};
    testing::FalsifyOptions few;
    few.samples = 4000;
    const auto result = FalsifyDp(
        [&](std::span<const double> own, BitSource& bits) {
          return std::vector{*ReleaseTable(People(own), options, "t", bits).columns[0].value};
        },
        pairs, few);
    EXPECT_FALSE(result.rejected) << result.event << ' ' << result.eps_lower;
  }
}

TEST(TableRelease, ForgettingTheOtherRowsOfAPersonIsCaught) {
  TableReleaseOptions options = Base(TableMechanism::kLaplace);
  options.statistic = TableStatistic::kSum;
  options.max_contributions = 1;
  // Every row under a name of its own: the person contributes four times what was accounted for.
  const std::vector<NeighbourPair> pairs = {{{10.0, 10.0, 10.0, 10.0}, {}, 1.0}};
  testing::FalsifyOptions few;
  few.samples = 4000;
  EXPECT_TRUE(FalsifyDp(
                  [&](std::span<const double> own, BitSource& bits) {
                    CsvTable table = People(own);
                    for (std::size_t i = 0; i < table.rows.size(); ++i) {
                      table.rows[i][0] = fmt::format("row{}", i);
                    }
                    return std::vector{*ReleaseTable(table, options, "t", bits).columns[0].value};
                  },
                  pairs, few)
                  .rejected);
}

TEST(TableRelease, ValuesKeepTheRowsWithinTheLimitAndOnlyTheNamedColumns) {
  const CsvTable table = ParseCsv("id,x,city\na,1,U\na,2,V\na,3,W\nb,40,X\n", "t");
  TableReleaseOptions options = Base(TableMechanism::kLaplace);
  options.keep = {"city"};
  SeededBits bits(1);
  const TableRelease release = ReleaseTable(table, options, "t", bits);
  EXPECT_EQ(release.rows_left_out, 1U);
  EXPECT_EQ(release.people, 2U);
  EXPECT_EQ(release.table.header, (std::vector<std::string>{"city", "x"}));
  ASSERT_EQ(release.table.rows.size(), 3U);
  EXPECT_EQ(release.table.rows.back()[0], "X");
  EXPECT_NEAR(release.columns[0].noise_scale, 20.0, 1e-8);  // 2 rows × width 10 over eps 1
  EXPECT_NEAR(release.budget.SequentialEpsilon(0.0), 1.0, 1e-12);
}

TEST(TableRelease, MeanAndMedianComeNearTheTruthOnManyPeople) {
  std::string text = "id,x\n";
  for (int i = 0; i < 5000; ++i) text += fmt::format("p{},{}\n", i, (i % 100) / 10.0);
  const CsvTable table = ParseCsv(text, "t");
  SeededBits bits(2);
  TableReleaseOptions options = Base(TableMechanism::kGaussian);
  options.delta = 1e-6;
  options.max_contributions = 1;
  options.statistic = TableStatistic::kMean;
  EXPECT_NEAR(*ReleaseTable(table, options, "t", bits).columns[0].value, 4.95, 0.1);
  options.mechanism = TableMechanism::kExponential;
  const TableRelease median = ReleaseTable(table, options, "t", bits);
  EXPECT_NEAR(*median.columns[0].value, 4.95, 0.2);
  EXPECT_NEAR(median.budget.SequentialEpsilon(0.0), 1.0, 1e-12);
}

TEST(TableRelease, RandomisedResponseDividesEpsilonAmongThePersonsRows) {
  std::string text = "id,x\n";
  for (int i = 0; i < 20000; ++i) text += fmt::format("p{},{}\n", i, i % 4 == 0 ? "yes" : "no");
  TableReleaseOptions options = Base(TableMechanism::kRandomisedResponse);
  options.categories = {"yes", "no"};
  options.max_contributions = 1;
  SeededBits bits(3);
  const TableRelease release = ReleaseTable(ParseCsv(text, "t"), options, "t", bits);
  EXPECT_NEAR(release.columns[0].shares[0], 0.25, 0.03);
  options.max_contributions = 4;
  const TableRelease divided = ReleaseTable(ParseCsv(text, "t"), options, "t", bits);
  EXPECT_EQ(divided.budget.Events()[0].eps, 0.25);
  EXPECT_NEAR(divided.budget.SequentialEpsilon(0.0), 1.0, 1e-12);
  options.mechanism = TableMechanism::kExponential;
  EXPECT_EQ(*ReleaseTable(ParseCsv(text, "t"), options, "t", bits).columns[0].choice, "no");
}

TEST(TableRelease, RefusesWhatLeavesTheUnitOfPrivacyOpen) {
  SeededBits bits(4);
  const CsvTable table = ParseCsv("id,x\na,1\n,2\n", "t");
  EXPECT_THROW(ReleaseTable(table, Base(TableMechanism::kLaplace), "t", bits), Error);
  const CsvTable good = ParseCsv("id,x\na,1\nb,u\n", "t");
  EXPECT_THROW(ReleaseTable(good, Base(TableMechanism::kLaplace), "t", bits), Error);
  for (const int broken : {0, 1, 2, 3, 4}) {
    TableReleaseOptions options = Base(TableMechanism::kLaplace);
    if (broken == 0) options.max_contributions = 0;
    if (broken == 1) options.id_column.clear();
    if (broken == 2) options.upper = {-1.0};
    if (broken == 3) options.lower.clear();
    if (broken == 4) options.eps = 0.0;
    EXPECT_THROW(options.Validate(), Error) << broken;
  }
}

}  // namespace
}  // namespace sotto
