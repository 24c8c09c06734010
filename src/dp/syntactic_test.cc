#include "dp/syntactic.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace sotto {
namespace {

// The running example of seed 003 (Cao 2023): 3-anonymous, yet all women share one disease.
constexpr const char* kGeneralised =
    "id,sex,birth,zip,disease\n"
    "u1,M,1/*,100*,cardiopathy\nu2,M,1/*,100*,diabetes\nu3,M,1/*,100*,HIV\n"
    "u4,F,2/*,200*,HIV\nu5,F,2/*,200*,HIV\nu6,F,2/*,200*,HIV\n";

SyntacticOptions Columns() {
  SyntacticOptions options;
  options.quasi_identifiers = {"sex", "birth", "zip"};
  options.sensitive = "disease";
  return options;
}

TEST(Syntactic, KAnonymityHoldsAndDiversityFails) {
  SyntacticOptions options = Columns();
  options.k = 3;
  options.l = 2;
  const auto result = CheckSyntactic(ParseCsv(kGeneralised, "t"), options, "t");
  EXPECT_EQ(result.k, 3U);
  EXPECT_EQ(*result.l_distinct, 1U);
  EXPECT_NEAR(*result.l_entropy, 1.0, 1e-12);
  EXPECT_EQ(result.breaking_rows, (std::vector<std::size_t>{3, 4, 5}));
  EXPECT_EQ(result.classes.size(), 2U);
}

TEST(Syntactic, ClosenessIsThatOfTheSeed) {
  const auto table = ParseCsv(
      "sex,disease\nM,cardiopathy\nM,diabetes\nM,HIV\nF,HIV\nF,cardiopathy\nF,diabetes\n", "t");
  SyntacticOptions options;
  options.quasi_identifiers = {"sex"};
  options.sensitive = "disease";
  EXPECT_NEAR(*CheckSyntactic(table, options, "t").t, 0.0, 1e-12);
  const auto skewed =
      ParseCsv("sex,disease\nM,cardiopathy\nM,diabetes\nM,HIV\nF,HIV\nF,HIV\nF,diabetes\n", "t");
  EXPECT_NEAR(*CheckSyntactic(skewed, options, "t").t, 1.0 / 6.0, 1e-12);
}

TEST(Syntactic, NumbersAreComparedInTheirOrder) {
  // Ordered distance of Li et al.: {3,4,5} against {3,…,11} is 0.375 (their example, in k dollars).
  std::string text = "group,salary\n";
  const std::vector<std::string> groups = {"a", "a", "a", "b", "b", "b", "c", "c", "c"};
  for (int i = 0; i < 9; ++i) {
    text += fmt::format("{},{}\n", groups[static_cast<std::size_t>(i)], 3 + i);
  }
  SyntacticOptions options;
  options.quasi_identifiers = {"group"};
  options.sensitive = "salary";
  const auto result = CheckSyntactic(ParseCsv(text, "t"), options, "t");
  EXPECT_TRUE(result.ordered);
  for (const auto& group : result.classes) {
    if (group.values.front() != "a") continue;
    EXPECT_NEAR(group.closeness, 0.375, 1e-12);
  }
}

TEST(Syntactic, ManyRowsOfOnePersonAreOnePerson) {
  const auto table = ParseCsv("spk,city\na,X\na,X\na,X\nb,Y\nc,Y\n", "t");
  SyntacticOptions options;
  options.quasi_identifiers = {"city"};
  options.k = 2;
  EXPECT_TRUE(CheckSyntactic(table, options, "t").breaking_rows.empty());
  options.id = "spk";
  EXPECT_EQ(CheckSyntactic(table, options, "t").k, 1U);
  EXPECT_EQ(CheckSyntactic(table, options, "t").breaking_rows, (std::vector<std::size_t>{0, 1, 2}));
}

TEST(Syntactic, RefusesMissingColumnsAndValues) {
  const auto table = ParseCsv("first,second\n1,\n", "t");
  SyntacticOptions options;
  options.quasi_identifiers = {"first"};
  options.sensitive = std::string("second");
  EXPECT_THROW(CheckSyntactic(table, options, "t"), Error);
  options.sensitive = std::string("third");
  EXPECT_THROW(CheckSyntactic(table, options, "t"), Error);
  options = {};
  EXPECT_THROW(CheckSyntactic(table, options, "t"), Error);
}

}  // namespace
}  // namespace sotto
