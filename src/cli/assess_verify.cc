// sotto assess verify: all figures of a list of verification trials.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "assess/verify.h"
#include "base/parallel.h"
#include "cli/assess.h"
#include "cli/assess_output.h"
#include "cli/verbs.h"
#include "report/verify_page.h"

namespace sotto::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct VerifyFlags {
  std::vector<std::string> inputs;  // one TSV, or two arrays
  std::string scores;
  std::string key;
  std::vector<std::string> utt2spk;
  std::vector<std::string> calibrate_on;
  std::string attacker;
  std::string report;
  bool allow_missing = false;
  bool json = false;
  int bootstrap = -1;  // automatic
  std::vector<double> more_priors;
  VerifyOptions options;
};

// Above this, intervals are computed only when asked for: 1000 resamples take a minute per million.
constexpr std::size_t kAutomaticBootstrapTrials = 100000;
constexpr int kAutomaticResamples = 1000;
constexpr std::size_t kDetPoints = 1000;

Trials ReadInputs(const std::vector<std::string>& inputs, bool allow_missing) {
  if (inputs.size() > 2) throw CLI::ValidationError("one TSV or two arrays make a set of trials");
  if (inputs.size() == 2) return ReadTrialArrays(inputs[0], inputs[1]);
  TrialTsvOptions options;
  options.allow_missing = allow_missing;
  return ReadTrialTsv(inputs[0], options);
}

Trials ReadTrials(const VerifyFlags& flags) {
  const bool pair = !flags.scores.empty();
  if (pair == !flags.inputs.empty()) {
    throw CLI::ValidationError("give either TRIALS.tsv, two arrays, or --scores and --key");
  }
  Trials trials = pair ? ReadKaldiTrials(flags.scores, flags.key, {flags.allow_missing})
                       : ReadInputs(flags.inputs, flags.allow_missing);
  if (!flags.utt2spk.empty()) {
    const std::vector<fs::path> files(flags.utt2spk.begin(), flags.utt2spk.end());
    AddSpeakers(trials, files);
  }
  return trials;
}

ordered_json JsonNumbers(const std::vector<double>& values) {
  ordered_json json = ordered_json::array();
  for (const double value : values) json.push_back(JsonNumber(value));
  return json;
}

ordered_json JsonProfile(const EceProfile& profile) {
  return {{"prior_log_odds", profile.prior_log_odds},
          {"ece_default", profile.ece_default},
          {"ece_min", profile.ece_min},
          {"ece_act", JsonNumbers(profile.ece_act)},
          {"dcf_default", profile.dcf_default},
          {"dcf_min", profile.dcf_min},
          {"dcf_act", profile.dcf_act}};
}

ordered_json JsonPav(const Pav& pav) {
  ordered_json blocks = ordered_json::array();
  for (const PavBlock& b : pav.blocks) {
    blocks.push_back({{"score_lo", JsonNumber(b.low)},
                      {"score_hi", JsonNumber(b.high)},
                      {"n_tar", b.tar},
                      {"n_non", b.non},
                      {"posterior", b.posterior},
                      {"llr", JsonNumber(b.llr)}});
  }
  return blocks;
}

ordered_json JsonDet(const ScoreLevels& data) {
  ordered_json det;
  for (const RocPoint& point : RocPoints(data, kDetPoints)) {
    det["threshold"].push_back(JsonNumber(point.threshold));
    det["pmiss"].push_back(point.miss);
    det["pfa"].push_back(point.false_alarm);
  }
  return det;
}

ordered_json JsonZoo(const std::vector<ZooSpeaker>& zoo) {
  ordered_json json = ordered_json::array();
  for (const ZooSpeaker& s : zoo) {
    json.push_back({{"speaker", s.name},
                    {"n_tar", s.n_tar},
                    {"n_non", s.n_non},
                    {"mean_tar", JsonNumber(s.mean_tar)},
                    {"mean_non", JsonNumber(s.mean_non)},
                    {"mean_tar_llr", JsonNumber(s.mean_tar_llr)},
                    {"mean_non_llr", JsonNumber(s.mean_non_llr)},
                    {"animal", s.animal}});
  }
  return json;
}

ordered_json JsonIdentification(const VerifyResult& result, ordered_json& rank) {
  if (!result.identification) {
    rank = nullptr;
    return nullptr;
  }
  const Identification& id = *result.identification;
  ordered_json top_k = ordered_json::object();
  for (std::size_t j = 0; j < id.k.size(); ++j) {
    top_k[fmt::format("{}", id.k[j])] = JsonNumber(id.top_k[j]);
  }
  rank = {{"mean", JsonNumber(id.mean_rank)},
          {"median", JsonNumber(id.median_rank)},
          {"n", id.queries.size()}};
  return top_k;
}

