// sotto attack --original O --protected P: the ladder of attackers.
#include "attack/attack.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/parallel.h"
#include "cli/assess_output.h"
#include "cli/verbs.h"
#include "report/attack_page.h"

namespace sotto::cli {
namespace {

struct Flags {
  AttackOptions options;
  std::string unlabelled = "error", report;
  bool json = false;
};

// What each compares.
std::string AttackerHelp() {
  std::string help;
  for (const AttackerInfo& info : AllAttackers()) {
    if (info.attacker == Attacker::kUnprotected) continue;
    help += fmt::format("\n{}\t{}", info.name, info.meaning);
  }
  return help;
}

std::string DefaultCache() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  if (cache != nullptr && *cache != '\0') return std::string(cache) + "/sotto/voiceprints";
  return home != nullptr ? std::string(home) + "/.cache/sotto/voiceprints" : "";
}

void Run(Flags& flags) {
  AttackOptions& o = flags.options;
  o.plan.unlabelled = flags.unlabelled == "exclude" ? Unlabelled::kExclude : Unlabelled::kError;
  o.ladder.verify.jobs = o.jobs;
  if (o.cache == "none") o.cache.clear();
  CheckUsage([&] {
    o.Validate();
    o.ladder.verify.Validate();
  });
  const LadderResult result = Attack(o);
  if (!flags.report.empty()) {
    const std::string source =
        o.GivesEmbeddings()
            ? fmt::format("embeddings {} and {}", o.embeddings_original.front().string(),
                          o.embeddings_released.front().string())
            : fmt::format("{} and {}", o.original.string(), o.released.string());
    WriteReport(flags.report, AttackPage(result, source));
  }
  fmt::print("{}", flags.json ? LadderJson(result).Text() : AttackText(result));
}

// For what the record of a release does not hold.
void AddFileFlags(CLI::App& verb, AttackOptions& o) {
  for (const auto& method : o.method_table.All()) {
    for (const Parameter& parameter : method->Parameters()) {
      const std::string& flag = parameter.attack_flag;
      if (flag.empty() || o.files.contains(flag)) continue;
      const bool nets = parameter.kind == Parameter::Kind::kNets;
      verb.add_option("--" + flag, o.files[flag],
                      fmt::format("The release's {} not the program's own",
                                  nets ? "nets, where they were" : "pool, where it was"),
                      parameter.unit);
    }
  }
}

}  // namespace

void AddAttack(CLI::App& app) {
  CLI::App* verb = AddVerb(
      app, "attack",
      "Runs the attackers of the ladder on a release and says what the strongest of them reaches. "
      "Rows that lack what they need say 'not run'. The attackers:" +
          AttackerHelp(),
      "  sotto attack --original data/test --protected release/ --quick --background public/ "
      "--report attack.html\n"
      "  sotto attack --original data/test --protected release/ --key release.key --json");
  auto flags = verb->runs(Run);
  AttackOptions& o = flags->options;
  o.jobs = DefaultJobs();
  o.cache = DefaultCache();
  const auto folder = [&](const char* name, auto& value, const char* text) {
    return verb->add_option(name, value, text, "DIR");
  };
  const auto folders = [&](const char* name, std::vector<std::filesystem::path>& value,
                           const char* text) {
    folder(name, value, text)->allow_extra_args(false);
  };
  verb->heading("Corpora");
  folder("--original", o.original, "The originals: any corpus");
  folder("--protected", o.released, "The release: the same corpus protected, with sotto-run.json");
  folder("--background", o.background, "The attacker's own public speech, of other speakers");
  verb->heading("Models");
  verb->add_option("--encoder", o.encoder, "Speaker encoder; default: the program's own", "FILE");
  verb->add_option("--attacker-encoder", o.attacker_encoder,
                   "Encoder retrained on speech protected like the release", "FILE");
  AddTrustFlag(*verb, o.trust_models);
  verb->heading("The release's draws");
  auto* key =
      verb->add_option("--key", o.key_file, "The release's key, for the informed attacker", "FILE");
  verb->add_option("--seed", o.seed, "The seed of a release made with --seed, in place of a key",
                   "N")
      ->excludes(key);
  verb->add_option("--context", o.context, "The release's context", "TEXT");
  AddFileFlags(*verb, o);
  verb->add_option("--id-map", o.id_map, "The file of --map-out, where ids were replaced", "FILE");
  verb->add_option("--attacker-seed", o.attacker_seed, "Seed of the attacker's own draws");
  verb->heading("Embeddings in place of sound (each flag may be repeated)");
  folders("--embeddings-original", o.embeddings_original, "The originals");
  folders("--embeddings-protected", o.embeddings_released, "The release");
  folders("--embeddings-enrolment", o.embeddings_enrolment,
          "The enrolment, protected by the attacker (lazy-informed)");
  folders("--embeddings-background", o.embeddings_background, "Background speech");
  folders("--embeddings-background-protected", o.embeddings_background_protected,
          "Background speech protected by the attacker");
  folders("--embeddings-retrained-protected", o.embeddings_retrained_released,
          "The release, by a retrained encoder (semi-informed)");
  folders("--embeddings-retrained-enrolment", o.embeddings_retrained_enrolment,
          "The attacker's protected enrolment, by that encoder");
  folders("--embeddings-retrained-background", o.embeddings_retrained_background,
          "The attacker's protected background speech, by that encoder");
  verb->heading("Trials");
  verb->add_option(
          "--trials", o.trial_lists,
          "Your own list, 'enrol trial target|nontarget' (enrol is a speaker or an utterance); "
          "may be repeated; default: the utterances of each speaker alternate between "
          "enrolment and trials",
          "FILE")
      ->allow_extra_args(false);
  verb->add_option("-L", o.plan.l, "Numbers of enrolment utterances to average; 0 means all")
      ->expected(1, -1);
  verb->add_option("--unlabelled", flags->unlabelled, "What to do with speakers without a gender")
      ->check(CLI::IsMember({"error", "exclude"}));
  verb->add_option(
      "--informed-trials", o.informed_trials,
      "Trials of each speaker for the informed attacker where draws are random; 0 means all");
  verb->add_option("--informed-enrolment", o.informed_enrolment,
                   "Enrolment utterances of each speaker for the same; 0 means all");
  verb->add_option("--background-speakers", o.background_speakers,
                   "Background speakers, at most; 0 means all");
  verb->add_option("--background-utterances", o.background_utterances,
                   "Utterances of each background speaker, at most; 0 means all");
  verb->heading("Figures");
  verb->add_flag(
      "--quick", o.ladder.quick,
      "Run a quicker ladder: the semi-informed attacker re-estimates the back-end alone, "
      "on at most 150 x 4 background utterances; the informed attacker has 2 trials and "
      "3 enrolment utterances of each speaker where draws are random; grids are "
      "coarser; numbers that are given count instead");
  verb->add_option("--bootstrap", o.ladder.verify.resamples,
                   "Resamples for the intervals; 0 means none");
  verb->add_option("--level", o.ladder.verify.interval_level, "Level of the intervals");
  verb->heading("Output");
  AddReportFlag(*verb, flags->report);
  verb->add_flag("--json", flags->json, "Print everything as JSON");
  verb->heading("Run");
  verb->add_option("--jobs", o.jobs, "Recordings at a time; the figures do not depend on it")
      ->check(CLI::PositiveNumber);
  verb->add_option("--cache", o.cache,
                   "Keep embeddings between runs in this folder, mode 0700: they are personal "
                   "data, delete it when done; 'none' keeps nothing",
                   "DIR");
}

}  // namespace sotto::cli
