// sotto study hiding: every defence that hides an attribute in voiceprints, attacked and measured.
#include "cli/study.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "attack/hiding_study.h"
#include "base/error.h"
#include "base/files.h"
#include "base/parallel.h"
#include "cli/verbs.h"
#include "report/hiding_figures.h"
#include "report/hiding_page.h"
#include "speaker/hider.h"

namespace sotto::cli {
namespace {

struct Flags {
  HidingSources sources;
  std::string out;
  DefencePlan plan;
  int resamples = IntervalOptions{}.resamples;
  std::uint64_t seed = 1;
  int jobs = DefaultJobs();
  bool json = false;
};

// What is wrong with the flags together.
void Check(const Flags& flags) {
  if (flags.sources.fit.empty() == flags.plan.models.empty()) {
    throw Error("--fit (to fit defences here) or --model (fitted before): one of them is needed");
  }
  if (!flags.plan.models.empty() && !flags.plan.methods.empty()) {
    throw Error("--defences names what is fitted on --fit; with --model nothing is");
  }
}

void Run(Flags& flags) {
  CheckUsage([&flags] { Check(flags); });
  const std::filesystem::path folder = flags.out;
  // Before minutes of work.
  if (std::filesystem::exists(folder) && !std::filesystem::is_directory(folder)) {
    throw Error(fmt::format("{}: not a folder", folder.string()));
  }
  DefencePlan& plan = flags.plan;
  plan.seed = flags.seed;
  plan.jobs = flags.jobs;
  std::sort(plan.eps_train.begin(), plan.eps_train.end());
  const HidingVoices voices = ReadHidingVoices(flags.sources);
  const HiderData data = plan.models.empty() ? ReadFitVoices(flags.sources) : HiderData{};
  HidingStudyOptions options;
  options.attack.classifier.seed = flags.seed;
  options.attack.intervals.resamples = flags.resamples;
  options.attack.intervals.seed = flags.seed;
  options.jobs = flags.jobs;
  const HidingStudy study = StudyHiding(voices, PlanDefences(plan, data), options,
                                        Key::ForExperiment(ExperimentKey(flags.seed)));
  MakeFolder(folder);
  WriteFileAtomically(folder / "hiding.json", HidingJson(study));
  WriteFileAtomically(folder / "hiding.csv", HidingCsv(study));
  const std::string subtitle = fmt::format("tested on {}", fmt::join(voices.folders, ", "));
  WritePage(folder / "hiding.html", RenderAssessPage(HidingPage(study, subtitle)));
  fmt::print("{}",
             flags.json ? HidingJson(study) : HidingText(study, (folder / "hiding.html").string()));
}

void AddVoices(CLI::App& verb, Flags& flags) {
  verb.heading("Voiceprints (folders of sotto embed, ids with a '#' are crops) and labels");
  verb.add_option("--fit", flags.sources.fit, "What defences are fitted on", "DIR");
  verb.add_option("--attack", flags.sources.attack,
                  "What attackers train on: speakers of their own", "DIR")
      ->required();
  verb.add_option("--test", flags.sources.test,
                  "What is protected and attacked, speakers that are in none of the others; "
                  "several folders are also measured apart",
                  "DIR")
      ->required();
  verb.add_option("--labels", flags.sources.labels,
                  "A table with the columns speaker and that of --attribute; default: the genders "
                  "of the embeddings",
                  "TSV");
  verb.add_option("--attribute", flags.sources.attribute, "What is to be hidden", "NAME");
  verb.add_option("--unknown", flags.sources.unknown,
                  "Leave out speakers with these labels (U, O), and those without any", "LABEL");
}

void AddDefences(CLI::App& verb, Flags& flags) {
  verb.heading("Defences");
  verb.add_option("--defences", flags.plan.methods, "Which are fitted", "NAME")
      ->default_str("all of them")
      ->check(CLI::IsMember(ProgramHiders().Names()));
  verb.add_option("--model", flags.plan.models, "Defences fitted before (sotto train hide)",
                  "FILE");
  verb.add_option("--eps", flags.plan.eps, "At use, of defences that need it, for each voiceprint",
                  "EPS")
      ->check(CLI::PositiveNumber);
  verb.add_option("--eps-train", flags.plan.eps_train,
                  "Of gender-aae: one is fitted for each; inf: without noise", "EPS");
  verb.add_option("--sweep", flags.plan.sweep,
                  "Those of --eps-train that meet all attackers, and whose curve against eps at "
                  "use is drawn",
                  "EPS");
  verb.add_option("--sweep-eps", flags.plan.sweep_eps, "The points of that curve", "EPS");
}

void AddHiding(CLI::App& study) {
  CLI::App* verb = AddVerb(
      study, "hiding",
      "Fits defences that hide an attribute (gender) in voiceprints, attacks them by classifiers "
      "that were trained on clean voiceprints, on protected ones and in the domain itself, and "
      "measures how well speakers are still known (EER: low is good), also by groups. OUT gets "
      "hiding.html, hiding.json and hiding.csv.",
      "  sotto study hiding --fit e_fit/ --attack e_attack/ --test e_test/ -o study/\n"
      "  sotto study hiding --fit e_fit/ --attack e_attack/ --test e_a/ e_b/ --defences leace "
      "gender-aae --eps-train 10 15 20 30 inf --jobs 4 -o study/");
  auto flags = verb->runs(Run);
  AddVoices(*verb, *flags);
  AddDefences(*verb, *flags);
  verb->heading("Measuring and output");
  verb->add_option("--resamples", flags->resamples, "Of the speakers, for the intervals")
      ->check(CLI::NonNegativeNumber);
  verb->add_option("--seed", flags->seed, "Of all that is drawn: this is an experiment");
  verb->add_option("--jobs", flags->jobs, "Tasks at a time; the figures do not depend on it")
      ->check(CLI::PositiveNumber);
  verb->add_option("-o,--out", flags->out, "The folder to write", "DIR")->required();
  verb->add_flag("--json", flags->json, "Print the figures as JSON");
}

}  // namespace

void AddStudy(CLI::App& app) {
  CLI::App* study = app.add_subcommand(
      "study", "Many defences side by side: fitted, attacked and measured in one run.");
  study->require_subcommand(1);
  AddHiding(*study);
  AddStudyFolds(*study);
  AddStudyReplacement(*study);
  AddStudyWords(*study);
}

}  // namespace sotto::cli
