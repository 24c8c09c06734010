// sotto check DIR
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "audio/corpus_check.h"
#include "base/json.h"
#include "base/parallel.h"
#include "base/progress_bar.h"
#include "cli/verbs.h"

namespace sotto::cli {
namespace {

struct Flags {
  std::string path;
  CheckOptions options;
  bool json = false;
};

void Print(const CorpusCheck& check, std::size_t errors) {
  for (const Problem& problem : check.problems) {
    fmt::print("{}: {}: {}\n  fix: {}\n",
               problem.severity == Problem::Severity::kError ? "error" : "warning", problem.where,
               problem.what, problem.fix);
  }
  fmt::print("{}: {} recordings, {} utterances, {} speakers, {} of sound; {} errors, {} warnings\n",
             errors == 0 ? "ok" : "not ok", check.recordings, check.utterances, check.speakers,
             FormatDuration(check.audio_seconds), errors, check.problems.size() - errors);
}

void PrintJson(const CorpusCheck& check, std::size_t errors) {
  nlohmann::ordered_json json = {{"ok", errors == 0},
                                 {"kind", check.kind},
                                 {"recordings", check.recordings},
                                 {"utterances", check.utterances},
                                 {"speakers", check.speakers},
                                 {"audio_seconds", check.audio_seconds},
                                 {"errors", errors},
                                 {"warnings", check.problems.size() - errors}};
  json["problems"] = nlohmann::ordered_json::array();
  for (const Problem& problem : check.problems) {
    json["problems"].push_back(
        {{"severity", problem.severity == Problem::Severity::kError ? "error" : "warning"},
         {"where", problem.where},
         {"what", problem.what},
         {"fix", problem.fix}});
  }
  fmt::print("{}\n", DumpJson(json, 2));
}

}  // namespace

void AddCheck(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  flags->options.jobs = DefaultJobs();
  CLI::App* verb = AddVerb(
      app, "check",
      "Validates a corpus before hours are spent on it: missing and unreadable files, repeated\n"
      "ids, speakers and genders that are missing. Says how to mend each.",
      "  sotto check recordings/\n"
      "  sotto check data/train --quick --json");
  verb->add_option("DIR", flags->path, "Folder, Kaldi data dir or manifest")->required();
  verb->add_flag("--quick", flags->options.headers_only, "Look at headers only, decode nothing");
  verb->add_flag("--allow-pipes", flags->options.allow_pipes,
                 "Accept pipes in wav.scp (they are not run)");
  verb->add_option("--jobs", flags->options.jobs, "Files at a time")->check(CLI::PositiveNumber);
  verb->add_flag("--json", flags->json, "Print the result as JSON");
  verb->callback([flags] {
    const CorpusCheck check = CheckCorpus(flags->path, flags->options);
    std::size_t errors = 0;
    for (const Problem& problem : check.problems) {
      errors += problem.severity == Problem::Severity::kError ? 1 : 0;
    }
    flags->json ? PrintJson(check, errors) : Print(check, errors);
    if (errors > 0) throw ExitWith{1};
  });
}

}  // namespace sotto::cli
