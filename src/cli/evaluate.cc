// sotto evaluate --original O --method M…: protect, attack and measure in one run.
#include "evaluate/evaluate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/files.h"
#include "base/parallel.h"
#include "cli/assess_output.h"
#include "cli/verbs.h"
#include "report/evaluation_report.h"
#include "report/evidence.h"
#include "voice/method_table.h"

namespace sotto::cli {
namespace {

struct Flags {
  EvaluateOptions options;
  std::vector<std::string> strategies, recognisers;
  std::string unlabelled = "error", report, evidence, evidence_key;
  bool name_speakers = false, json = false;
};

// "mcadams, …, with options of sotto anonymise after a colon (mcadams: alpha, …; vtln: …)".
std::string MethodTextHelp() {
  std::vector<std::string> texts;
  for (const auto& method : ProgramMethods().All()) {
    std::vector<std::string> names;
    for (const Parameter& parameter : method->Parameters()) {
      if (parameter.in_texts) names.push_back(parameter.name);
    }
    texts.push_back(fmt::format("{}: {}", method->Name(), fmt::join(names, ", ")));
  }
  return fmt::format("Method: {}, with options of sotto anonymise after a colon ({})",
                     ListOf(ProgramMethods().Names()), fmt::join(texts, "; "));
}

void Set(Flags& flags) {
  EvaluateOptions& o = flags.options;
  o.strategies.clear();
  for (const std::string& name : flags.strategies) o.strategies.push_back(ParseStrategy(name));
  for (const std::string& text : flags.recognisers) {
    o.recognisers.push_back(RecogniserChoice::Parse(text));
  }
  o.unlabelled = flags.unlabelled == "exclude" ? Unlabelled::kExclude : Unlabelled::kError;
  const std::filesystem::path report = flags.report;
  if (o.out.empty()) o.out = report.parent_path() / (report.stem().string() + "-work");
  if (flags.evidence.empty()) flags.evidence = report.parent_path() / "sotto-evidence.json";
  o.Validate();
}

void Run(Flags& flags) {
  CheckUsage([&] { Set(flags); });
  const EvidenceKey key(flags.evidence_key);
  const Evaluation evaluation = Evaluate(flags.options, SOTTO_VERSION, EvaluationSteps());
  const SpeakerNaming naming = key.Naming(flags.name_speakers);
  WriteReport(flags.report, EvaluationPage(evaluation, naming));
  WriteFileAtomically(flags.evidence,
                      EvidenceJson(evaluation, key, flags.options.original, flags.name_speakers));
  if (flags.json) {
    fmt::print("{}", EvaluationJson(evaluation, naming));
    return;
  }
  fmt::print("{}report: {}\nevidence: {}\n", EvaluationText(evaluation), flags.report,
             flags.evidence);
}

}  // namespace

void AddEvaluate(CLI::App& app) {
  CLI::App* verb = AddVerb(
      app, "evaluate",
      "Protects a corpus with each method and strategy, runs the attackers of 'sotto attack' and "
      "the measures of 'sotto utility' on each copy, and writes one page (privacy against "
      "utility) and an evidence file (docs/evidence.md). After an interruption the same command "
      "goes on where it stopped; a changed option repeats what depends on it.",
      "  sotto evaluate --original data/test --method mcadams --method vtln --quick "
      "--background public/ --report evaluation.html\n"
      "  sotto evaluate --original data/test --method mcadams:alpha=0.5:0.9,pitch=random "
      "--strategy perm --strategy random --evidence-key-out evidence.key --report evaluation.html "
      "--json");
  auto flags = verb->runs(Run);
  EvaluateOptions& o = flags->options;
  o.jobs = DefaultJobs();
  const auto file = [&](const char* name, auto& value, const char* text) {
    return verb->add_option(name, value, text, "FILE");
  };
  verb->heading("Corpora");
  verb->add_option("--original", o.original, "The originals: any corpus", "DIR")->required();
  verb->add_option("--background", o.background,
                   "The attacker's own public speech, of other speakers", "DIR");
  verb->heading("Method");
  verb->add_option("--method", o.methods, MethodTextHelp() + "; may be repeated",
                   "NAME[:OPTION=VALUE,…]")
      ->allow_extra_args(false)
      ->required();
  verb->add_option("--strategy", flags->strategies,
                   "Strategy of the targets; may be repeated; default: that of each method")
      ->check(CLI::IsMember({"const", "perm", "random"}))
      ->allow_extra_args(false);
  verb->add_option("--seed", o.seed,
                   "Draw targets from a public number: for experiments only, it protects nobody",
                   "N");
  verb->heading("Models");
  file("--encoder", o.encoder, "Speaker encoder; default: the program's own");
  file("--attacker-encoder", o.attacker_encoders,
       "Encoder retrained on protected speech (sotto train encoder); used for the methods its "
       "header names; may be repeated")
      ->allow_extra_args(false);
  verb->add_option("--models", o.models, "Look for models here first", "DIR");
  AddTrustFlag(*verb, o.trust_models);
  verb->heading("Figures");
  verb->add_flag("--quick", o.quick,
                 "Run the quick ladder of sotto attack, and let DNSMOS rate 60 utterances");
  verb->add_option("--unlabelled", flags->unlabelled, "What to do with speakers without a gender")
      ->check(CLI::IsMember({"error", "exclude"}));
  verb->add_option(
          "--recogniser,--recognizer", flags->recognisers,
          "Recogniser, moonshine or pocketsphinx, with :N to let it hear N utterances only; may be "
          "repeated; default: both",
          "NAME[:N]")
      ->allow_extra_args(false);
  verb->add_option("--utterances", o.utterances,
                   "Utterances that recognisers hear, spread evenly over all speakers; default: "
                   "all with moonshine, 60 with pocketsphinx",
                   "N")
      ->default_str("");
  verb->add_option("--bootstrap", o.resamples, "Resamples for the intervals; 0 means none");
  verb->add_option("--level", o.level, "Level of the intervals");
  verb->heading("Output");
  verb->add_option("--report", flags->report, "The page", "OUT.html")->required();
  file("--evidence", flags->evidence,
       "The evidence file; default: sotto-evidence.json beside the report");
  file("--evidence-key-out", flags->evidence_key,
       "Write the key of the evidence's ids and fingerprints to this file (mode 0600); without it "
       "nobody can check them");
  verb->add_flag("--name-speakers", flags->name_speakers,
                 "Name the most exposed speakers on the page and in the evidence, instead of "
                 "giving them keyed ids");
  verb->add_flag("--json", flags->json, "Print everything as JSON");
  verb->heading("Run");
  verb->add_option("--out", o.out,
                   "Working folder, mode 0700: it holds the copies with their keys, voiceprints "
                   "and transcripts; delete it when done; default: REPORT-work",
                   "DIR");
  verb->add_option("--jobs", o.jobs, "Recordings at a time; the figures do not depend on it")
      ->check(CLI::PositiveNumber);
}

}  // namespace sotto::cli
