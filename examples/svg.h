// Just enough SVG for the lessons: axes, lines, points and words.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"

namespace sotto::examples {

using Points = std::vector<std::pair<double, double>>;

// A diagram at (x, y) of the picture whose axes run from lo to hi (hi below lo turns an axis
// round).
struct Axes {
  double x, y, width, height;
  double x_lo, x_hi, y_lo, y_hi;

  double X(double v) const { return x + width * (v - x_lo) / (x_hi - x_lo); }
  double Y(double v) const { return y + height * (1.0 - (v - y_lo) / (y_hi - y_lo)); }
};

class Svg {
 public:
  Svg(double width, double height) {
    text_ = fmt::format(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1}' width='{0}' height='{1}' "
        "font-family='sans-serif' font-size='12'>\n<rect width='100%' height='100%' "
        "fill='white'/>\n",
        width, height);
  }

  void Frame(const Axes& a, const std::string& title, const std::string& x_name,
             const std::string& y_name, const std::vector<double>& x_ticks,
             const std::vector<double>& y_ticks) {
    text_ += fmt::format("<rect x='{}' y='{}' width='{}' height='{}' fill='none' stroke='#888'/>\n",
                         a.x, a.y, a.width, a.height);
    Words(a.x, a.y - 8, title, "start", "bold");
    Words(a.x + a.width, a.y + a.height + 32, x_name, "end");
    Words(a.x + 4, a.y + 14, y_name, "start");
    for (const double v : x_ticks) {
      Words(a.X(v), a.y + a.height + 16, fmt::format("{}", v), "middle");
    }
    for (const double v : y_ticks) Words(a.x - 6, a.Y(v) + 4, fmt::format("{}", v), "end");
  }

  void Line(const Axes& a, const Points& points, const std::string& colour, double width = 1.5) {
    text_ +=
        fmt::format("<polyline fill='none' stroke='{}' stroke-width='{}' points='", colour, width);
    for (const auto& [x, y] : points) text_ += fmt::format("{:.1f},{:.1f} ", a.X(x), a.Y(y));
    text_ += "'/>\n";
  }

  void Point(const Axes& a, double x, double y, const std::string& colour,
             const std::string& name = "") {
    text_ +=
        fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='4' fill='{}'/>\n", a.X(x), a.Y(y), colour);
    if (!name.empty()) Words(a.X(x) + 8, a.Y(y) - 6, name, "start", "bold");
  }

  void Words(double x, double y, const std::string& words, const std::string& anchor,
             const std::string& weight = "normal") {
    text_ +=
        fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='{}' font-weight='{}'>{}</text>\n", x,
                    y, anchor, weight, words);
  }

  void Write(const std::filesystem::path& path) const {
    WriteFileAtomically(path, text_ + "</svg>\n");
  }

 private:
  std::string text_;
};

}  // namespace sotto::examples
