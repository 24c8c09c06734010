// sotto protect-embedding IN OUT --method voice-ind|pool
#include "cli/protect_embedding.h"

#include <fmt/format.h>

#include <map>
#include <memory>

#include "base/files.h"
#include "base/parallel.h"
#include "cli/verbs.h"
#include "report/verb_figures.h"
#include "speaker/protect_embeddings.h"

namespace sotto::cli {
namespace {

struct Flags {
  ProtectOptions options;
  std::string method, per = "speaker", format = "ark", plda;
  std::string region = "random", gender = "random", distance = "cosine";
  std::size_t n = 0, n_star = 0;
  TargetFlags target;
  ProtectCurveFlags curve;
  bool json = false;
  std::map<std::string, std::vector<const CLI::Option*>> own;  // flags of one method alone
};

ProtectOptions ToOptions(const Flags& flags) {
  ProtectOptions options = flags.options;
  options.method = flags.method == "pool" ? ProtectMethod::kPool : ProtectMethod::kVoiceInd;
  const ProtectPer per = flags.per == "utterance" ? ProtectPer::kUtterance : ProtectPer::kSpeaker;
  options.voice_ind.per = per;
  options.voice_ind.context = flags.target.context;
  options.pool_options.region = ProgramPoolRegions().Find(flags.region);
  options.pool_options.gender = ParseTargetGender(flags.gender);
  options.pool_options.per = per;
  options.pool_options.context = flags.target.context;
  if (flags.n > 0) options.pool_options.n = flags.n;
  if (flags.n_star > 0) options.pool_options.n_star = flags.n_star;
  if (flags.distance == "plda") options.plda = flags.plda;
  options.key_file = flags.target.key_file;
  options.experiment_seed = flags.target.seed;
  options.files.ark = flags.format == "text" ? ArkForm::kText : ArkForm::kBinary;
  options.files.npy = flags.format == "npy";
  options.private_text = [](const ProtectReport& report) {
    return PrivateReport(report, SOTTO_VERSION);
  };
  return options;
}

void Check(const Flags& flags, bool has_eps) {
  const bool voice_ind = flags.method == "voice-ind";
  const ProtectOptions& options = flags.options;
  for (const auto& [method, own] : flags.own) {
    for (const CLI::Option* option : own) {
      if (method == flags.method || option->count() == 0) continue;
      throw CLI::ValidationError(fmt::format("{} belongs to --method {}; the method here is {}",
                                             option->name(), method, flags.method));
    }
  }
  if (flags.curve.out.empty() == options.out.empty()) {
    throw CLI::ValidationError("give either OUT, or --curve");
  }
  if ((flags.distance == "plda") == flags.plda.empty()) {
    throw CLI::ValidationError("--plda goes with --distance plda, and the one needs the other");
  }
  if (!flags.curve.out.empty()) {
    if (options.pool.empty()) throw CLI::ValidationError("--curve needs --pool");
    return;
  }
  if (voice_ind && !flags.plda.empty()) {
    throw CLI::ValidationError("--distance plda belongs to --method pool, and to --curve");
  }
  if (voice_ind && !has_eps) {
    throw CLI::ValidationError("voice-ind needs --eps: there is no default epsilon");
  }
  if (options.pool.empty() && !(voice_ind && options.voice_ind.assignment_only)) {
    throw CLI::ValidationError("--pool is needed: public voices to draw from");
  }
}

void Run(const Flags& flags) {
  if (!flags.curve.out.empty()) {
    RunProtectCurve(flags.curve, ToOptions(flags), flags.target, flags.json);
    return;
  }
  const ProtectReport report = ProtectEmbeddings(ToOptions(flags), SOTTO_VERSION);
  for (const std::string& note : report.notes) fmt::print(stderr, "note: {}\n", note);
  // On stdout stands what may be released, and nothing else.
  for (const std::string& note : PrivateNotes(report)) {
    fmt::print(stderr, "private, measured, not covered by epsilon: {}\n", note);
  }
  fmt::print("{}", PrintedProtection(report, flags.options.out.string(), flags.json));
}

}  // namespace

void AddProtectEmbedding(CLI::App& app) {
  CLI::App* verb = AddVerb(
      app, "protect-embedding",
      "Replaces voiceprints with others. voice-ind draws one from a public pool with a proven "
      "bound (epsilon times the angular distance); pool averages voices of the pool (the "
      "VoicePrivacy baseline B1, without a formal bound).",
      "  sotto protect-embedding embeddings/ protected/ --method voice-ind --pool pool/ --eps 5\n"
      "  sotto protect-embedding embeddings/ protected/ --method pool --pool pool/ --gender same\n"
      "  sotto protect-embedding embeddings/ --method voice-ind --pool pool/ --curve curves/");
  auto flags = std::make_shared<Flags>();
  ProtectOptions& o = flags->options;
  o.voice_ind.jobs = DefaultJobs();
  verb->add_option("IN", o.in, "Embeddings: a folder from sotto embed, or .ark, .scp, .npy")
      ->required();
  verb->add_option("OUT", o.out, "A new folder");
  verb->heading("Method");
  verb->add_option("--method", flags->method, "How the new voiceprint is found")
      ->required()
      ->check(CLI::IsMember({"voice-ind", "pool"}));
  verb->add_option(
          "--pool", o.pool,
          "Public voices of other people: a folder of embeddings, or a file with one vector per "
          "speaker")
      ->type_name("DIR|FILE");
  verb->add_option("--per", flags->per,
                   "Draw once for each speaker, or for each utterance (k utterances cost k times "
                   "epsilon)")
      ->check(CLI::IsMember({"speaker", "utterance"}));
  verb->add_option("--distance", flags->distance, "How voices are compared")
      ->check(CLI::IsMember({"cosine", "plda"}));
  verb->add_option("--plda", flags->plda,
                   "A folder with Kaldi's mean.vec, plda and (optional) transform.mat")
      ->type_name("DIR");
  verb->heading("With --method voice-ind");
  CLI::Option* eps = verb->add_option("--eps,--epsilon", o.voice_ind.eps,
                                      "The bound for the two most distant voices; no default")
                         ->default_str("");
  CLI::Option* assignment =
      verb->add_flag("--assignment-only", o.voice_ind.assignment_only,
                     "Accept protected speakers as candidates (without --pool they are the "
                     "candidates); then only who got which voice is hidden");
  CLI::Option* curve = flags->curve.Add(*verb);
  flags->own["voice-ind"] = {eps->excludes(curve), assignment->excludes(curve), curve};
  verb->heading("With --method pool");
  CLI::Option* region =
      verb->add_option(
              "--region", flags->region,
              "Where in the pool voices are taken from; farthest and nearest give the source away")
          ->check(CLI::IsMember(ProgramPoolRegions().Names()));
  CLI::Option* gender = verb->add_option("--gender", flags->gender,
                                         "Gender of the voices, compared with the speaker's")
                            ->check(CLI::IsMember({kTargetGenders.begin(), kTargetGenders.end()}));
  CLI::Option* n =
      verb->add_option("--N", flags->n,
                       "Voices in the region; default: 200, or half the pool where that is fewer")
          ->default_str("")
          ->check(CLI::PositiveNumber);
  CLI::Option* n_star = verb->add_option("--N-star", flags->n_star,
                                         "Voices of the region that are averaged; default: N/2")
                            ->default_str("")
                            ->check(CLI::PositiveNumber);
  flags->own["pool"] = {region, gender, n, n_star};
  verb->heading("Targets and key");
  flags->target.Add(*verb);
  verb->heading("Output");
  verb->add_option(
          "--format", flags->format,
          "Write binary Kaldi archives (ark), text archives (text), or binary ones and xvector.npy "
          "with ids (npy)")
      ->check(CLI::IsMember({"ark", "text", "npy"}));
  verb->add_option("--private-report", o.private_report,
                   "Write what was measured on the voiceprints (the check of the bound, the "
                   "expected distance) to a new file, mode 0600, outside OUT: epsilon does not "
                   "cover it")
      ->type_name("FILE")
      ->excludes(curve);
  verb->add_flag("--json", flags->json, "Print the run record, as released, or the curve as JSON");
  verb->heading("Run");
  verb->add_option("--jobs", o.voice_ind.jobs, "Threads")->check(CLI::PositiveNumber);
  verb->callback([flags, eps] {
    Check(*flags, eps->count() > 0);
    Run(*flags);
  });
}

}  // namespace sotto::cli
