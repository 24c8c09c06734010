#include "cli/table_flags.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "base/error.h"

namespace sotto::cli {
namespace {

using Given = std::map<std::string, std::string>;

// Two methods that share parameters and have one each of their own.
DefinitionTable<TableEntry> Methods() {
  DefinitionTable<TableEntry> table("method");
  const auto parameter = [](const char* name, const char* preset, const char* help) {
    return Parameter{.name = name, .preset = preset, .help = help};
  };
  std::vector<Parameter> of_a = {parameter("shared", "1", "Of both"),
                                 parameter("other-default", "1", "Of both"),
                                 {.name = "kind", .choices = {"x", "y"}, .help = "Which"},
                                 {.name = "size", .help = "Of a", .alias = "extent"}};
  std::vector<Parameter> of_b = {
      parameter("shared", "1", "Of both"),
      parameter("other-default", "2", "Of both"),
      {.name = "kind", .choices = {"y", "z"}, .help = "Which"},
      {.name = "loud", .kind = Parameter::Kind::kSwitch, .help = "Of b"}};
  table.Add(std::make_shared<TableEntry>("a", "The first", of_a));
  table.Add(std::make_shared<TableEntry>("b", "The second", of_b));
  return table;
}

class TableFlagsTest : public ::testing::Test {
 protected:
  // The exit code.
  int Parse(std::vector<std::string> words) {
    words.insert(words.begin(), "verb");
    std::vector<char*> arguments;
    arguments.reserve(words.size());
    for (std::string& word : words) arguments.push_back(word.data());
    return app_.parse(static_cast<int>(arguments.size()), arguments.data());
  }
  Given Read(const std::string& chosen) const {
    Given given;
    flags_.Read(*table_.Find(chosen), ", as the default is",
                [&](const std::string& name, const std::string& value) { given[name] = value; });
    return given;
  }
  std::string Help() {
    ::testing::internal::CaptureStdout();
    Parse({"--help"});
    return ::testing::internal::GetCapturedStdout();
  }

  const DefinitionTable<TableEntry> table_ = Methods();
  TableFlags flags_{table_};
  CLI::App app_{"", "verb"};
};

TEST_F(TableFlagsTest, HandOnWhatWasGivenAndNothingElse) {
  flags_.Add(app_, "All methods");
  ASSERT_EQ(Parse({"--shared", "3", "--extent", "big"}), 0);
  EXPECT_EQ(Read("a"), (Given{{"shared", "3"}, {"size", "big"}}));
}

TEST_F(TableFlagsTest, ASwitchIsGivenWithoutAValue) {
  flags_.Add(app_, "All methods");
  ASSERT_EQ(Parse({"--loud"}), 0);
  EXPECT_EQ(Read("b"), (Given{{"loud", ""}}));
}

TEST_F(TableFlagsTest, AFlagOfAnotherMethodIsRefused) {
  flags_.Add(app_, "All methods");
  ASSERT_EQ(Parse({"--loud", "--shared", "2"}), 0);
  try {
    Read("a");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "--loud belongs to --method b; the method here is a, as the default is");
  }
}

TEST_F(TableFlagsTest, TakeTheChoicesOfAllMethods) {
  flags_.Add(app_, "All methods");
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(Parse({"--kind", "w"}), 2);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("--kind"), std::string::npos);
  for (const char* kind : {"x", "y", "z"}) EXPECT_EQ(Parse({"--kind", kind}), 0) << kind;
}

TEST_F(TableFlagsTest, HelpSaysWhoseTheyAreAndADefaultThatAllShare) {
  flags_.Add(app_, "All methods");
  const std::string help = Help();
  const auto line = [&](const std::string& flag) {
    const auto at = help.find(flag);
    return at == std::string::npos ? "" : help.substr(at, help.find('\n', at) - at);
  };
  EXPECT_NE(line("--shared").find("default: 1"), std::string::npos) << help;
  ASSERT_NE(line("--other-default"), "") << help;
  EXPECT_EQ(line("--other-default").find("default: "), std::string::npos) << help;
  const auto all = help.find("All methods:"), a = help.find("With --method a:"),
             b = help.find("With --method b:");
  ASSERT_NE(std::max({all, a, b}), std::string::npos) << help;
  EXPECT_LT(all, help.find("--shared"));
  EXPECT_LT(a, help.find("--size"));
  EXPECT_LT(b, help.find("--loud"));
}

TEST_F(TableFlagsTest, OnlyWhatTheVerbTakesIsAFlag) {
  flags_.Add(app_, "All methods",
             [](const Parameter& parameter) { return parameter.kind != Parameter::Kind::kSwitch; });
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(Parse({"--loud"}), 2);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("--loud"), std::string::npos);
  EXPECT_EQ(Parse({"--size", "1"}), 0);
}

TEST(TableFlagsOfOne, StandUnderTheHeadingOfAll) {
  const DefinitionTable<TableEntry> table = Methods();
  const auto only = table.Find("b");
  TableFlags flags(*only);
  CLI::App app("", "verb");
  flags.Add(app, "Training");
  std::string verb = "verb", help = "--help";
  std::vector<char*> arguments = {verb.data(), help.data()};
  ::testing::internal::CaptureStdout();
  app.parse(2, arguments.data());
  const std::string text = ::testing::internal::GetCapturedStdout();
  EXPECT_NE(text.find("Training:"), std::string::npos) << text;
  EXPECT_EQ(text.find("With --method"), std::string::npos) << text;
  EXPECT_NE(text.find("default: 2"), std::string::npos) << text;  // its own alone
  EXPECT_EQ(text.find("--size"), std::string::npos) << text;
}

}  // namespace
}  // namespace sotto::cli
