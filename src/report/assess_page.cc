#include "report/assess_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "report/json_values.h"

namespace sotto {
namespace {

using Json = nlohmann::ordered_json;

Json NumberList(const std::vector<double>& values) {
  return JsonList(values,
                  [](double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); });
}

JsonFields AxisJson(const PlotAxis& axis) {
  JsonFields f;
  f("label", axis.label);
  f("scale", axis.scale == Scale::kLog      ? "log"
             : axis.scale == Scale::kProbit ? "probit"
                                            : "linear");
  f("percent", axis.percent);
  if (axis.low) f("low", Json(*axis.low));
  if (axis.high) f("high", Json(*axis.high));
  if (!axis.ticks.empty()) f("ticks", axis.ticks);
  return f;
}

JsonFields SeriesJson(const PlotSeries& series) {
  constexpr const char* kMarks[] = {"line", "marked", "points", "steps", "reference"};  // as Mark
  JsonFields f;
  f("name", series.name)("mark", kMarks[static_cast<int>(series.mark)]);
  f("x", NumberList(series.x))("y", NumberList(series.y));
  if (!series.labels.empty()) f("labels", series.labels);
  if (!series.hints.empty()) f("hints", series.hints);
  for (const auto& [name, ends] :
       {std::pair("x_low", &series.x_low), std::pair("x_high", &series.x_high),
        std::pair("y_low", &series.y_low), std::pair("y_high", &series.y_high)}) {
    if (!ends->empty()) f(name, NumberList(*ends));
  }
  return f;
}

JsonFields PlotJson(const Plot& plot) {
  JsonFields f;
  f("id", plot.id)("title", plot.title)("x", AxisJson(plot.x))("y", AxisJson(plot.y));
  f("series", JsonList(plot.series, SeriesJson));
  f("matrices", JsonList(plot.matrices, [](const PlotMatrix& matrix) {
      return JsonFields()("title", matrix.title)("names", matrix.names)("values",
                                                                        NumberList(matrix.values));
    }));
  return f;
}

// JSON inside a script element: '<' as an escape, so that no id can end the element.
std::string ScriptSafe(const Json& json) {
  std::string out;
  for (const char c : DumpJson(json)) out += c == '<' ? "\\u003c" : std::string(1, c);
  return out;
}

std::string Number(double value) {
  if (std::isnan(value)) return "undefined";
  if (std::isinf(value)) return value > 0.0 ? "∞" : "−∞";
  return fmt::format("{:.4g}", value);
}

std::string FigureRow(const Figure& figure) {
  std::string counts;
  for (const auto& [name, count] : figure.counts) {
    counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", name, count);
  }
  std::string interval;
  if (figure.interval) {
    interval = fmt::format("{} – {}", Number(figure.interval->low), Number(figure.interval->high));
  }
  const std::string remark =
      figure.remark.empty()
          ? ""
          : fmt::format(" <span class=\"remark\">{}</span>", EscapeHtml(figure.remark));
  return fmt::format(
      "<tr><td class=\"name\">{}{}</td><td class=\"number\" data-label=\"value\">{}</td>"
      "<td class=\"number\" data-label=\"interval\">{}</td><td data-label=\"unit\">{}</td>"
      "<td data-label=\"direction\">{}</td><td data-label=\"counts\">{}</td></tr>\n",
      EscapeHtml(figure.name), remark, Number(figure.value), interval, EscapeHtml(figure.unit),
      DirectionText(figure.direction), EscapeHtml(counts));
}

std::string FigureTable(const std::string& title, const std::vector<Figure>& figures) {
  double level = 0.95;
  for (const Figure& figure : figures) {
    if (figure.interval) level = figure.interval->level;
  }
  std::string html = fmt::format(
      "<h2>{}</h2>\n<table class=\"figures\"><thead><tr><th>figure</th><th "
      "class=\"number\">value</th><th class=\"number\">{:g} % interval</th><th>unit</th>"
      "<th>direction</th><th>counts</th></tr></thead><tbody>\n",
      EscapeHtml(title), 100.0 * level);
  for (const Figure& figure : figures) html += FigureRow(figure);
  return html + "</tbody></table>\n";
}

std::string TableHtml(const PageTable& table) {
  const auto cell = [](const char* tag, const std::string& text, bool first) {
    return fmt::format("<{0}{1}>{2}</{0}>", tag, first ? "" : " class=\"number\"",
                       EscapeHtml(text));
  };
  std::string html =
      fmt::format("<h2>{}</h2>\n<div class=\"scroll\"><table class=\"data\"><thead><tr>",
                  EscapeHtml(table.title));
  for (std::size_t k = 0; k < table.header.size(); ++k) {
    html += cell("th", table.header[k], k == 0);
  }
  html += "</tr></thead><tbody>\n";
  for (const auto& row : table.rows) {
    html += "<tr>";
    for (std::size_t k = 0; k < row.size(); ++k) html += cell("td", row[k], k == 0);
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string PlotHtml(const Plot& plot, bool wide = false) {
  return fmt::format(
      "<figure id=\"{}\"{}><h3>{}</h3><div class=\"canvas\"></div><figcaption>{}</figcaption>"
      "<div class=\"save\"><button type=\"button\" class=\"save-svg\">SVG</button>"
      "<button type=\"button\" class=\"save-csv\">CSV</button></div></figure>\n",
      EscapeHtml(plot.id), plot.matrices.empty() && !wide ? "" : " class=\"wide\"",
      EscapeHtml(plot.title), EscapeHtml(plot.caption));
}

constexpr std::string_view kPageStart = "<!doctype html>";

}  // namespace

std::string EscapeHtml(std::string_view text) {
  constexpr std::string_view kSpecial = "&<>\"'";
  constexpr const char* kEntities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
  // Names of files may hold anything, and a page is UTF-8.
  Escaper escaper;
  std::string clean = escaper.Push(text);
  clean += escaper.Finish();
  std::string out;
  for (const char c : clean) {
    const std::size_t place = kSpecial.find(c);
    out += place == std::string_view::npos ? std::string(1, c) : kEntities[place];
  }
  return out;
}

void WritePage(const std::filesystem::path& path, const std::string& html) {
  if (std::filesystem::exists(path)) {
    std::string start(kPageStart.size(), '\0');
    InputFile file(path);
    start.resize(file.Read(start.data(), start.size()));
    std::transform(start.begin(), start.end(), start.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (!start.empty() && start != kPageStart) {
      throw Error(
          fmt::format("'{}' exists already and is not a page: it is not replaced", path.string()));
    }
  }
  WriteFileAtomically(path, html);
}

std::string RenderAssessPage(const AssessPage& page) {
  // The policy forbids every request: even a mistake in this page cannot call out.
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>\n{}</style></head><body>\n<h1>{}</h1>\n<p class=\"sub\">{}</p>\n",
      EscapeHtml(page.title), kEmbeddedReportCss, EscapeHtml(page.title),
      EscapeHtml(page.subtitle));
  for (const Plot& plot : page.lead_plots) html += PlotHtml(plot, /*wide=*/true);
  for (const PageTable& table : page.lead) html += TableHtml(table);
  if (!page.figures.empty()) html += FigureTable(page.figures_title, page.figures);
  if (!page.notes.empty()) {
    html += "<ul class=\"notes\">\n";
    for (const std::string& note : page.notes) html += "<li>" + EscapeHtml(note) + "</li>\n";
    html += "</ul>\n";
  }
  if (!page.plots.empty()) {
    html += "<h2>Plots</h2>\n<div class=\"plots\">\n";
    for (const Plot& plot : page.plots) html += PlotHtml(plot);
    html += "</div>\n";
  }
  for (const PageTable& table : page.tables) html += TableHtml(table);
  html +=
      "<footer>Made by sotto. Plots drawn with d3 5.16, copyright Mike Bostock, "
      "BSD-3-Clause.</footer>\n";
  Json plots = JsonList(page.lead_plots, PlotJson);
  for (const Plot& plot : page.plots) plots.push_back(PlotJson(plot).json());
  html += "<script type=\"application/json\" id=\"sotto-data\">" + ScriptSafe({{"plots", plots}}) +
          "</script>\n";
  html += "<script>\n/*\n";
  html += kEmbeddedD3Licence;
  html += "*/\n";
  html += kEmbeddedD3;
  html += "</script>\n<script>\n";
  html += kEmbeddedReportJs;
  return html + "</script>\n</body></html>\n";
}

}  // namespace sotto
