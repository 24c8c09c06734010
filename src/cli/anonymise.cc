// sotto anonymise IN OUT
#include "release/anonymise.h"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "base/parallel.h"
#include "cli/verbs.h"
#include "report/verb_figures.h"

namespace sotto::cli {
namespace {

struct Flags {
  std::string in, out;
  TargetFlags target;
  MethodFlags method;
  StrategyFlag strategy;
  std::string key_out, map_out, format;
  ForceFlag output;
  int jobs = DefaultJobs();
  bool absolute_paths = false, allow_pipes = false, skip_failed = false, new_ids = false,
       mark = false, json = false;
};

AnonymiseOptions ToOptions(const Flags& flags) {
  AnonymiseOptions options;
  options.in = flags.in;
  options.out = flags.out;
  static_cast<VoiceOptions&>(options) = flags.method.Options();
  options.strategy = flags.strategy.Asked();
  options.context = flags.target.context;
  options.key_file = flags.target.key_file;
  options.experiment_seed = flags.target.seed;
  options.key_out = flags.key_out;
  options.jobs = flags.jobs;
  if (!flags.format.empty()) {
    options.container = flags.format == "flac" ? Container::kFlac : Container::kWav;
  }
  options.allow_pipes = flags.allow_pipes;
  options.skip_failed = flags.skip_failed;
  options.new_ids = flags.new_ids;
  options.map_out = flags.map_out;
  options.replace = flags.output.force;
  options.absolute_paths = flags.absolute_paths;
  options.mark = flags.mark;
  return options;
}

void Print(const AnonymiseReport& report, const Flags& flags) {
  for (const std::string& note : report.notes) fmt::print(stderr, "note: {}\n", note);
  for (const std::string& note : report.private_notes) {
    fmt::print(stderr, "for your eyes only: {}\n", note);
  }
  for (const auto& failure : report.failures) {
    fmt::print(stderr, "failed: {}: {}\n", failure.id, failure.reason);
  }
  fmt::print("{}", PrintedRun(report, flags.jobs, flags.json));
}

}  // namespace

void AddAnonymise(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  CLI::App* verb = AddVerb(
      app, "anonymise",
      "Gives a recording or a corpus another voice: same words, length, rate and format.\n"
      "IN is a sound file, a folder (speaker = the folder a file lies in), a Kaldi data dir or a "
      "TSV\n"
      "manifest; OUT is of the same kind. What an attacker can still learn: docs/threat_model.md.",
      "  sotto anonymise interview.wav protected.wav\n"
      "  sotto anonymise recordings/ protected/ --method vtln --target-gender other --jobs 2");
  verb->alias("anonymize");
  verb->add_option("IN", flags->in, "Sound file, folder, Kaldi data dir or manifest")->required();
  verb->add_option("OUT", flags->out, "Output file (.wav, .flac) or new folder")->required();
  flags->method.Add(*verb);
  flags->target.Add(*verb);
  flags->strategy.Add(*verb);
  verb->add_option("--key-out", flags->key_out, "Keep the key in this new file (mode 0600)")
      ->type_name("FILE")
      ->excludes("--key")
      ->excludes("--seed");
  CLI::Option* new_ids = verb->add_flag("--new-ids", flags->new_ids,
                                        "Replace utterance, speaker and file names by keyed ids");
  verb->add_option("--map-out", flags->map_out, "Write which id became which (mode 0600)")
      ->type_name("FILE")
      ->needs(new_ids);
  flags->output.Add(*verb);
  verb->add_flag("--absolute-paths", flags->absolute_paths,
                 "Kaldi: wav.scp names files from the root of this machine, which it then tells "
                 "(default: below the data dir)");
  verb->add_flag("--mark", flags->mark,
                 "Every file says in a comment that its voice is not the speaker's");
  verb->add_option("--format", flags->format,
                   "wav or flac (default: as the input; FLAC for lossy input)")
      ->check(CLI::IsMember({"wav", "flac"}));
  verb->add_option("--jobs", flags->jobs, "Recordings at a time")->check(CLI::PositiveNumber);
  verb->add_flag("--allow-pipes", flags->allow_pipes, "Run the shell commands in wav.scp");
  verb->add_flag("--skip-failed", flags->skip_failed,
                 "Finish the corpus without recordings that failed");
  verb->add_flag("--json", flags->json, "Print the report as JSON");
  verb->callback([flags] {
    const AnonymiseOptions options = ToOptions(*flags);
    CheckUsage([&] { options.Validate(); });
    const AnonymiseReport report = Anonymise(options, SOTTO_VERSION);
    Print(report, *flags);
    if (!report.failures.empty()) throw ExitWith{1};
  });
}

}  // namespace sotto::cli
