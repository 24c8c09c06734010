// sotto attack --original O --protected P: the ladder of attackers.
#include "attack/attack.h"

#include <fmt/format.h>

#include <cstdlib>
#include <memory>

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
    help += fmt::format("{}\n{} ({})", help.empty() ? "" : ",", info.name, info.meaning);
  }
  return help + ".";
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
  fmt::print("{}", flags.json ? AttackJson(result) : AttackText(result));
}

}  // namespace

void AddAttack(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  AttackOptions& o = flags->options;
  o.jobs = DefaultJobs();
  o.cache = DefaultCache();
  CLI::App* verb = AddVerb(
      app, "attack",
      "Runs the attackers of the ladder on a release and says what the worst of them reaches.\n"
      "Rows that lack what they need say 'not run'. The attackers:" +
          AttackerHelp(),
      "  sotto attack --original recordings/ --protected released/ --quick --background public/ "
      "--report attack.html\n"
      "  sotto attack --original recordings/ --protected released/ --key release.key --json");
  const auto folder = [&](const char* name, auto& value, const char* text) {
    return verb->add_option(name, value, text)->type_name("DIR");
  };
  const auto folders = [&](const char* name, std::vector<std::filesystem::path>& value,
                           const char* text) {
    folder(name, value, text)->allow_extra_args(false);
  };
  folder("--original", o.original, "The originals: any corpus");
  folder("--protected", o.released, "The release: the same corpus protected, with sotto-run.json");
  verb->add_option("--encoder", o.encoder, "Speaker encoder (default: the program's own)")
      ->type_name("FILE");
  AddTrustFlag(*verb, o.trust_models);
  folder("--background", o.background, "The attacker's own public speech, other speakers");
  verb->add_option("--attacker-encoder", o.attacker_encoder,
                   "Encoder retrained on speech protected like the release")
      ->type_name("FILE");
  auto* key = verb->add_option("--key", o.key_file, "The release's key, for the informed attacker")
                  ->type_name("FILE");
  verb->add_option("--seed", o.seed, "The seed of a seeded release, in place of a key")
      ->type_name("N")
      ->excludes(key);
  verb->add_option("--context", o.context, "The release's context")->type_name("TEXT");
  verb->add_option(
          "--neural", o.neural,
          "The release's nets, where they were not the program's (methods neural and adain)")
      ->type_name("DIR");
  verb->add_option("--pool", o.pool, "The release's pool, where it was not the program's")
      ->type_name("FILE");
  verb->add_option("--id-map", o.id_map, "The file of --map-out, where ids were replaced")
      ->type_name("FILE");
  verb->add_option("--attacker-seed", o.attacker_seed, "Of the attacker's own draws");
  verb->add_flag(
      "--quick", o.ladder.quick,
      "Re-estimate the back-end alone for the semi-informed attacker, on at most 150 x "
      "4 background utterances; informed on 2 trials and 3 enrolment utterances of each "
      "speaker where draws are random (numbers that are given count instead); coarser grids");
  folders("--embeddings-original", o.embeddings_original,
          "Embeddings in place of corpora; may be repeated");
  folders("--embeddings-protected", o.embeddings_released, "Of the release");
  folders("--embeddings-enrolment", o.embeddings_enrolment,
          "Of the enrolment, protected by the attacker (lazy-informed)");
  folders("--embeddings-background", o.embeddings_background, "Of background speech");
  folders("--embeddings-background-protected", o.embeddings_background_protected,
          "Of background speech protected by the attacker");
  folders("--embeddings-retrained-protected", o.embeddings_retrained_released,
          "Of the release, by a retrained encoder (semi-informed)");
  folders("--embeddings-retrained-enrolment", o.embeddings_retrained_enrolment,
          "Of the attacker's protected enrolment, by that encoder");
  folders("--embeddings-retrained-background", o.embeddings_retrained_background,
          "Of the attacker's protected background, by that encoder");
  verb->add_option("--trials", o.trial_lists,
                   "Your own list, 'enrol trial target|nontarget' (enrol: speaker or utterance); "
                   "may be repeated (default: utterances of each speaker by turns)")
      ->type_name("FILE")
      ->allow_extra_args(false);
  verb->add_option("-L", o.plan.l, "Enrolment utterances averaged; 0: all")->expected(1, -1);
  verb->add_option("--unlabelled", flags->unlabelled, "Speakers without a gender")
      ->check(CLI::IsMember({"error", "exclude"}));
  verb->add_option("--informed-trials", o.informed_trials,
                   "Trials of each speaker for the informed attacker on random draws; 0: all");
  verb->add_option("--informed-enrolment", o.informed_enrolment,
                   "Enrolment utterances of each speaker for the same; 0: all");
  verb->add_option("--background-speakers", o.background_speakers, "At most; 0: all");
  verb->add_option("--background-utterances", o.background_utterances,
                   "Of each background speaker, at most; 0: all");
  verb->add_option("--cache", o.cache,
                   "Keeps embeddings between runs, mode 0700: they are personal data, delete the "
                   "folder when done; 'none' keeps nothing")
      ->type_name("DIR");
  verb->add_option("--bootstrap", o.ladder.verify.resamples,
                   "Resamples for the intervals; 0: none");
  verb->add_option("--level", o.ladder.verify.interval_level, "Of the intervals");
  verb->add_option("--jobs", o.jobs, "Recordings at a time; the figures do not depend on it")
      ->check(CLI::PositiveNumber);
  AddReportFlag(*verb, flags->report);
  verb->add_flag("--json", flags->json, "Print everything as JSON");
  verb->callback([flags] { Run(*flags); });
}

}  // namespace sotto::cli