ordered_json ToJson(const Trials& trials, const ScoreLevels& data, const VerifyResult& result,
                    const VerifyOptions& options) {
  const ScoreFigures& f = result.scores;
  ordered_json json;
  json["n_tar"] = result.n_tar;
  json["n_non"] = result.n_non;
  json["eer"] = f.eer;
  json["eer_kaldi"] = f.eer_kaldi;
  json["eer_rocch"] = f.eer_rocch;
  json["eer_argmin"] = f.eer_argmin;
  json["auc"] = f.auc;
  json["rocch_area_error"] = f.rocch_area_error;
  json["cllr"] = JsonNumber(f.cllr);
  json["cllr_min"] = f.cllr_min;
  json["cllr_cal"] = JsonNumber(f.cllr_cal);
  for (std::size_t i = 0; i < options.priors.size(); ++i) {
    const std::string prior = fmt::format("{}", options.priors[i]);
    json["min_dcf"][prior] = f.min_dcf[i];
    json["act_dcf"][prior] = f.act_dcf[i];
  }
  const Linkability linkability = MeasureLinkability(data, options.linkability);
  json["d_sys"] = JsonNumber(f.d_sys);
  json["d_sys_unbiased"] = JsonNumber(f.d_sys_unbiased);
  json["d_sys_bins"] = linkability.bins;
  json["omega"] = options.linkability.omega;
  const Pav pav = FitPav(data);
  json["zebra"] = {{"d_ece_bits", f.zebra.d_ece_bits},
                   {"worst_case_log10", f.zebra.worst_case_log10},
                   {"tag", std::string(1, f.zebra.tag)}};
  json["c_ece"] = nullptr;
  if (result.calibrated) {
    const CalibratedDisclosure& c = *result.calibrated;
    json["c_ece"] = {{"linear", JsonNumber(c.c_ece_linear)},
                     {"isotonic", JsonNumber(c.c_ece_isotonic)},
                     {"cllr_linear", JsonNumber(c.cllr_linear)},
                     {"cllr_isotonic", JsonNumber(c.cllr_isotonic)},
                     {"a", JsonNumber(c.linear.a)},
                     {"b", JsonNumber(c.linear.b)}};
    if (!c.remark.empty()) json["c_ece"]["remark"] = c.remark;
  }
  ordered_json rank;
  json["top_k"] = JsonIdentification(result, rank);
  json["rank"] = rank;
  json["bootstrap"] = result.bootstrap;
  for (const Figure& figure : result.figures) json["figures"][figure.name] = JsonFigure(figure);
  json["n_duplicates"] = trials.n_duplicates;
  json["n_without_score"] = trials.n_without_score;
  json["n_without_trial"] = trials.n_without_trial;
  json["maximal_linkability"] = {{"30", JsonNumber(MaximalLinkability(data, 30))},
                                 {"100", JsonNumber(MaximalLinkability(data, 100))}};
  json["ece_profile"] = JsonProfile(MakeEceProfile(data, pav));
  json["linkability"] = {{"score", linkability.centre},
                         {"d", linkability.d},
                         {"mated", linkability.mated},
                         {"non_mated", linkability.non_mated}};
  json["det"] = JsonDet(data);
  json["pav"] = JsonPav(pav);
  if (trials.HasSpeakers()) json["zoo"] = JsonZoo(MeasureZoo(trials, WithLaplace(pav)));
  return json;
}

void PrintNotes(const Trials& trials, const VerifyResult& result) {
  fmt::print("zebra.tag: {}\nintervals: {}\n", result.scores.zebra.tag, result.bootstrap);
  if (trials.n_duplicates > 0) {
    fmt::print("{} trials repeat another with the same score; every row counts\n",
               trials.n_duplicates);
  }
  if (trials.n_without_score + trials.n_without_trial > 0) {
    fmt::print("left out: {} trials without a score, {} scores without a trial\n",
               trials.n_without_score, trials.n_without_trial);
  }
}

