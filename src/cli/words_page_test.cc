// docs/words.md: every command on the page, run by the real program.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/testing.h"
#include "cli/testing.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;

struct Command {
  std::string line, output;
};

// Those of the blocks "```console": "$ command", then what it prints.
std::vector<Command> CommandsOf(const std::string& page) {
  std::vector<Command> commands;
  std::istringstream lines(page);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      inside = line == "```console";
    } else if (inside && line.starts_with("$ ")) {
      commands.push_back({line.substr(2), ""});
    } else if (inside) {
      commands.back().output += line + "\n";
    }
  }
  return commands;
}

TEST(WordsPage, EveryCommandPrintsWhatThePageShows) {
  const fs::path page = fs::path(__FILE__).parent_path() / "../../docs/words.md";
  ASSERT_TRUE(fs::exists(page)) << page;
  const testing::TemporaryFolder folder;
  int checked = 0;
  for (const Command& command : CommandsOf(ReadTextFile(page))) {
    if (command.line.starts_with("cat ")) {  // what the file holds
      WriteFileAtomically(folder / command.line.substr(4), command.output);
      continue;
    }
    const testing::Outcome outcome =
        testing::Shell(fmt::format("cd '{}' && sotto() {{ '{}' \"$@\"; }} && {}",
                                   folder.Path().string(), testing::Binary(), command.line));
    EXPECT_EQ(outcome.code, 0) << command.line << "\n" << outcome.Text();
    EXPECT_EQ(outcome.out, command.output) << command.line;
    ++checked;
  }
  EXPECT_GE(checked, 9);
}

}  // namespace
}  // namespace sotto
