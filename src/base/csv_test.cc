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

TEST(Csv, WhatASpreadsheetWouldRunIsWrittenAsText) {
  CsvTable table;
  table.header = {"=a", "b"};
  table.rows = {{"=HYPERLINK(\"http://x\")", "-1.5e3"},
                {"@f", "+2"},
                {"-2+3", "-"},
                {"+-1", "-x"},
                {"-nan(A1)", "-inf"},
                {"-.5", "+inf"}};
  EXPECT_EQ(FormatCsv(table),
            "'=a,b\n\"'=HYPERLINK(\"\"http://x\"\")\",-1.5e3\n'@f,+2\n'-2+3,-\n'+-1,'-x\n"
            "'-nan(A1),'-inf\n-.5,'+inf\n");
  // Once written, it stays as it is.
  EXPECT_EQ(FormatCsv(ParseCsv(FormatCsv(table), "t")), FormatCsv(table));
}

TEST(Csv, RefusesTextThatIsNoUtf8OrHoldsControlCharacters) {
  for (const char* bad : {"a,b\n1,2\nx\xff,3\n", "a,b\n1,2\n\x1b[2J,3\n", "a,b\n1,2\n\xc2\x9b,3\n",
                          "a,b\n1,2\n\"x\ry\",3\n"}) {
    try {
      ParseCsv(bad, "t.csv");
      FAIL() << bad;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).substr(0, 14), "t.csv: line 3:") << error.what();
    }
  }
}

TEST(Csv, RefusesWhatIsNotATable) {
  for (const char* bad : {"", "a,a\n1,2\n", "a,b\n1\n", "a\n\"x\n", "a\nx\"y\n", "a\n\"x\"y\n"}) {
    EXPECT_THROW(ParseCsv(bad, "t"), Error) << bad;
  }
  EXPECT_THROW(ParseCsv("a,b\n", "t").Column("c", "t"), Error);
}

}  // namespace
}  // namespace sotto
