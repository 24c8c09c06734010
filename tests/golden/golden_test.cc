// What the program prints for small inputs, figure by figure: each page of this folder is a
// dialogue of commands and answers. A line "$ sotto …" is run where the files of in/ lie; what
// stands below it is its standard output, "! " begins a line of its standard error, "= " its exit
// code where that is not 0. "# tolerance X" in the first line: numbers agree to that part of them
// (else to 1e-9: other processors sum in another last bit); all other text is equal.
//
// SOTTO_WRITE_GOLDENS=1 build/tests/golden_test writes the answers anew, after a change that is
// meant; a new case is a new line "$ sotto …". SOTTO_TEST_BINARY names another program to ask.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <regex>

#include "audio/testing.h"
#include "base/files.h"
#include "base/testing.h"
#include "base/tsv.h"
#include "cli/testing.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;

// Three speakers of the same vowel at their own pitch, and a corpus with a file that is no sound.
void MakeCorpora(const fs::path& folder) {
  double f0_hz = 100.0;
  for (const char* speaker : {"anna", "bert", "cleo"}) {
    for (int i = 1; i <= 3; ++i, f0_hz += 9.0) {
      testing::WriteWav(folder / fmt::format("corpus/{}/{}.wav", speaker, i),
                        testing::SyntheticVowel(1.5, 16000, f0_hz, {650.0 + f0_hz, 1200, 2600}));
    }
  }
  testing::WriteWav(folder / "broken/anna/1.wav", testing::SyntheticVowel(0.5, 16000));
  WriteFileAtomically(folder / "broken/anna/2.wav", "no sound");
}

// Times, versions and digests of what differs between machines are left out, and lists of numbers
// stand on one line.
std::string Normalised(std::string text) {
  const std::pair<const char*, const char*> rules[] = {
      {R"re(("(seconds|wall_seconds|times_real_time|seconds_\w+)": )[^,\n]+)re", "$1…"},
      {R"re(("(sotto|fingerprint)": )[^,\n]+)re", "$1…"},
      {R"re((in|features|mixture|variability) [0-9.]+ s\b)re", "$1 … s"},
      {R"re([0-9]+( ?x real time))re", "…$1"},
      {R"re(([\[,])\n +(-?[0-9][-+.e0-9]*)(?=[,\n]))re", "$1 $2"},
      {R"re(([0-9])\n +\])re", "$1 ]"}};
  for (const auto& [pattern, instead] : rules) {
    text = std::regex_replace(text, std::regex(pattern), instead);
  }
  return text;
}

std::string Answer(const std::string& arguments, const fs::path& folder) {
  const testing::Outcome run =
      testing::Shell(fmt::format("cd {} && {} {}", folder.string(), testing::Binary(), arguments));
  std::string answer = run.out;
  if (!answer.empty() && answer.back() != '\n') answer += '\n';
  for (const std::string_view line : SplitLines(run.err)) answer += fmt::format("! {}\n", line);
  if (run.code != 0) answer += fmt::format("= {}\n", run.code);
  return Normalised(answer);
}

// Equal but for numbers, and these to the tolerance.
bool Agree(std::string_view got, std::string_view wanted, double tolerance) {
  static const std::regex number(R"(-?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?)");
  using Iterator = std::regex_iterator<std::string_view::const_iterator>;
  Iterator a(got.begin(), got.end(), number), b(wanted.begin(), wanted.end(), number);
  const Iterator end;
  auto got_at = got.begin();
  auto wanted_at = wanted.begin();
  for (; a != end && b != end; ++a, ++b) {
    const double x = std::stod(a->str()), y = std::stod(b->str());
    const double least = std::max({std::abs(x), std::abs(y), 1e-6});
    if (!std::equal(got_at, (*a)[0].first, wanted_at, (*b)[0].first) ||
        (a->str() != b->str() && std::abs(x - y) > tolerance * least)) {
      return false;
    }
    got_at = (*a)[0].second;
    wanted_at = (*b)[0].second;
  }
  return std::equal(got_at, got.end(), wanted_at, wanted.end());
}

struct Page {
  std::string head;
  std::vector<std::pair<std::string, std::string>> cases;  // a command and its answer
};

Page ReadPage(const fs::path& path) {
  Page page;
  const std::string text = ReadTextFile(path);
  for (const std::string_view line : SplitLines(text)) {
    if (line.starts_with("$ sotto ")) {
      page.cases.emplace_back(line.substr(8), "");
    } else {
      (page.cases.empty() ? page.head : page.cases.back().second) += std::string(line) + '\n';
    }
  }
  return page;
}

class Golden : public ::testing::TestWithParam<const char*> {};

TEST_P(Golden, TheProgramAnswersAsWritten) {
  const fs::path goldens = SOTTO_GOLDENS;
  const fs::path file = goldens / (std::string(GetParam()) + ".txt");
  const testing::TemporaryFolder folder;
  fs::copy(goldens / "in", folder.Path(), fs::copy_options::recursive);
  MakeCorpora(folder.Path());
  Page page = ReadPage(file);
  const std::string tolerance = "# tolerance ";
  const bool own = page.head.starts_with(tolerance);
  for (auto& [command, wanted] : page.cases) {
    const std::string answer = Answer(command, folder.Path());
    if (std::getenv("SOTTO_WRITE_GOLDENS") != nullptr) {
      wanted = answer;
      continue;
    }
    const auto got_lines = SplitLines(answer), wanted_lines = SplitLines(wanted);
    EXPECT_EQ(got_lines.size(), wanted_lines.size()) << "sotto " << command << '\n' << answer;
    for (std::size_t i = 0; i < std::min(got_lines.size(), wanted_lines.size()); ++i) {
      EXPECT_TRUE(Agree(got_lines[i], wanted_lines[i],
                        own ? std::stod(page.head.substr(tolerance.size())) : 1e-9))
          << "sotto " << command << "\nprinted: " << got_lines[i]
          << "\nwritten: " << wanted_lines[i];
    }
  }
  if (std::getenv("SOTTO_WRITE_GOLDENS") == nullptr) return;
  std::string text = page.head;
  for (const auto& [command, answer] : page.cases) {
    text += fmt::format("$ sotto {}\n{}", command, answer);
  }
  WriteFileAtomically(file, text);
}

INSTANTIATE_TEST_SUITE_P(Pages, Golden, ::testing::Values("assess", "dp", "embeddings", "runs"),
                         [](const auto& page) { return std::string(page.param); });

}  // namespace
}  // namespace sotto
