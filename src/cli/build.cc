// sotto build vtln CORPUS -o POOL
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
  std::string corpus, out;
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
  const BuiltPool built = BuildPool(flags.corpus, options);
  const std::string bytes = SerialisePool(built.pool);
  WriteFileAtomically(flags.out, bytes, {.if_exists = flags.force.OnExisting()});
  for (const auto& [speaker, reason] : built.failures) {
    fmt::print(stderr, "left out: {}: {}\n", speaker, reason);
  }
  fmt::print("{}", PrintedPool(built, bytes.size(), flags.out, flags.json));
}

}  // namespace

void AddBuild(CLI::App& app) {
  CLI::App* verb = AddVerb(app, "build", "Builds what a method needs from a public corpus, once.",
                           "  sotto build vtln corpus/ -o pool.bin\n"
                           "  sotto build vtln corpus/ -o pool.bin --seconds 60 --json");
  verb->require_subcommand(1);
  auto flags = std::make_shared<Flags>();
  CLI::App* vtln = AddVerb(
      *verb, "vtln",
      "Builds the pool of target voices: eight envelope classes and the pitch of each speaker, "
      "without sound, text or names. The gender is kept where the corpus tells it.",
      "  sotto build vtln corpus/ -o pool.bin\n"
      "  sotto build vtln corpus/manifest.tsv -o pool.bin --seconds 60 --json");
  vtln->add_option("CORPUS", flags->corpus, "Folder, Kaldi data dir or manifest")->required();
  vtln->add_option("-o,--out", flags->out, "The pool to write")->required()->type_name("FILE");
  flags->force.Add(*vtln);
  vtln->add_option("--seconds", flags->seconds, "Seconds of speech of each speaker, at most")
      ->check(CLI::PositiveNumber);
  vtln->add_option("--f0", flags->f0,
                   "How the vocoder finds the pitch; robust works in noise and is slower")
      ->check(CLI::IsMember({"fast", "robust"}));
  vtln->add_option("--jobs", flags->jobs, "Speakers at a time")->check(CLI::PositiveNumber);
  vtln->add_flag("--json", flags->json, "Print the counts as JSON");
  vtln->callback([flags] { Run(*flags); });
}

}  // namespace sotto::cli
