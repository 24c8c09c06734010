// The forms of `sotto assess`, one file each (assess_verify.cc …), and how they print figures.
// A new form: declare its Add function here and call it in assess.cc.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "assess/figure.h"
#include "cli/flags.h"
#include "report/ladder_json.h"

namespace sotto::cli {

void AddAssessVerify(CLI::App& assess);
void AddAssessSimilarity(CLI::App& assess);
void AddAssessTandem(CLI::App& assess);
void AddAssessFairness(CLI::App& assess);
void AddAssessLegal(CLI::App& assess);
void AddAssessWer(CLI::App& assess);

// value, unit, direction, counts, interval (where known) and remark (where there is one).
nlohmann::ordered_json JsonFigure(const Figure& figure);

// A table on stdout: name, value, interval, unit, direction, counts; then the remarks.
void PrintFigures(std::span<const Figure> figures);

// --json OUT goes to stdout as one indented object.
void PrintJson(const nlohmann::ordered_json& json);

}  // namespace sotto::cli
