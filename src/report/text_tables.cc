#include "report/text_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace sotto {
namespace {

std::size_t Letters(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

}  // namespace

std::string FiguresText(std::span<const Figure> figures) {
  std::size_t name_width = 0;
  std::size_t unit_width = 0;
  bool intervals = false;
  for (const Figure& figure : figures) {
    name_width = std::max(name_width, figure.name.size());
    unit_width = std::max(unit_width, figure.unit.size());
    intervals = intervals || figure.interval.has_value();
  }
  std::string text;
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
    text += fmt::format("{:<{}}  {:>10}{}  {:<{}}  {} {}\n", figure.name, name_width, value,
                        interval, figure.unit, unit_width, DirectionText(figure.direction), counts);
  }
  for (const Figure& figure : figures) {
    if (!figure.remark.empty()) text += fmt::format("{}: {}\n", figure.name, figure.remark);
  }
  return text;
}

std::string Decimal(double value, int digits) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : "–";
}

std::string Decimal(const Figure* figure, int digits) {
  return Decimal(figure != nullptr ? figure->value : std::nan(""), digits);
}

std::string Percent(double share) { return Decimal(100.0 * share, 1); }

std::string OnlyPercent(const Figure* share) {
  return share != nullptr ? Percent(share->value) : "–";
}

std::string Percent(const Figure* share) {
  std::string text = OnlyPercent(share);
  if (text != "–" && share->interval && std::isfinite(share->interval->low) &&
      std::isfinite(share->interval->high)) {
    text += fmt::format(" [{:.1f}, {:.1f}]", 100.0 * share->interval->low,
                        100.0 * share->interval->high);
  }
  return text;
}

std::string Lines(std::span<const std::string> texts) {
  std::string lines;
  for (const std::string& text : texts) lines += text + "\n";
  return lines;
}

std::string TableText(const PageTable& table) {
  std::vector<std::vector<std::string>> rows = {table.header};
  rows.insert(rows.end(), table.rows.begin(), table.rows.end());
  std::vector<std::size_t> width(table.header.size());
  for (const auto& row : rows) {
    for (std::size_t k = 0; k < row.size(); ++k) width[k] = std::max(width[k], Letters(row[k]));
  }
  std::string text = table.title + "\n";
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t k = 0; k < row.size(); ++k) {
      line += row[k];
      if (k + 1 < row.size()) line += std::string(width[k] - Letters(row[k]) + 2, ' ');
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text + "\n";
}

}  // namespace sotto
