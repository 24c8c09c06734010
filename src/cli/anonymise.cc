// sotto anonymise IN OUT
#include "release/anonymise.h"

#include <fmt/format.h>

#include "base/parallel.h"
#include "cli/verbs.h"
#include "report/verb_figures.h"

namespace sotto::cli {
namespace {

struct Flags {
  AnonymiseOptions options;
  TargetFlags target;
  MethodFlags method;
  StrategyFlag strategy;
  std::string format;
  ForceFlag output;
  bool json = false;
};

AnonymiseOptions ToOptions(const Flags& flags) {
  AnonymiseOptions options = flags.options;
  static_cast<VoiceOptions&>(options) = flags.method.Options();
  options.strategy = flags.strategy.Asked();
  options.context = flags.target.context;
  options.key_file = flags.target.key_file;
  options.experiment_seed = flags.target.seed;
  if (!flags.format.empty()) {
    options.container = flags.format == "flac" ? Container::kFlac : Container::kWav;
  }
  options.replace = flags.output.force;
  return options;
}

void Run(const Flags& flags) {
  const AnonymiseOptions options = ToOptions(flags);
  CheckUsage([&] { options.Validate(); });
  const AnonymiseReport report = Anonymise(options, SOTTO_VERSION);
  for (const std::string& note : report.notes) fmt::print(stderr, "note: {}\n", note);
  for (const std::string& note : report.private_notes) {
    fmt::print(stderr, "private: {}\n", note);
  }
  for (const auto& failure : report.failures) {
    fmt::print(stderr, "failed: {}: {}\n", failure.id, failure.reason);
  }
  fmt::print("{}", PrintedRun(report, flags.options.jobs, flags.json));
  if (!report.failures.empty()) throw ExitWith{1};
}

}  // namespace

void AddAnonymise(CLI::App& app) {
  CLI::App* verb = AddVerb(
      app, "anonymise",
      "Gives a recording or a corpus another voice; words, length, rate and format stay the same. "
      "IN is a sound file, a folder (a file's folder names its speaker), a Kaldi data dir or a TSV "
      "manifest; OUT is of the same kind. docs/threat_model.md says what an attacker can still "
      "learn.",
      "  sotto anonymise interview.wav protected.wav\n"
      "  sotto anonymise recordings/ protected/ --method vtln --target-gender other --jobs 2");
  auto flags = verb->runs(Run);
  AnonymiseOptions& o = flags->options;
  o.jobs = DefaultJobs();
  verb->alias("anonymize");
  verb->add_option("IN", o.in, "Sound file, folder, Kaldi data dir or manifest")->required();
  verb->add_option("OUT", o.out, "Output file (.wav, .flac) or new folder")->required();
  flags->method.Add(*verb);
  verb->heading("Targets and key");
  flags->strategy.Add(*verb);
  flags->target.Add(*verb);
  verb->add_option("--key-out", o.key_out,
                   "Write the key to this new file (mode 0600); without it nobody keeps it", "FILE")
      ->excludes("--key")
      ->excludes("--seed");
  verb->heading("Output");
  CLI::Option* new_ids = verb->add_flag("--new-ids", o.new_ids,
                                        "Replace utterance, speaker and file names with keyed ids");
  verb->add_option("--map-out", o.map_out, "Write which id became which to this file (mode 0600)",
                   "FILE")
      ->needs(new_ids);
  flags->output.Add(*verb);
  verb->add_flag(
      "--absolute-paths", o.absolute_paths,
      "Write absolute paths, which reveal folders of this machine, into a Kaldi wav.scp; "
      "without it they are relative to the data dir");
  verb->add_flag("--mark", o.mark,
                 "Say in a comment in every file that its voice is not the speaker's");
  verb->add_option("--format", flags->format,
                   "Format of the files; default: that of the input, FLAC for lossy input")
      ->check(CLI::IsMember({"wav", "flac"}));
  verb->add_flag("--json", flags->json, "Print the report as JSON");
  verb->heading("Run");
  verb->add_option("--jobs", o.jobs, "Recordings at a time")->check(CLI::PositiveNumber);
  verb->add_flag("--allow-pipes", o.allow_pipes, "Run the shell commands in wav.scp");
  verb->add_flag("--skip-failed", o.skip_failed,
                 "Finish the corpus without the recordings that failed");
}

}  // namespace sotto::cli
