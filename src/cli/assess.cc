// sotto assess FORM …: privacy, verification, spoofing and fairness figures from score files.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/files.h"
#include "base/parallel.h"
#include "cli/assess_output.h"
#include "cli/verbs.h"
#include "report/assess_forms.h"

namespace sotto::cli {
namespace {

// All figures of a list of verification trials.
struct VerifyFlags {
  TrialFlags trials;
  std::vector<std::string> calibrate_on;
  OutputFlags output;
  int bootstrap = -1;  // automatic
  std::vector<double> more_priors;
  VerifyOptions options;
};

void RunVerify(VerifyFlags& flags) {
  for (const double prior : flags.more_priors) {
    auto& priors = flags.options.priors;
    if (std::find(priors.begin(), priors.end(), prior) == priors.end()) priors.push_back(prior);
  }
  CheckUsage([&] { flags.options.Validate(); });
  const Trials trials = flags.trials.Read("TRIALS.tsv, two arrays");
  const ScoreLevels data = MakeLevels(trials);
  flags.options.resamples =
      flags.bootstrap >= 0 ? flags.bootstrap : AutomaticResamples(trials.size());
  std::unique_ptr<ScoreLevels> other_run;
  if (!flags.calibrate_on.empty()) {
    other_run = std::make_unique<ScoreLevels>(MakeLevels(ReadInputs(flags.calibrate_on, false)));
  }
  const VerifyResult result = Verify(trials, data, flags.options, other_run.get());
  std::string source = flags.trials.Source();
  if (!flags.options.attacker.empty()) source += ", attacker: " + flags.options.attacker;
  Show(VerifyForm(trials, data, result, flags.options, source), flags.output);
}

void AddAssessVerify(CLI::App& assess) {
  CLI::App* verb =
      AddVerb(assess, "verify", "Computes verification and disclosure figures of scored trials.",
              "  sotto assess verify trials.tsv\n"
              "  sotto assess verify --scores plda.txt --key trials --json");
  auto flags = verb->runs(RunVerify);
  VerifyOptions& o = flags->options;
  flags->options.jobs = DefaultJobs();
  verb->add_option(
          "TRIALS", flags->trials.inputs,
          "A TSV with columns label (target|nontarget) and score, and optionally enrol, test, "
          "enrol_spk, test_spk, enrol_group and test_group; or two arrays of target and "
          "non-target scores (.npy or raw .f64)")
      ->expected(1, 2)
      ->option_text("TSV | TAR NON");
  flags->trials.Add(*verb);
  verb->heading("Priors and costs");
  verb->add_option("--prior", flags->more_priors,
                   "Further target prior for minDCF and actDCF, besides 0.5, 0.05, 0.01 and "
                   "0.001; may be repeated")
      ->allow_extra_args(false);
  verb->add_option("--cmiss", o.cost_miss, "Cost of a miss");
  verb->add_option("--cfa", o.cost_false_alarm, "Cost of a false alarm");
  verb->heading("Figures");
  verb->add_option("--omega", o.linkability.omega, "Prior ratio of D_sys");
  verb->add_option("--bins", o.linkability.bins,
                   "Bins of D_sys; 0 means int(targets/10), at most 100, as published");
  verb->add_option(
          "--calibrate-on", flags->calibrate_on,
          "Trials of another run of the protection, for C_ECE: a TSV, or given twice for two "
          "arrays")
      ->allow_extra_args(false);
  verb->add_option("--top-k", o.top_k, "The k of the top-k precision; may be repeated")
      ->allow_extra_args(false);
  verb->add_option("--bootstrap", flags->bootstrap,
                   "Resamples for the intervals; 0 means none, -1 means 1000 where there are at "
                   "most 100000 trials, else none");
  verb->add_option("--level", o.interval_level, "Level of the intervals");
  verb->add_option("--seed", o.seed, "Seed of the bootstrap");
  verb->heading("Output");
  verb->add_option("--attacker", o.attacker,
                   "Who made the scores (ignorant, lazy-informed, …), printed with the figures");
  AddReportFlag(*verb, flags->output.report);
  verb->add_flag("--json", flags->output.json, "Print everything as JSON");
  verb->heading("Run");
  verb->add_option("--jobs", o.jobs, "Threads; the figures do not depend on them");
}

// Voice similarity matrices of original and protected speech.
struct SimilarityFlags {
  std::string oo, op, pp;
  OutputFlags output;
};

void RunSimilarity(const SimilarityFlags& flags) {
  CheckFlags(flags.output, [] {});
  const auto read = [](const std::string& path) {
    return ParseSegmentComparisons(ReadTextFile(path), path);
  };
  const SimilarityResult result = MeasureSimilarity(read(flags.oo), read(flags.op), read(flags.pp));
  const Panel panel = SimilarityPanel(result, flags.output.intervals);
  Show(SimilarityForm(result, panel, fmt::format("{}, {}, {}", flags.oo, flags.op, flags.pp)),
       flags.output);
}

void AddAssessSimilarity(CLI::App& assess) {
  CLI::App* verb =
      AddVerb(assess, "similarity",
              "Measures de-identification and voice distinctiveness from similarity matrices.",
              "  sotto assess similarity --oo oo.tsv --op op.tsv --pp pp.tsv\n"
              "  sotto assess similarity --oo oo.tsv --op op.tsv --pp pp.tsv --report page.html");
  auto flags = verb->runs(RunSimilarity);
  const std::string columns = ", a TSV with columns seg_a, seg_b, score, spk_a and spk_b";
  verb->heading("Trials");
  verb->add_option("--oo", flags->oo, "Originals with originals" + columns)->required();
  verb->add_option("--op", flags->op, "Originals with protected copies" + columns)->required();
  verb->add_option("--pp", flags->pp, "Protected copies with protected copies" + columns)
      ->required();
  AddOutputFlags(*verb, flags->output);
}

// Spoofing figures of a countermeasure in front of speaker verification.
struct TandemFlags {
  std::string asv, cm, sasv;
  double prior = 0.99;  // of a target among bona fide speakers
  double prior_spoof = 0.05;
  double cmiss = 1.0, cfa = 10.0, cfa_spoof = 10.0;
  bool same_costs = false;
  OutputFlags output;
};

void RunTandem(const TandemFlags& flags) {
  const bool pair = !flags.asv.empty() && !flags.cm.empty();
  if (pair == !flags.sasv.empty()) {
    throw CLI::ValidationError("give either --asv and --cm, or --sasv");
  }
  TandemOptions options;
  const double bona = 1.0 - flags.prior_spoof;
  options.costs = {bona * flags.prior, bona * (1.0 - flags.prior),
                   flags.prior_spoof,  flags.cmiss,
                   flags.cfa,          flags.cfa_spoof};
  if (flags.same_costs) options.adcf_costs = options.costs;
  CheckFlags(flags.output, [&] { options.costs.Validate(); });
  TandemScores scores;
  if (pair) {
    ReadAsvScores(ReadTextFile(flags.asv), flags.asv, scores);
    ReadCmScores(ReadTextFile(flags.cm), flags.cm, scores);
  } else {
    scores = ReadSasvScores(ReadTextFile(flags.sasv), flags.sasv);
  }
  const TandemResult result = MeasureTandem(scores, options);
  const Panel panel = TandemPanel(scores, result, options, flags.output.intervals);
  Show(TandemForm(scores, result, panel, options, pair ? flags.asv + ", " + flags.cm : flags.sasv),
       flags.output);
}

void AddAssessTandem(CLI::App& assess) {
  CLI::App* verb = AddVerb(
      assess, "tandem",
      "Rates defences against spoofing: min t-DCF, t-EER, a-DCF and the EER of the countermeasure.",
      "  sotto assess tandem --asv asv.tsv --cm cm.tsv\n"
      "  sotto assess tandem --sasv sasv.tsv --json");
  auto flags = verb->runs(RunTandem);
  verb->heading("Trials");
  verb->add_option("--asv", flags->asv,
                   "ASV scores: a TSV with columns attack, key (target|nontarget|spoof) and score");
  verb->add_option(
      "--cm", flags->cm,
      "Countermeasure scores: a TSV with columns utt, attack, key (bonafide|spoof) and score");
  verb->add_option("--sasv", flags->sasv,
                   "Both scores: a TSV with columns attack, key, asv_score and cm_score, or "
                   "attack, key and score");
  verb->heading("Priors and costs");
  verb->add_option("--prior", flags->prior, "Prior of a target among bona fide trials");
  verb->add_option("--prior-spoof", flags->prior_spoof, "Prior of a spoof");
  verb->add_option("--cmiss", flags->cmiss, "Cost of rejecting a target");
  verb->add_option("--cfa", flags->cfa, "Cost of accepting a non-target");
  verb->add_option("--cfa-spoof", flags->cfa_spoof, "Cost of accepting a spoof");
  verb->add_flag(
      "--same-costs", flags->same_costs,
      "Use these priors and costs for a_dcf too, instead of its published ones (0.9, 0.05, "
      "0.05; 1, 10, 20)");
  flags->output.intervals.resamples = 100;
  AddOutputFlags(*verb, flags->output);
}

// Are all groups of speakers treated alike?
struct FairnessFlags {
  std::string trials;
  FairnessColumns columns;
  FairnessOptions options;
  OutputFlags output;
};

void RunFairness(const FairnessFlags& flags) {
  CheckFlags(flags.output, [&] { flags.options.Validate(); });
  const FairnessSource source{ReadFairnessTrials(flags.trials, flags.columns), flags.columns,
                              flags.options};
  const Grouping& grouping = source.trials.grouping;
  const FairnessMeter meter(grouping.trials, flags.options);
  const FairnessResult result = meter.Measure();
  const Panel panel = FairnessPanel(meter, result, TrialResampler(source.trials.trials),
                                    grouping.kept, flags.output.intervals);
  Show(FairnessForm(result, panel, source, flags.trials), flags.output);
}

void AddAssessFairness(CLI::App& assess) {
  CLI::App* verb = AddVerb(assess, "fairness",
                           "Measures fairness across groups of speakers: FDR, auFDR, IR and GARBE.",
                           "  sotto assess fairness trials.tsv --group-column group\n"
                           "  sotto assess fairness trials.tsv --group-column gender --json");
  auto flags = verb->runs(RunFairness);
  verb->add_option("TRIALS", flags->trials, "A TSV with columns label, score and the group")
      ->required();
  verb->heading("Trials");
  verb->add_option("--group-column", flags->columns.group,
                   "Column X with the claimed speaker's group, or columns enrol_X and test_X");
  verb->add_flag("--include-cross-group", flags->columns.include_cross_group,
                 "Count impostors of other groups too");
  verb->add_flag("--allow-missing", flags->columns.allow_missing,
                 "Leave out trials without a score, and say so");
  verb->heading("Figures");
  verb->add_option("--fmr", flags->options.fmr_targets,
                   "Pooled false match rates, rising, separated by commas")
      ->delimiter(',');
  verb->add_option("--alpha", flags->options.alphas, "Weights of the FMR term, separated by commas")
      ->delimiter(',');
  AddOutputFlags(*verb, flags->output);
}

// The regulator's linkability and singling out.
struct LegalFlags {
  TrialFlags trials;
  LegalOptions options;
  OutputFlags output;
};

void RunLegal(const LegalFlags& flags) {
  CheckFlags(flags.output, [&] { flags.options.Validate(); });
  const Trials trials = flags.trials.Read("TRIALS.tsv");
  const LegalResult result = LegalMeter(trials).Measure(flags.options);
  const Panel panel = LegalPanel(result, flags.output.intervals);
  Show(LegalForm(result, panel, flags.options, trials, flags.trials.Source()), flags.output);
}

void AddAssessLegal(CLI::App& assess) {
  CLI::App* verb = AddVerb(
      assess, "legal",
      "Computes the regulator's linkability and singling out, by population N and utterances L.",
      "  sotto assess legal trials.tsv --population 2,5,20 --utterances 1,3\n"
      "  sotto assess legal --scores plda.txt --key trials --json");
  auto flags = verb->runs(RunLegal);
  verb->add_option("TRIALS", flags->trials.inputs,
                   "A TSV with columns label, score, test, enrol_spk (or enrol) and test_spk (or "
                   "the enrolment of the target trial)")
      ->expected(1, 1);
  flags->trials.Add(*verb);
  verb->heading("Figures");
  verb->add_option("--population,-N", flags->options.population,
                   "Speakers to choose from, separated by commas")
      ->delimiter(',');
  verb->add_option("--utterances,-L", flags->options.utterances,
                   "Utterances averaged, separated by commas")
      ->delimiter(',');
  AddOutputFlags(*verb, flags->output);
}

// Word and character error rates of a recogniser.
struct WerFlags {
  std::string ref, hyp, utt2spk;
  std::string normaliser = "none";
  bool allow_missing = false;
  OutputFlags output;
};

void RunWer(const WerFlags& flags) {
  TextNormaliser normaliser = TextNormaliser::kNone;
  CheckFlags(flags.output, [&] { normaliser = ParseTextNormaliser(flags.normaliser); });
  const WerResult result = ComputeWer(ParseTranscripts(ReadTextFile(flags.ref), flags.ref),
                                      ParseTranscripts(ReadTextFile(flags.hyp), flags.hyp),
                                      {normaliser, flags.allow_missing});
  std::vector<std::size_t> speakers;
  if (!flags.utt2spk.empty()) {
    speakers = UtteranceSpeakers(result, ReadTextFile(flags.utt2spk), flags.utt2spk);
  }
  const Panel panel = WerPanel(result, speakers, flags.output.intervals);
  Show(WerForm(result, panel, normaliser, flags.ref + ", " + flags.hyp), flags.output);
}

void AddAssessWer(CLI::App& assess) {
  CLI::App* verb =
      AddVerb(assess, "wer", "Computes word and character error rates with alignment counts.",
              "  sotto assess wer ref.txt hyp.txt\n"
              "  sotto assess wer ref.txt hyp.txt --normalise lower-nopunct --json");
  auto flags = verb->runs(RunWer);
  verb->add_option("REF", flags->ref, "The reference: one utterance per line, id and words")
      ->required();
  verb->add_option("HYP", flags->hyp, "What was recognised, in the same form")->required();
  verb->heading("Texts");
  verb->add_option("--normalise,--normalize", flags->normaliser,
                   "Compare texts as they are (none), in lower case (lower), or in lower case "
                   "without punctuation (lower-nopunct)");
  verb->add_option("--utt2spk", flags->utt2spk,
                   "Speakers of the utterances, so that the bootstrap draws speakers");
  verb->add_flag("--allow-missing", flags->allow_missing,
                 "Count a missing hypothesis as empty and leave out one without a reference");
  AddOutputFlags(*verb, flags->output);
}

}  // namespace

void AddAssess(CLI::App& app) {
  CLI::App* assess =
      AddVerb(app, "assess", "Computes figures from scores, each with unit and direction.",
              "  sotto assess verify trials.tsv\n"
              "  sotto assess verify --scores plda.txt --key trials --json");
  assess->require_subcommand(1);
  AddAssessVerify(*assess);
  AddAssessSimilarity(*assess);
  AddAssessTandem(*assess);
  AddAssessFairness(*assess);
  AddAssessLegal(*assess);
  AddAssessWer(*assess);
}

}  // namespace sotto::cli
