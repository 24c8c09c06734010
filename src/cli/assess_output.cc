#include "cli/assess_output.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/parallel.h"
#include "cli/assess.h"
#include "cli/verbs.h"

namespace sotto::cli {

void AddReportFlag(CLI::App& verb, std::string& report) {
  verb.add_option("--report", report, "write figures and plots as one HTML page")
      ->type_name("OUT.html");
}

void AddOutputFlags(CLI::App& verb, OutputFlags& flags) {
  flags.intervals.jobs = DefaultJobs();
  verb.add_option("--bootstrap", flags.intervals.resamples, "resamples for the intervals; 0: none")
      ->capture_default_str();
  verb.add_option("--level", flags.intervals.level, "level of the intervals")
      ->capture_default_str();
  verb.add_option("--seed", flags.intervals.seed, "seed of the bootstrap")->capture_default_str();
  verb.add_option("--jobs", flags.intervals.jobs, "threads; the figures do not depend on it")
      ->capture_default_str();
  AddReportFlag(verb, flags.report);
  verb.add_flag("--json", flags.json, "print everything as JSON");
}

void CheckFlags(const OutputFlags& flags, const std::function<void()>& check) {
  CheckUsage([&] {
    flags.intervals.Validate();
    check();
  });
}

void WriteReport(const std::string& path, const AssessPage& page) {
  WritePage(path, RenderAssessPage(page));
}

void PrintPanel(const OutputFlags& flags, const Panel& panel, nlohmann::ordered_json json,
                const std::vector<std::string>& notes) {
  if (flags.json) {
    json["bootstrap"] = panel.bootstrap;
    json["notes"] = notes;
    for (const Figure& figure : panel.figures) json["figures"][figure.name] = JsonFigure(figure);
    PrintJson(json);
    return;
  }
  PrintFigures(panel.figures);
  fmt::print("intervals: {}\n", panel.bootstrap);
  for (const std::string& note : notes) fmt::print("{}\n", note);
}

void PrintTable(const PageTable& table) {
  std::vector<std::size_t> width(table.header.size());
  const auto letters = [](const std::string& text) {
    std::size_t n = 0;
    for (const char c : text) n += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
    return n;
  };
  const auto measure = [&](const std::vector<std::string>& row) {
    for (std::size_t k = 0; k < row.size(); ++k) width[k] = std::max(width[k], letters(row[k]));
  };
  measure(table.header);
  for (const auto& row : table.rows) measure(row);
  const auto print = [&](const std::vector<std::string>& row) {
    std::string line;
    for (std::size_t k = 0; k < row.size(); ++k) {
      line += row[k];
      if (k + 1 < row.size()) line += std::string(width[k] - letters(row[k]) + 2, ' ');
    }
    fmt::print("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
  };
  fmt::print("{}\n", table.title);
  print(table.header);
  for (const auto& row : table.rows) print(row);
  fmt::print("\n");
}

nlohmann::ordered_json JsonNumberList(const std::vector<double>& values) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const double value : values) json.push_back(JsonNumber(value));
  return json;
}

}  // namespace sotto::cli
