// sotto check DIR
#include <fmt/format.h>

#include <memory>

#include "audio/corpus_check.h"
#include "base/parallel.h"
#include "cli/verbs.h"
#include "report/verb_figures.h"

namespace sotto::cli {
namespace {

struct Flags {
  std::string path;
  CheckOptions options;
  bool json = false;
};

}  // namespace

void AddCheck(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  flags->options.jobs = DefaultJobs();
  CLI::App* verb = AddVerb(app, "check",
                           "Checks a corpus before hours are spent on it: files that are missing "
                           "or unreadable, repeated "
                           "ids, missing speakers and genders. It says how to fix each problem.",
                           "  sotto check recordings/\n"
                           "  sotto check data/train --quick --json");
  verb->add_option("DIR", flags->path, "Folder, Kaldi data dir or manifest")->required();
  verb->add_flag("--quick", flags->options.headers_only, "Read headers only and decode nothing");
  verb->add_flag("--allow-pipes", flags->options.allow_pipes,
                 "Accept pipes in wav.scp (they are not run)");
  verb->add_option("--jobs", flags->options.jobs, "Files at a time")->check(CLI::PositiveNumber);
  verb->add_flag("--json", flags->json, "Print the result as JSON");
  verb->callback([flags] {
    const CorpusCheck check = CheckCorpus(flags->path, flags->options);
    fmt::print("{}", PrintedCheck(check, flags->json));
    if (check.Errors() > 0) throw ExitWith{1};
  });
}

}  // namespace sotto::cli
