// Figures and tables as lines of text.
#pragma once

#include <span>
#include <string>

#include "assess/figure.h"
#include "report/assess_page.h"

namespace sotto {

// Name, value, interval, unit, direction, counts; then the remarks.
std::string FiguresText(std::span<const Figure> figures);

// A line each.
std::string Lines(std::span<const std::string> texts);

// Columns as wide as their text; the last is left as it is. An empty line follows.
std::string TableText(const PageTable& table);

}  // namespace sotto
