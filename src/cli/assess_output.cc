#include "cli/assess_output.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/parallel.h"
#include "cli/verbs.h"

namespace sotto::cli {

void AddReportFlag(CLI::App& verb, std::string& report) {
  verb.add_option("--report", report, "Write figures and plots as one HTML page", "OUT.html");
}

void AddOutputFlags(CLI::App& verb, OutputFlags& flags) {
  flags.intervals.jobs = DefaultJobs();
  verb.heading("Figures");
  verb.add_option("--bootstrap", flags.intervals.resamples,
                  "Resamples for the intervals; 0 means none");
  verb.add_option("--level", flags.intervals.level, "Level of the intervals");
  verb.add_option("--seed", flags.intervals.seed, "Seed of the bootstrap");
  verb.heading("Output");
  AddReportFlag(verb, flags.report);
  verb.add_flag("--json", flags.json, "Print everything as JSON");
  verb.heading("Run");
  verb.add_option("--jobs", flags.intervals.jobs, "Threads; the figures do not depend on them");
}

void TrialFlags::Add(CLI::App& verb) {
  verb.heading("Trials");
  auto* score_file =
      verb.add_option("--scores", scores, "Score file with lines 'enrol test score'");
  auto* key_file =
      verb.add_option("--key", key, "Trial key with lines 'enrol test target|nontarget'");
  score_file->needs(key_file);
  key_file->needs(score_file);
  verb.add_option("--utt2spk", utt2spk,
                  "A utt2spk file with the speakers of enrol and test ids; may be repeated")
      ->allow_extra_args(false);
  verb.add_flag("--allow-missing", allow_missing,
                "Leave out trials without a score and scores without a trial, and say so");
}

Trials TrialFlags::Read(const std::string& forms) const {
  const bool pair = !scores.empty();
  if (pair == !inputs.empty()) {
    throw CLI::ValidationError("give either " + forms + ", or --scores and --key");
  }
  Trials trials =
      pair ? ReadKaldiTrials(scores, key, {allow_missing}) : ReadInputs(inputs, allow_missing);
  if (!utt2spk.empty()) {
    AddSpeakers(trials, std::vector<std::filesystem::path>(utt2spk.begin(), utt2spk.end()));
  }
  return trials;
}

Trials ReadInputs(const std::vector<std::string>& inputs, bool allow_missing) {
  if (inputs.size() > 2) throw CLI::ValidationError("one TSV or two arrays make a set of trials");
  if (inputs.size() == 2) return ReadTrialArrays(inputs[0], inputs[1]);
  TrialTsvOptions options;
  options.allow_missing = allow_missing;
  return ReadTrialTsv(inputs[0], options);
}

void CheckFlags(const OutputFlags& flags, const std::function<void()>& check) {
  CheckUsage([&] {
    flags.intervals.Validate();
    check();
  });
}

void Show(const AssessForm& form, const OutputFlags& flags) {
  if (!flags.report.empty()) WriteReport(flags.report, form.page());
  fmt::print("{}", flags.json ? form.json() : form.text());
}

void WriteReport(const std::string& path, const AssessPage& page) {
  WritePage(path, RenderAssessPage(page));
}

}  // namespace sotto::cli
