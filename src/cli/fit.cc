// sotto fit vtln CORPUS --pool POOL -o PROFILE
#include <fmt/format.h>

#include <memory>

#include "base/files.h"
#include "base/parallel.h"
#include "cli/verbs.h"
#include "report/verb_figures.h"
#include "targets/vtln_files.h"

namespace sotto::cli {
namespace {

struct Flags {
  std::string corpus, pool, out;
  double seconds = 120.0;
  std::string f0 = "fast";
  int jobs = DefaultJobs();
  ForceFlag force;
  bool json = false;
};

void Run(const Flags& flags) {
  flags.force.Check(flags.out);
  const VoiceModelOptions options{
      flags.seconds, flags.f0 == "robust" ? F0Method::kRobust : F0Method::kFast, flags.jobs};
  const VoicePool pool = ReadPool(flags.pool);
  const VoiceProfile profile = FitCorpus(flags.corpus, pool, options);
  WritePrivateFile(flags.out, SerialiseProfile(profile), flags.force.OnExisting());
  fmt::print("{}", PrintedProfile(profile, pool, flags.out, flags.json));
  fmt::print(stderr, "note: a profile describes the original voice: keep it private\n");
}

}  // namespace

void AddFit(CLI::App& app) {
  CLI::App* verb = AddVerb(app, "fit", "Fits a method to a user's voice from a few utterances.",
                           "  sotto fit vtln my-recordings/ -o me.profile\n"
                           "  sotto fit vtln my-recordings/ --pool pool.bin -o me.profile");
  verb->require_subcommand(1);
  auto flags = std::make_shared<Flags>();
  CLI::App* vtln = AddVerb(*verb, "vtln",
                           "Finds how each class of the user's envelopes is warped towards every "
                           "voice of the pool. The profile (mode 0600) describes the user's voice: "
                           "keep it private. A profile of one speaker serves any recording; in one "
                           "of several, speakers are found by their names.",
                           "  sotto fit vtln my-recordings/ -o me.profile\n"
                           "  sotto fit vtln my-recordings/ --pool pool.bin -o me.profile --json");
  vtln->add_option("CORPUS", flags->corpus, "Sound file, folder, Kaldi data dir or manifest")
      ->required();
  vtln->add_option("--pool", flags->pool, "Pool from sotto build; default: the one in the program")
      ->type_name("FILE");
  vtln->add_option("-o,--out", flags->out, "The profile to write")->required()->type_name("FILE");
  flags->force.Add(*vtln);
  vtln->add_option("--seconds", flags->seconds, "Seconds of speech of each speaker, at most")
      ->check(CLI::PositiveNumber);
  vtln->add_option("--f0", flags->f0,
                   "How the vocoder finds the pitch; robust works in noise and is slower")
      ->check(CLI::IsMember({"fast", "robust"}));
  vtln->add_option("--jobs", flags->jobs, "Speakers at a time")->check(CLI::PositiveNumber);
  vtln->add_flag("--json", flags->json, "Print what was fitted as JSON");
  vtln->callback([flags] { Run(*flags); });
}

}  // namespace sotto::cli
