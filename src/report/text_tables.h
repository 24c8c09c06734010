// Figures and tables as lines of text.
#pragma once

#include <span>
#include <string>

#include "assess/figure.h"
#include "report/assess_page.h"

namespace sotto {

// Name, value, interval, unit, direction, counts; then the remarks.
std::string FiguresText(std::span<const Figure> figures);

// What stands in tables: "–" for what is not finite.
std::string Decimal(double value, int digits);
std::string Decimal(const Figure* figure, int digits);
std::string Percent(double share);         // "12.3"
std::string Percent(const Figure* share);  // with its interval, "12.3 [10.0, 14.5]"; null: "–"
inline std::string Percent(const Figure& share) { return Percent(&share); }
std::string OnlyPercent(const Figure* share);  // without

// A line each.
std::string Lines(std::span<const std::string> texts);

// Columns as wide as their text; the last is left as it is. An empty line follows.
std::string TableText(const PageTable& table);

}  // namespace sotto
