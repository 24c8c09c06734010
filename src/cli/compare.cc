// sotto compare ORIGINAL PROTECTED [PROTECTED ...]
#include <fmt/format.h>

#include <memory>

#include "base/parallel.h"
#include "cli/verbs.h"
#include "report/assess_page.h"
#include "report/compare_page.h"

namespace sotto::cli {
namespace {

struct Flags {
  std::string original, page;
  std::vector<std::string> runs;
  std::vector<std::string> released;
  std::size_t players = 8;
  int jobs = DefaultJobs();
  bool json = false;
};

}  // namespace

void AddCompare(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  CLI::App* verb = AddVerb(
      app, "compare",
      "Measures what a protection did to recordings (level, pitch, formants) and writes a page "
      "with "
      "players and spectrograms side by side. It runs no attacker and says nothing about privacy.",
      "  sotto compare recordings/ mcadams/ voicemask/ vtln/ --page compare.html\n"
      "  sotto compare interview.wav protected.wav --json");
  verb->add_option("ORIGINAL", flags->original, "Sound file or corpus")->required();
  verb->add_option("PROTECTED", flags->released, "Its protected copies, with the same ids")
      ->required()
      ->expected(1, -1);
  verb->add_option("--page", flags->page, "Write this page", "OUT.html");
  verb->add_option("--players", flags->players, "Number of recordings with players on the page");
  verb->add_option("--run", flags->runs,
                   "Output of sotto anonymise --json, for the speed; give it once for each copy",
                   "FILE");
  verb->add_option("--jobs", flags->jobs, "Recordings at a time")->check(CLI::PositiveNumber);
  verb->add_flag("--json", flags->json, "Print the figures as JSON");
  verb->callback([flags] {
    const auto copies = CompareCopies(
        flags->original, {flags->released.begin(), flags->released.end()}, flags->jobs);
    if (!flags->page.empty()) {
      ComparePageOptions options{flags->page, flags->players, {}};
      for (const std::string& run : flags->runs)
        options.times_real_time.push_back(ReadTimesRealTime(run));
      WritePage(flags->page, ComparePage(copies, options));
    }
    fmt::print("{}", flags->json ? CompareJson(copies) : CompareText(copies));
  });
}

}  // namespace sotto::cli
