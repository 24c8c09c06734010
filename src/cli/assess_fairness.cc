// sotto assess fairness: are all groups of speakers treated alike?
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "assess/fairness.h"
#include "assess/panels.h"
#include "assess/trial_lines.h"
#include "assess/trials.h"
#include "base/error.h"
#include "base/input.h"
#include "base/text.h"
#include "base/tsv.h"
#include "cli/assess.h"
#include "cli/assess_output.h"
#include "cli/verbs.h"
#include "report/assess_plots.h"

namespace sotto::cli {
namespace {

using nlohmann::ordered_json;

struct FairnessFlags {
  std::string trials;
  std::string group_column = "group";
  bool include_cross_group = false;
  bool allow_missing = false;
  FairnessOptions options;
  OutputFlags output;
};

IdColumn ReadColumn(const FairnessFlags& flags, const std::string& name) {
  TrialTsvOptions options;
  options.extra_column = name;
  options.allow_missing = flags.allow_missing;
  return ReadTrialTsv(flags.trials, options).extra;
}

// The column names, so that enrol_X and test_X are used where they are there.
std::vector<std::string> ReadHeader(const std::string& path) {
  InputFile file(path);
  if (file.IsPipe()) {
    throw Error(fmt::format(
        "'{}' is a pipe: this table is read more than once, so a file is needed", path));
  }
  constexpr std::size_t kLongestHeader = std::size_t{1} << 16;
  std::string text(kLongestHeader, '\0');
  text.resize(file.ReadAt(0, text.data(), text.size()));
  std::string_view rest = WithoutByteOrderMark(text);
  const std::string_view line = TakeLine(rest);
  if (line.empty()) throw Error(fmt::format("{}: no header line", path));
  RequireClean(line, path);
  const auto fields = SplitTabs(line);
  return {fields.begin(), fields.end()};
}

ordered_json ByAlpha(const std::vector<double>& alphas, const std::vector<double>& values) {
  ordered_json json;
  for (std::size_t a = 0; a < alphas.size(); ++a) {
    json[fmt::format("{:g}", alphas[a])] = JsonNumber(values[a]);
  }
  return json;
}

ordered_json ByGroup(const FairnessResult& result, const std::vector<double>& values) {
  ordered_json json;
  for (std::size_t g = 0; g < values.size(); ++g) json[result.groups[g]] = JsonNumber(values[g]);
  return json;
}

ordered_json JsonTerms(const DifferentialTerms& terms) {
  return {{"fpd", JsonNumber(terms.fpd)}, {"fnd", JsonNumber(terms.fnd)}};
}

ordered_json ToJson(const FairnessResult& result) {
  ordered_json json;
  json["groups"] = result.groups;
  for (std::size_t g = 0; g < result.groups.size(); ++g) {
    json["counts"][result.groups[g]] = {{"target", result.n_tar[g]},
                                        {"nontarget", result.n_non[g]}};
  }
  json["alphas"] = result.alphas;
  json["operating_points"] = ordered_json::array();
  for (const FairnessPoint& point : result.points) {
    json["operating_points"].push_back({{"pooled_fmr_target", point.pooled_fmr_target},
                                        {"threshold", JsonNumber(point.threshold)},
                                        {"pooled_fmr", point.pooled_fmr},
                                        {"pooled_fnmr", point.pooled_fnmr},
                                        {"fmr", ByGroup(result, point.fmr)},
                                        {"fnmr", ByGroup(result, point.fnmr)},
                                        {"fdr", ByAlpha(result.alphas, point.fdr)},
                                        {"ir", ByAlpha(result.alphas, point.ir)},
                                        {"garbe", ByAlpha(result.alphas, point.garbe)},
                                        {"terms",
                                         {{"fdr", JsonTerms(point.fdr_terms)},
                                          {"ir", JsonTerms(point.ir_terms)},
                                          {"garbe", JsonTerms(point.garbe_terms)}}}});
  }
  json["au_fdr_linear"] = ByAlpha(result.alphas, result.au_fdr_linear);
  json["au_fdr_log"] = ByAlpha(result.alphas, result.au_fdr_log);
  for (const FairnessCriteria& one : result.criteria) {
    json["ffmc"][one.metric] = {{"ffmc1_fpd_fnd_ratio", JsonNumber(one.ffmc1_ratio)},
                                {"ffmc2_lowest", JsonNumber(one.ffmc2_lowest)},
                                {"ffmc2_highest", JsonNumber(one.ffmc2_highest)},
                                {"ffmc2_bounded", one.ffmc2_bounded},
                                {"ffmc3_computable", one.ffmc3_computable}};
  }
  return json;
}

void Run(const FairnessFlags& flags) {
  CheckFlags(flags.output, [&] { flags.options.Validate(); });
  TrialTsvOptions read;
  read.allow_missing = flags.allow_missing;
  const std::string& name = flags.group_column;
  const std::vector<std::string> header = ReadHeader(flags.trials);
  const auto has = [&](const std::string& column) {
    return std::find(header.begin(), header.end(), column) != header.end();
  };
  const bool sides = has("enrol_" + name) && has("test_" + name);
  const bool own = has(name);
  if (!own && !sides) {
    throw Error(fmt::format("{}: no column '{}', nor 'enrol_{}' and 'test_{}'", flags.trials, name,
                            name, name));
  }
  const Trials trials = ReadTrialTsv(flags.trials, read);
  const IdColumn enrol = sides ? ReadColumn(flags, "enrol_" + name) : IdColumn();
  const IdColumn test = sides ? ReadColumn(flags, "test_" + name) : IdColumn();
  const IdColumn group = own ? ReadColumn(flags, name) : enrol;
  Grouping grouping = GroupTrials(trials, group, sides ? &enrol : nullptr, sides ? &test : nullptr,
                                  flags.include_cross_group);
  std::vector<std::string> notes;
  if (!sides) {
    notes.push_back(
        fmt::format("impostors across groups cannot be told: no columns enrol_{} and "
                    "test_{}; every non-target counts",
                    name, name));
  } else if (grouping.n_cross_group > 0) {
    notes.push_back(fmt::format("{} impostors across groups {}", grouping.n_cross_group,
                                flags.include_cross_group ? "count too" : "are left out"));
  }
  if (trials.n_without_score + trials.n_without_trial > 0) {
    notes.push_back(fmt::format("left out: {} trials without a score, {} scores without a trial",
                                trials.n_without_score, trials.n_without_trial));
  }
  const FairnessMeter meter(grouping.trials, flags.options);
  const FairnessResult result = meter.Measure();
  const Panel panel =
      FairnessPanel(meter, result, TrialResampler(trials), grouping.kept, flags.output.intervals);
  if (!flags.output.report.empty()) {
    FairnessOptions fine = flags.options;
    const double first = fine.fmr_targets.front();
    const double span = fine.fmr_targets.back() / first;
    constexpr int kSteps = 60;
    if (span > 1.0) {
      fine.fmr_targets.clear();
      for (int k = 0; k <= kSteps; ++k) {
        fine.fmr_targets.push_back(first * std::pow(span, static_cast<double>(k) / kSteps));
      }
    }
    AssessPage page{"Fairness across groups",
                    flags.trials,
                    panel.figures,
                    notes,
                    FairnessPlots(FairnessMeter(grouping.trials, fine).Measure()),
                    {GroupTable(result), CriteriaTable(result)}};
    page.notes.push_back("intervals: " + panel.bootstrap);
    WriteReport(flags.output.report, page);
  }
  PrintPanel(flags.output, panel, ToJson(result), notes);
}

}  // namespace

void AddAssessFairness(CLI::App& assess) {
  CLI::App* verb = AddVerb(assess, "fairness", "Fairness: FDR, auFDR, IR, GARBE across groups",
                           "  sotto assess fairness trials.tsv --group-column group\n"
                           "  sotto assess fairness trials.tsv --group-column gender --json");
  auto flags = std::make_shared<FairnessFlags>();
  verb->add_option("TRIALS", flags->trials, "a TSV with columns label, score and the group")
      ->required();
  verb->add_option("--group-column", flags->group_column,
                   "column X with the claimed speaker's group, or columns enrol_X and test_X")
      ->capture_default_str();
  verb->add_option("--fmr", flags->options.fmr_targets,
                   "pooled false match rates, rising, with commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  verb->add_option("--alpha", flags->options.alphas, "weights of the FMR term, with commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  verb->add_flag("--include-cross-group", flags->include_cross_group,
                 "count impostors of other groups too");
  verb->add_flag("--allow-missing", flags->allow_missing,
                 "leave out trials without a score, and say so");
  AddOutputFlags(*verb, flags->output);
  verb->callback([flags] { Run(*flags); });
}

}  // namespace sotto::cli