void Run(VerifyFlags& flags) {
  for (const double prior : flags.more_priors) {
    auto& priors = flags.options.priors;
    if (std::find(priors.begin(), priors.end(), prior) == priors.end()) priors.push_back(prior);
  }
  CheckUsage([&] { flags.options.Validate(); });
  const Trials trials = ReadTrials(flags);
  const ScoreLevels data = MakeLevels(trials);
  flags.options.resamples = flags.bootstrap >= 0                         ? flags.bootstrap
                            : trials.size() <= kAutomaticBootstrapTrials ? kAutomaticResamples
                                                                         : 0;
  std::unique_ptr<ScoreLevels> other_run;
  if (!flags.calibrate_on.empty()) {
    other_run = std::make_unique<ScoreLevels>(MakeLevels(ReadInputs(flags.calibrate_on, false)));
  }
  VerifyResult result = Verify(trials, data, flags.options, other_run.get());
  for (Figure& figure : result.figures) figure.attacker = flags.attacker;
  if (!flags.report.empty()) {
    std::string source = flags.scores.empty() ? flags.inputs[0] : flags.scores + ", " + flags.key;
    if (!flags.attacker.empty()) source += ", attacker: " + flags.attacker;
    WriteReport(flags.report, VerifyPage(trials, data, result, flags.options, source));
  }
  if (flags.json) {
    ordered_json json = ToJson(trials, data, result, flags.options);
    if (!flags.attacker.empty()) json["attacker"] = flags.attacker;
    PrintJson(json);
    return;
  }
  if (!flags.attacker.empty()) fmt::print("attacker: {}\n", flags.attacker);
  PrintFigures(ShownFigures(result.figures));
  PrintNotes(trials, result);
}

}  // namespace

void AddAssessVerify(CLI::App& assess) {
  CLI::App* verb = AddVerb(assess, "verify", "Verification and disclosure figures of scored trials",
                           "  sotto assess verify trials.tsv\n"
                           "  sotto assess verify --scores plda.txt --key trials --json");
  auto flags = std::make_shared<VerifyFlags>();
  VerifyOptions& o = flags->options;
  flags->options.jobs = DefaultJobs();
  verb->add_option("TRIALS", flags->inputs,
                   "a TSV with columns label (target|nontarget) and score, optional enrol test "
                   "enrol_spk test_spk enrol_group test_group; or two arrays of target and "
                   "non-target scores (.npy or raw .f64)")
      ->expected(1, 2)
      ->option_text("TSV | TAR NON");
  auto* scores = verb->add_option("--scores", flags->scores, "score file: enrol test score");
  auto* key = verb->add_option("--key", flags->key, "trial key: enrol test target|nontarget");
  scores->needs(key);
  key->needs(scores);
  verb->add_option("--utt2spk", flags->utt2spk,
                   "utt2spk file that names the speakers of enrol and test ids; may be repeated")
      ->allow_extra_args(false);
  verb->add_flag("--allow-missing", flags->allow_missing,
                 "leave out trials without a score and scores without a trial, and say so");
  verb->add_option(
          "--prior", flags->more_priors,
          "further target prior for minDCF and actDCF, besides 0.5 0.05 0.01 0.001; may be "
          "repeated")
      ->allow_extra_args(false);
  verb->add_option("--cmiss", o.cost_miss, "cost of a miss")->capture_default_str();
  verb->add_option("--cfa", o.cost_false_alarm, "cost of a false alarm")->capture_default_str();
  verb->add_option("--omega", o.linkability.omega, "prior ratio of D_sys")->capture_default_str();
  verb->add_option("--bins", o.linkability.bins,
                   "bins of D_sys; 0: int(targets/10), at most 100, as published")
      ->capture_default_str();
  verb->add_option(
          "--calibrate-on", flags->calibrate_on,
          "trials of another run of the safeguard, for C_ECE: a TSV, or given twice for two "
          "arrays")
      ->allow_extra_args(false);
  verb->add_option("--top-k", o.top_k, "k of the top-k precision; may be repeated")
      ->allow_extra_args(false)
      ->capture_default_str();
  verb->add_option("--bootstrap", flags->bootstrap,
                   "resamples for the intervals; -1: 1000 up to 100000 trials, else none")
      ->capture_default_str();
  verb->add_option("--level", o.interval_level, "level of the intervals")->capture_default_str();
  verb->add_option("--seed", o.seed, "seed of the bootstrap")->capture_default_str();
  verb->add_option("--jobs", o.jobs, "threads; the figures do not depend on it")
      ->capture_default_str();
  verb->add_option("--attacker", flags->attacker,
                   "who made the scores (ignorant, lazy-informed, …), printed with the figures");
  AddReportFlag(*verb, flags->report);
  verb->add_flag("--json", flags->json, "print everything as JSON");
  verb->callback([flags] { Run(*flags); });
}

}  // namespace sotto::cli
