// sotto assess legal: the regulator's linkability and singling out.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "assess/legal.h"
#include "assess/panels.h"
#include "cli/assess.h"
#include "cli/assess_output.h"
#include "cli/verbs.h"
#include "report/assess_plots.h"

namespace sotto::cli {
namespace {

using nlohmann::ordered_json;

struct LegalFlags {
  std::string trials, scores, key;
  std::vector<std::string> utt2spk;
  bool allow_missing = false;
  LegalOptions options;
  OutputFlags output;
};

ordered_json JsonPoints(const std::vector<LegalPoint>& points) {
  ordered_json json = ordered_json::array();
  for (const LegalPoint& point : points) {
    json.push_back({{"N", point.n},
                    {"L", point.l},
                    {"value", point.value},
                    {"chance", point.chance},
                    {"n_tried", point.n_tried}});
  }
  return json;
}

Trials ReadTrials(const LegalFlags& flags) {
  const bool pair = !flags.scores.empty();
  if (pair == !flags.trials.empty()) {
    throw CLI::ValidationError("give either TRIALS.tsv, or --scores and --key");
  }
  TrialTsvOptions read;
  read.allow_missing = flags.allow_missing;
  Trials trials = pair ? ReadKaldiTrials(flags.scores, flags.key, {flags.allow_missing})
                       : ReadTrialTsv(flags.trials, read);
  if (!flags.utt2spk.empty()) {
    AddSpeakers(trials,
                std::vector<std::filesystem::path>(flags.utt2spk.begin(), flags.utt2spk.end()));
  }
  return trials;
}

void Run(const LegalFlags& flags) {
  CheckFlags(flags.output, [&] { flags.options.Validate(); });
  const Trials trials = ReadTrials(flags);
  const LegalResult result = LegalMeter(trials).Measure(flags.options);
  const Panel panel = LegalPanel(result, flags.output.intervals);
  std::vector<std::string> notes = {
      fmt::format("{} enrolled speakers, {} test speakers, {} test utterances",
                  result.n_enrol_speakers, result.n_test_speakers, result.n_utterances)};
  const std::size_t asked = flags.options.population.size() * flags.options.utterances.size();
  if (result.linkability.size() < asked || result.singling_out.size() < asked) {
    notes.push_back(fmt::format(
        "of {} pairs (N, L) the data can answer {} for linkability and {} for singling out, which "
        "needs two conversations of L utterances from each of N speakers",
        asked, result.linkability.size(), result.singling_out.size()));
  }
  if (trials.n_without_score + trials.n_without_trial > 0) {
    notes.push_back(fmt::format("left out: {} trials without a score, {} scores without a trial",
                                trials.n_without_score, trials.n_without_trial));
  }
  if (!flags.output.report.empty()) {
    AssessPage page{"Legal figures: linkability and singling out",
                    flags.trials.empty() ? flags.scores + ", " + flags.key : flags.trials,
                    panel.figures,
                    notes,
                    LegalPlots(result),
                    {}};
    page.notes.push_back("intervals: " + panel.bootstrap);
    WriteReport(flags.output.report, page);
  }
  ordered_json json = {{"linkability", JsonPoints(result.linkability)},
                       {"singling_out", JsonPoints(result.singling_out)},
                       {"n_enrol_speakers", result.n_enrol_speakers},
                       {"n_test_speakers", result.n_test_speakers},
                       {"n_utterances", result.n_utterances}};
  PrintPanel(flags.output, panel, json, notes);
}

}  // namespace

void AddAssessLegal(CLI::App& assess) {
  CLI::App* verb =
      AddVerb(assess, "legal", "The regulator's linkability and singling out against N and L",
              "  sotto assess legal trials.tsv --population 2,5,20 --utterances 1,3\n"
              "  sotto assess legal --scores plda.txt --key trials --json");
  auto flags = std::make_shared<LegalFlags>();
  verb->add_option("TRIALS", flags->trials,
                   "a TSV with columns label, score, test, enrol_spk (or enrol) and test_spk (or "
                   "the enrolment of the target trial)");
  auto* scores = verb->add_option("--scores", flags->scores, "score file: enrol test score");
  auto* key = verb->add_option("--key", flags->key, "trial key: enrol test target|nontarget");
  scores->needs(key);
  key->needs(scores);
  verb->add_option("--utt2spk", flags->utt2spk,
                   "utt2spk file that names the speakers of enrol and test ids; may be repeated")
      ->allow_extra_args(false);
  verb->add_option("--population,-N", flags->options.population,
                   "speakers to choose from, with commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  verb->add_option("--utterances,-L", flags->options.utterances, "utterances averaged, with commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  verb->add_flag("--allow-missing", flags->allow_missing,
                 "leave out trials without a score and scores without a trial");
  AddOutputFlags(*verb, flags->output);
  verb->callback([flags] { Run(*flags); });
}

}  // namespace sotto::cli
