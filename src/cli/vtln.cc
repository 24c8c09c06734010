// sotto build vtln CORPUS -o POOL, sotto fit vtln CORPUS --pool POOL -o PROFILE
#include <fmt/format.h>

#include "base/files.h"
#include "base/parallel.h"
#include "cli/build_text.h"
#include "cli/verbs.h"
#include "report/verb_figures.h"
#include "targets/vtln_files.h"

namespace sotto::cli {
namespace {

struct Flags {
  std::string corpus, pool, out, f0 = "fast";
  VoiceModelOptions options{.jobs = DefaultJobs()};
  ForceFlag force;
  bool json = false;

  void Add(CLI::App& verb, const char* out_help, const char* json_help) {
    verb.add_option("-o,--out", out, out_help, "FILE")->required();
    force.Add(verb);
    verb.add_option("--seconds", options.max_seconds, "Seconds of speech of each speaker, at most")
        ->check(CLI::PositiveNumber);
    verb.add_option("--f0", f0,
                    "How the vocoder finds the pitch; robust works in noise and is slower")
        ->check(CLI::IsMember({"fast", "robust"}));
    verb.add_option("--jobs", options.jobs, "Speakers at a time")->check(CLI::PositiveNumber);
    verb.add_flag("--json", json, json_help);
  }
  // Before the work.
  void Check() {
    force.Check(out);
    options.f0_method = f0 == "robust" ? F0Method::kRobust : F0Method::kFast;
  }
};

void Build(Flags& flags) {
  flags.Check();
  const BuiltPool built = BuildPool(flags.corpus, flags.options);
  const std::string bytes = SerialisePool(built.pool);
  WriteFileAtomically(flags.out, bytes, {.if_exists = flags.force.OnExisting()});
  for (const auto& [speaker, reason] : built.failures) {
    fmt::print(stderr, "left out: {}: {}\n", speaker, reason);
  }
  fmt::print("{}", PrintedPool(built, bytes.size(), flags.out, flags.json));
}

void Fit(Flags& flags) {
  flags.Check();
  const VoicePool pool = ReadPool(flags.pool);
  const VoiceProfile profile = FitCorpus(flags.corpus, pool, flags.options);
  WritePrivateFile(flags.out, SerialiseProfile(profile), flags.force.OnExisting());
  fmt::print("{}", PrintedProfile(profile, pool, flags.out, flags.json));
  fmt::print(stderr, "note: a profile describes the original voice: keep it private\n");
}

}  // namespace

void AddBuild(CLI::App& app) {
  CLI::App* verb = AddVerb(app, "build", "Builds what a method needs from a public corpus, once.",
                           "  sotto build vtln corpus/ -o pool.bin\n"
                           "  sotto build text corpora/ -o surrogates.tsv");
  verb->require_subcommand(1);
  CLI::App* vtln = AddVerb(
      *verb, "vtln",
      "Builds the pool of target voices: eight envelope classes and the pitch of each speaker, "
      "without sound, text or names. The gender is kept where the corpus tells it.",
      "  sotto build vtln corpus/ -o pool.bin\n"
      "  sotto build vtln corpus/manifest.tsv -o pool.bin --seconds 60 --json");
  auto flags = vtln->runs(Build);
  vtln->add_option("CORPUS", flags->corpus, "Folder, Kaldi data dir or manifest")->required();
  flags->Add(*vtln, "The pool to write", "Print the counts as JSON");
  AddBuildText(*verb);
}

void AddFit(CLI::App& app) {
  CLI::App* verb = AddVerb(app, "fit", "Fits a method to a user's voice from a few utterances.",
                           "  sotto fit vtln my-recordings/ -o me.profile\n"
                           "  sotto fit vtln my-recordings/ --pool pool.bin -o me.profile");
  verb->require_subcommand(1);
  CLI::App* vtln = AddVerb(*verb, "vtln",
                           "Finds how each class of the user's envelopes is warped towards every "
                           "voice of the pool. The profile (mode 0600) describes the user's voice: "
                           "keep it private. A profile of one speaker serves any recording; in one "
                           "of several, speakers are found by their names.",
                           "  sotto fit vtln my-recordings/ -o me.profile\n"
                           "  sotto fit vtln my-recordings/ --pool pool.bin -o me.profile --json");
  auto flags = vtln->runs(Fit);
  vtln->add_option("CORPUS", flags->corpus, "Sound file, folder, Kaldi data dir or manifest")
      ->required();
  vtln->add_option("--pool", flags->pool, "Pool from sotto build; default: the one in the program",
                   "FILE");
  flags->Add(*vtln, "The profile to write", "Print what was fitted as JSON");
}

}  // namespace sotto::cli
