// sotto spoof train|score: the countermeasure of PRIVASP in the clear.
#include <fmt/format.h>

#include "base/parallel.h"
#include "base/terminal.h"
#include "cli/verbs.h"
#include "report/spoof_figures.h"

namespace sotto::cli {
namespace {

struct SharedFlags {
  std::vector<std::string> bona_fide, spoof;
  std::string out, report;
  IntervalOptions intervals;
  ForceFlag force;
  bool json = false;

  // `out_help` says what --out is; the flag itself is given back.
  CLI::Option* AddFiguresAndOutput(CLI::App& verb, const std::string& out_help) {
    intervals.jobs = DefaultJobs();
    verb.heading("Figures");
    verb.add_option("--bootstrap", intervals.resamples, "Resamples for the intervals; 0 means none")
        ->check(CLI::NonNegativeNumber);
    verb.heading("Output");
    CLI::Option* option = verb.add_option("-o,--out", out, out_help, "FILE");
    verb.add_option("--report", report, "Write figures and plots as one HTML page", "OUT.html");
    force.Add(verb);
    verb.add_flag("--json", json, "Print everything as JSON");
    verb.heading("Run");
    verb.add_option("--jobs", intervals.jobs, "Recordings at a time")->check(CLI::PositiveNumber);
    return option;
  }
};

std::vector<std::filesystem::path> Paths(const std::vector<std::string>& names) {
  return {names.begin(), names.end()};
}

struct TrainFlags : SharedFlags {
  SpoofTrainingOptions options;
  std::string policy = "score";
};

void Train(TrainFlags& flags) {
  flags.force.Check(flags.out);
  flags.options.jobs = flags.intervals.jobs;
  flags.options.decision_only = flags.policy == "decision";
  CheckUsage([&] {
    flags.options.Validate();
    flags.intervals.Validate();
  });
  const TrainedSpoof trained =
      TrainSpoof(ListSpoofCorpora(Paths(flags.bona_fide), Paths(flags.spoof)), flags.options);
  WriteSpoofModel(flags.out, trained.model, flags.force.OnExisting());
  const SpoofFigures figures = *MeasureSpoof(trained.held_out, flags.intervals);
  if (!flags.report.empty()) {
    WritePage(flags.report, RenderAssessPage(TrainedSpoofPage(trained, figures, flags.out)));
  }
  fmt::print("{}", flags.json ? TrainedSpoofJson(trained, figures, flags.out)
                              : TrainedSpoofText(trained, figures, flags.out));
  for (const auto& [utterance, reason] : trained.refused) {
    Complain("sotto", fmt::format("left out: {}: {}", utterance, reason));
  }
}

struct ScoreFlags : SharedFlags {
  std::vector<std::string> inputs;
  std::string model = kPrivasp1024;
};

void Score(const ScoreFlags& flags) {
  if (flags.inputs.empty() && flags.bona_fide.empty() && flags.spoof.empty()) {
    throw CLI::ValidationError("give recordings: INPUT, --bona-fide or --spoof");
  }
  CheckUsage([&] { flags.intervals.Validate(); });
  flags.force.Check(flags.out);
  const SpoofModel model = OpenSpoofModel(flags.model);
  const SpoofScores scores = ScoreCorpora(
      model, ListSpoofCorpora(Paths(flags.bona_fide), Paths(flags.spoof), Paths(flags.inputs)),
      flags.intervals.jobs);
  const auto figures = MeasureSpoof(scores, flags.intervals);
  const std::string table = FormatSpoofScores(scores);
  if (!flags.out.empty()) {
    WriteFileAtomically(flags.out, table, {.if_exists = flags.force.OnExisting()});
  }
  if (!flags.report.empty()) {
    WritePage(flags.report, RenderAssessPage(SpoofScoresPage(scores, figures, model.name)));
  }
  fmt::print("{}", flags.json          ? SpoofScoresJson(scores, figures, flags.out)
                   : flags.out.empty() ? table
                                       : SpoofScoresText(scores, figures, flags.out));
  for (const SpoofRow& row : scores.rows) {
    if (!row.refused.empty()) Complain("sotto", fmt::format("{}: {}", row.utterance, row.refused));
  }
  if (scores.Refused() > 0) throw ExitWith{1};
}

void AddSpoofTrain(CLI::App& spoof) {
  CLI::App* verb = AddVerb(
      spoof, "train",
      "Trains a net of PRIVASP and writes it as the integer network that the secure service "
      "computes. Genuine speech and spoofs must have been through the same codec; level, leading "
      "silence and cut points are made alike here.",
      "  sotto spoof train --bona-fide genuine/ --spoof tts/ vits/ -o privasp.safetensors\n"
      "  sotto spoof train --bona-fide genuine/ --spoof tts/ --hold-out-attack rhvoice --units 512 "
      "-o small.safetensors --report trained.html");
  auto flags = verb->runs(Train);
  SpoofTrainingOptions& options = flags->options;
  verb->heading("Corpora");
  verb->add_option("--bona-fide", flags->bona_fide, "Corpora of genuine speech, mono, 16 kHz",
                   "CORPUS")
      ->required();
  verb->add_option("--spoof", flags->spoof,
                   "Corpora of spoofs, mono, 16 kHz; a manifest's column attack or engine names "
                   "the attack",
                   "CORPUS")
      ->required();
  verb->add_option("--hold-out-every", options.hold_out_every,
                   "Keep every N-th genuine speaker and every N-th voice of the spoofs out of "
                   "training; the threshold is set on them")
      ->check(CLI::Range(2, 1000));
  verb->add_option("--hold-out-attack", options.held_out_attack,
                   "Keep all spoofs of this attack out of training as well; default: none", "NAME");
  verb->heading("Net");
  verb->add_option("--units", options.units,
                   "Units of the hidden layer; the nets of PRIVASP have 512 and 1024")
      ->check(CLI::Range(1, 1390));
  verb->add_option("--x-max", options.x_max, "Clip inputs at this many standard deviations");
  verb->add_option("--policy", flags->policy,
                   "What a client of the service learns: the score, or only the decision")
      ->check(CLI::IsMember({"score", "decision"}));
  verb->heading("Training");
  verb->add_option("--epochs", options.epochs,
                   "Passes over the corpora; the net of the lowest training loss is kept")
      ->check(CLI::PositiveNumber);
  verb->add_option("--batch", options.batch, "Cuts of recordings in each training step")
      ->check(CLI::PositiveNumber);
  verb->add_option("--learning-rate", options.learning_rate, "Learning rate of Adam");
  verb->add_option("--weight-decay", options.weight_decay,
                   "Weight decay, decoupled from the gradient");
  verb->add_option("--seed", options.seed, "Seed of the first weights, cut points and order");
  flags->AddFiguresAndOutput(*verb, "Write the net to this file")->required();
}

void AddSpoofScore(CLI::App& spoof) {
  CLI::App* verb = AddVerb(
      spoof, "score",
      "Scores recordings (mono, 16 kHz) and prints the columns utt, attack, key, score and "
      "decision, as `assess tandem --cm` reads them. Where both genuine speech and spoofs are "
      "given, it computes error rates as well.",
      "  sotto spoof score recording.wav\n"
      "  sotto spoof score --bona-fide genuine/ --spoof tts/ -o cm.tsv --report spoof.html");
  auto flags = verb->runs(Score);
  verb->add_option("INPUT", flags->inputs, "Sound files or corpora that nobody has labelled");
  verb->heading("Corpora");
  verb->add_option("--bona-fide", flags->bona_fide, "Corpora of genuine speech", "CORPUS");
  verb->add_option("--spoof", flags->spoof,
                   "Corpora of spoofs; a manifest's column attack or engine names the attack",
                   "CORPUS");
  verb->heading("Net");
  verb->add_option("--model", flags->model,
                   fmt::format("A file from sotto spoof train, or {} or {}, which are in the "
                               "program",
                               kPrivasp1024, kPrivasp512));
  flags->AddFiguresAndOutput(*verb, "Write the table to this file; default: to standard output");
}

}  // namespace

void AddSpoof(CLI::App& app) {
  CLI::App* verb =
      AddVerb(app, "spoof",
              "Trains and runs countermeasures, which tell genuine voices from synthetic ones.",
              "  sotto spoof score recording.wav\n"
              "  sotto spoof train --bona-fide genuine/ --spoof tts/ -o "
              "model.safetensors");
  verb->require_subcommand(1);
  verb->heading("Countermeasures");
  AddSpoofTrain(*verb);
  AddSpoofScore(*verb);
}

}  // namespace sotto::cli
