// sotto build vtln CORPUS -o POOL
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/parallel.h"
#include "cli/verbs.h"
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
  std::size_t women = 0, men = 0;
  for (const VoiceModel& voice : built.pool.voices) {
    women += voice.gender == Gender::kFemale ? 1 : 0;
    men += voice.gender == Gender::kMale ? 1 : 0;
  }
  for (const auto& [speaker, reason] : built.failures) {
    fmt::print(stderr, "left out: {}: {}\n", speaker, reason);
  }
  const std::size_t voices = built.pool.voices.size();
  if (flags.json) {
    const nlohmann::ordered_json json = {{"voices", voices},
                                         {"female", women},
                                         {"male", men},
                                         {"left_out", built.failures.size()},
                                         {"classes", kVoiceClasses},
                                         {"bytes", bytes.size()}};
    fmt::print("{}\n", DumpJson(json, 2));
  } else {
    fmt::print("{} voices ({} female, {} male), left out {}: {} bytes in {}\n", voices, women, men,
               built.failures.size(), bytes.size(), flags.out);
  }
}

}  // namespace

void AddBuild(CLI::App& app) {
  CLI::App* verb = AddVerb(app, "build", "Makes what a method needs from a public corpus, once.",
                           "  sotto build vtln corpus/ -o pool.bin\n"
                           "  sotto build vtln corpus/ -o pool.bin --seconds 60 --json");
  verb->require_subcommand(1);
  auto flags = std::make_shared<Flags>();
  CLI::App* vtln =
      AddVerb(*verb, "vtln",
              "The pool of target voices: eight envelope classes and the pitch of each speaker, no "
              "sound, no\n"
              "text, no names. The gender is kept where the corpus tells it.",
              "  sotto build vtln corpus/ -o pool.bin\n"
              "  sotto build vtln corpus/manifest.tsv -o pool.bin --seconds 60 --json");
  vtln->add_option("CORPUS", flags->corpus, "Folder, Kaldi data dir or manifest")->required();
  vtln->add_option("-o,--out", flags->out, "The pool")->required()->type_name("FILE");
  flags->force.Add(*vtln);
  vtln->add_option("--seconds", flags->seconds, "Speech of each speaker, at most")
      ->check(CLI::PositiveNumber);
  vtln->add_option("--f0", flags->f0, "How the vocoder finds the pitch")
      ->check(CLI::IsMember({"fast", "robust"}));
  vtln->add_option("--jobs", flags->jobs, "Speakers at a time")->check(CLI::PositiveNumber);
  vtln->add_flag("--json", flags->json, "Print the counts as JSON");
  vtln->callback([flags] { Run(*flags); });
}

}  // namespace sotto::cli
