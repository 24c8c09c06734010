#include "text/spoken_numbers.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sotto {
namespace {

// What stands for what: "twenty one=21".
std::vector<std::string> Read(std::string_view text) {
  std::vector<std::string> read;
  for (const auto& number : FindNumbers(text)) {
    read.push_back(std::string(text.substr(number.begin, number.end - number.begin)) + "=" +
                   number.digits);
  }
  return read;
}

using Strings = std::vector<std::string>;

TEST(SpokenNumbers, CardinalsAreRead) {
  EXPECT_EQ(Read("i have twenty one cats and one hundred and five dogs"),
            (Strings{"twenty one=21", "one hundred and five=105"}));
  EXPECT_EQ(Read("a hundred"), (Strings{"a hundred=100"}));
  EXPECT_EQ(Read("Forty-Two thousand three hundred and seven"),
            (Strings{"Forty-Two thousand three hundred and seven=42307"}));
  EXPECT_EQ(Read("two million three thousand and one"),
            (Strings{"two million three thousand and one=2003001"}));
  EXPECT_EQ(Read("nineteen hundred"), (Strings{"nineteen hundred=1900"}));
  EXPECT_EQ(Read("two thousand and seventeen"), (Strings{"two thousand and seventeen=2017"}));
  EXPECT_EQ(Read("zero"), (Strings{"zero=0"}));
}

TEST(SpokenNumbers, DigitsOneByOneAreASequence) {
  EXPECT_EQ(Read("oh seven seven double four"), (Strings{"oh seven seven double four=07744"}));
  EXPECT_EQ(Read("triple oh treble nine double 5"),
            (Strings{"triple oh treble nine double 5=00099955"}));
  EXPECT_EQ(Read("eight hundred five five five"), (Strings{"eight hundred five five five=800555"}));
  EXPECT_EQ(Read("one two three"), (Strings{"one two three=123"}));
  EXPECT_EQ(Read("quadruple one"), (Strings{"quadruple one=1111"}));
}

TEST(SpokenNumbers, YearsAndGroupsArePutTogether) {
  EXPECT_EQ(Read("in nineteen eighty four"), (Strings{"nineteen eighty four=1984"}));
  EXPECT_EQ(Read("nineteen oh five"), (Strings{"nineteen oh five=1905"}));
  EXPECT_EQ(Read("forty two eleven"), (Strings{"forty two eleven=4211"}));
  EXPECT_EQ(Read("call 555 one two"), (Strings{"555 one two=55512"}));
}

TEST(SpokenNumbers, OrdinalsStandAlone) {
  EXPECT_EQ(Read("the twenty first of the 3rd"), (Strings{"twenty first=21", "3rd=3"}));
  EXPECT_EQ(Read("twelfth two thousand"), (Strings{"twelfth=12", "two thousand=2000"}));
  EXPECT_EQ(Read("two hundred and fifth"), (Strings{"two hundred and fifth=205"}));
  EXPECT_EQ(Read("two hundredth"), (Strings{"two hundredth=200"}));
}

TEST(SpokenNumbers, PointsAreRead) {
  EXPECT_EQ(Read("three point one four"), (Strings{"three point one four=3.14"}));
  EXPECT_EQ(Read("point five"), (Strings{"point five=.5"}));
  EXPECT_EQ(Read("3.5 of them"), (Strings{"3.5=3.5"}));
  EXPECT_EQ(Read("the point is 5."), (Strings{"5=5"}));
}

TEST(SpokenNumbers, WrittenOnesKeepTheirThousandsAndStayApart) {
  EXPECT_EQ(Read("1,234,567 or 12 34"), (Strings{"1,234,567=1234567", "12=12", "34=34"}));
  EXPECT_EQ(Read("5 million"), (Strings{"5 million=5000000"}));
  EXPECT_EQ(Read("1, 200"), (Strings{"1=1", "200=200"}));
  EXPECT_EQ(Read("\u0663\u0664 \uFF11"), (Strings{"\u0663\u0664=34", "\uFF11=1"}));
}

TEST(SpokenNumbers, WordsThatOnlyLookLikeNumbersAreNone) {
  EXPECT_TRUE(FindNumbers("a double hundred and a point of someone").empty());
  EXPECT_TRUE(FindNumbers("").empty());
  EXPECT_TRUE(FindNumbers("double double triple").empty());
}

}  // namespace
}  // namespace sotto
