// One self-contained HTML page with the figures of an assessment and its plots: it asks the network
// for nothing and works from file://. d3 (from the Debian package node-d3) and our own script and
// style are embedded at build time.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assess/figure.h"

namespace sotto {

enum class Scale { kLinear, kLog, kProbit };  // probit: normal deviates, the axes of a DET plot

struct PlotAxis {
  std::string label = {};  // with the unit
  Scale scale = Scale::kLinear;
  std::optional<double> low = {}, high = {};  // from the data when not given
  std::vector<double> ticks = {};             // log axes only; chosen when empty
  bool percent = false;                       // rates, shown as "5 %"
};

enum class Mark {
  kLine,
  kMarked,     // a line with its points
  kPoints,     // points alone
  kSteps,      // a histogram: x are left edges, the last closes it with y = 0
  kReference,  // a dashed grey line: chance, perfect privacy
};

struct PlotSeries {
  std::string name;
  Mark mark = Mark::kLine;
  std::vector<double> x = {}, y = {};    // what is not finite is not drawn
  std::vector<std::string> labels = {};  // names drawn beside points; empty strings are not
  std::vector<std::string> hints = {};   // names for tooltips and CSV
  // Ends of intervals around points, drawn as bars; empty: none.
  std::vector<double> x_low = {}, x_high = {}, y_low = {}, y_high = {};

  void Add(double at_x, double at_y) {
    x.push_back(at_x);
    y.push_back(at_y);
  }
};

struct PlotMatrix {
  std::string title;
  std::vector<std::string> names;  // rows and columns
  std::vector<double> values;      // row-major, 0 … 1
};

struct Plot {
  std::string id;  // of the element and the downloaded files: letters, digits, '-'
  std::string title;
  std::string caption;  // what to look for
  PlotAxis x = {}, y = {};
  std::vector<PlotSeries> series = {};
  std::vector<PlotMatrix> matrices = {};  // side by side, instead of series
};

struct PageTable {
  std::string title;
  std::vector<std::string> header;                  // the first column names the row
  std::vector<std::vector<std::string>> rows = {};  // text; the page escapes it
};

struct AssessPage {
  std::string title;
  std::string subtitle;  // which files
  std::vector<Figure> figures = {};
  std::vector<std::string> notes = {};
  std::vector<Plot> plots = {};
  std::vector<PageTable> tables = {};
  std::vector<PageTable> lead = {};  // tables that come before the figures
  std::string figures_title = "Figures";
  std::vector<Plot> lead_plots = {};  // pictures that come before everything else, full width
};

std::string RenderAssessPage(const AssessPage& page);

// Writes a page, in the place of one that is there already. Throws Error where something else is:
// a sound or a list of trials that was named by mistake.
void WritePage(const std::filesystem::path& path, const std::string& html);

// Files built into the program (see cmake/SottoEmbed.cmake).
extern const std::string_view kEmbeddedD3;         // d3.min.js of the package node-d3
extern const std::string_view kEmbeddedD3Licence;  // web/d3_licence.txt
extern const std::string_view kEmbeddedReportJs;   // web/report.js
extern const std::string_view kEmbeddedReportCss;  // web/report.css

// &, <, > and quotes as entities.
std::string EscapeHtml(std::string_view text);

}  // namespace sotto
