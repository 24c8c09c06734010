// sotto assess FORM …: privacy, verification, spoofing and fairness figures from score files.
#include "cli/assess.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "cli/verbs.h"

namespace sotto::cli {

void AddAssess(CLI::App& app) {
  CLI::App* assess = AddVerb(app, "assess", "Figures from scores, each with unit and direction",
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

nlohmann::ordered_json JsonFigure(const Figure& figure) {
  nlohmann::ordered_json json;
  json["value"] = JsonNumber(figure.value);
  json["unit"] = figure.unit;
  json["direction"] = DirectionText(figure.direction);
  if (!figure.attacker.empty()) json["attacker"] = figure.attacker;
  for (const auto& [name, count] : figure.counts) json["counts"][name] = count;
  if (figure.interval) {
    json["interval"] = {{"low", JsonNumber(figure.interval->low)},
                        {"high", JsonNumber(figure.interval->high)},
                        {"level", figure.interval->level}};
  }
  if (!figure.remark.empty()) json["remark"] = figure.remark;
  return json;
}

void PrintFigures(std::span<const Figure> figures) {
  std::size_t name_width = 0;
  std::size_t unit_width = 0;
  bool intervals = false;
  for (const Figure& figure : figures) {
    name_width = std::max(name_width, figure.name.size());
    unit_width = std::max(unit_width, figure.unit.size());
    intervals = intervals || figure.interval.has_value();
  }
  for (const Figure& figure : figures) {
    std::string interval;
    if (figure.interval) {
      interval = fmt::format("[{:.6g}, {:.6g}]", figure.interval->low, figure.interval->high);
    }
    if (intervals) interval = fmt::format("  {:<24}", interval);
    const std::string value =
        std::isnan(figure.value) ? "undefined" : fmt::format("{:.6g}", figure.value);
    std::string counts;
    for (const auto& [name, count] : figure.counts) counts += fmt::format(" {} {}", name, count);
    fmt::print("{:<{}}  {:>10}{}  {:<{}}  {} {}\n", figure.name, name_width, value, interval,
               figure.unit, unit_width, DirectionText(figure.direction), counts);
  }
  for (const Figure& figure : figures) {
    if (!figure.remark.empty()) fmt::print("{}: {}\n", figure.name, figure.remark);
  }
}

void PrintJson(const nlohmann::ordered_json& json) {
  // Ids may hold any bytes: what is no UTF-8 is replaced rather than refused.
  fmt::print("{}\n", DumpJson(json, 2));
}

}  // namespace sotto::cli
