#include "base/csv.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace sotto {
namespace {

using Row = std::vector<std::string>;

TEST(Csv, ReadsQuotesSeparatorsAndLineEnds) {
  const CsvTable table =
      ParseCsv("\xEF\xBB\xBFid,text\r\na,\"one, \"\"two\"\"\nthree\"\r\n\r\nb,\r\n", "t.csv");
  EXPECT_EQ(table.header, (Row{"id", "text"}));
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0], (Row{"a", "one, \"two\"\nthree"}));
  EXPECT_EQ(table.rows[1], (Row{"b", ""}));
  EXPECT_EQ(table.lines, (std::vector<std::size_t>{2, 5}));
}

TEST(Csv, TakesTabsWhereTheHeaderHasThem) {
  const CsvTable table = ParseCsv("id\tnote\na\tx, y\n", "t.tsv");
  EXPECT_EQ(table.separator, '\t');
  EXPECT_EQ(table.rows[0][1], "x, y");
}

TEST(Csv, WhatIsWrittenReadsBack) {
  CsvTable table;
  table.header = {"a", "b"};
  table.rows = {{"x,y", "q\"q"}, {"", "two\nlines"}};
  EXPECT_EQ(ParseCsv(FormatCsv(table), "t").rows, table.rows);
  CsvTable single;
  single.header = {"a"};
  single.rows = {{""}, {"x"}};
  EXPECT_EQ(ParseCsv(FormatCsv(single), "t").rows, single.rows);
}

TEST(Csv, RefusesWhatIsNotATable) {
  for (const char* bad : {"", "a,a\n1,2\n", "a,b\n1\n", "a\n\"x\n", "a\nx\"y\n", "a\n\"x\"y\n"}) {
    EXPECT_THROW(ParseCsv(bad, "t"), Error) << bad;
  }
  EXPECT_THROW(ParseCsv("a,b\n", "t").Column("c", "t"), Error);
}

}  // namespace
}  // namespace sotto
