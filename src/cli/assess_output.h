// What the forms of `sotto assess` share: flags for trials, intervals, JSON and the report.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "assess/intervals.h"
#include "assess/trials.h"
#include "cli/flags.h"
#include "report/assess_forms.h"

namespace sotto::cli {

struct OutputFlags {
  bool json = false;
  std::string report;  // OUT.html, empty for none
  IntervalOptions intervals;
};

// --json, --report, --bootstrap, --level, --seed and --jobs.
void AddOutputFlags(CLI::App& verb, OutputFlags& flags);
// --report alone, for verbs with interval flags of their own.
void AddReportFlag(CLI::App& verb, std::string& report);

// Trials of a table, or of --scores and --key; --utt2spk names their speakers.
struct TrialFlags {
  std::vector<std::string> inputs;  // one TSV or, where the verb takes them, two arrays
  std::string scores, key;
  std::vector<std::string> utt2spk;
  bool allow_missing = false;

  // All but TRIALS.
  void Add(CLI::App& verb);
  // `forms`: what TRIALS may be, for who gives none, or both.
  Trials Read(const std::string& forms) const;
  std::string Source() const { return scores.empty() ? inputs[0] : scores + ", " + key; }
};
// One TSV or two arrays.
Trials ReadInputs(const std::vector<std::string>& inputs, bool allow_missing);

// Runs checks of flag values: what they refuse is bad usage, not bad input.
void CheckFlags(const OutputFlags& flags, const std::function<void()>& check);

// Writes the page where it was asked for, and prints.
void Show(const AssessForm& form, const OutputFlags& flags);

// Writes the page; a path that cannot be written is an Error.
void WriteReport(const std::string& path, const AssessPage& page);

}  // namespace sotto::cli
