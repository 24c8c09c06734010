// What the forms of `sotto assess` share: flags for intervals, JSON and the report, and printing.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "assess/intervals.h"
#include "assess/panels.h"
#include "cli/flags.h"
#include "report/assess_page.h"

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

// Runs checks of flag values: what they refuse is bad usage, not bad input.
void CheckFlags(const OutputFlags& flags, const std::function<void()>& check);

// Writes the page; a path that cannot be written is an Error.
void WriteReport(const std::string& path, const AssessPage& page);

// The figures with how their intervals were made, as JSON or as a table with notes below.
void PrintPanel(const OutputFlags& flags, const Panel& panel, nlohmann::ordered_json json,
                const std::vector<std::string>& notes);

// A table on stdout, columns as wide as their text; the last is left as it is.
void PrintTable(const PageTable& table);

nlohmann::ordered_json JsonNumberList(const std::vector<double>& values);

}  // namespace sotto::cli
