#include "report/voice_ind_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/csv.h"
#include "base/json.h"
#include "dp/allows.h"
#include "report/json_values.h"

namespace sotto {
namespace {

using nlohmann::ordered_json;

ordered_json JsonRow(const StudiedPoint& row) {
  return {{"n", row.point.n},
          {"epsilon", row.point.eps},
          {"expected_distance", row.point.expected_distance},
          {"mse", row.point.mse},
          {"largest_ratio_to_bound", row.point.largest_ratio},
          {"eer", row.figures.eer},
          {"auc", row.figures.auc},
          {"cllr_min", row.figures.cllr_min},
          {"d_sys", row.figures.d_sys},
          {"d_sys_unbiased", row.figures.d_sys_unbiased},
          {"zebra_d_ece", row.figures.zebra.d_ece_bits},
          {"eer_floor", EerFloor(row.point.eps, 0.0)},
          {"n_tar", row.point.tar.size()},
          {"n_non", row.point.non.size()}};
}

// A line for each n (or each epsilon) of one figure.
Plot Curves(const std::vector<StudiedPoint>& points, const std::string& id,
            const std::string& title, const std::string& label, const std::string& caption,
            bool over_eps, bool percent, double (*value)(const StudiedPoint&)) {
  Plot plot;
  plot.id = id;
  plot.title = title;
  plot.caption = caption;
  plot.x.label = over_eps ? "epsilon" : "candidates n";
  plot.x.scale = Scale::kLog;
  plot.y.label = label;
  plot.y.percent = percent;
  for (const StudiedPoint& row : points) {
    const std::string name = over_eps ? fmt::format("n = {}", row.point.n)
                                      : fmt::format("epsilon = {:g}", row.point.eps);
    auto series = std::find_if(plot.series.begin(), plot.series.end(),
                               [&](const PlotSeries& s) { return s.name == name; });
    if (series == plot.series.end()) {
      PlotSeries fresh;
      fresh.name = name;
      fresh.mark = Mark::kMarked;
      series = plot.series.insert(plot.series.end(), fresh);
    }
    series->x.push_back(over_eps ? row.point.eps : static_cast<double>(row.point.n));
    series->y.push_back(value(row));
  }
  return plot;
}

std::vector<Plot> AllPlots(const std::vector<StudiedPoint>& points) {
  const auto distance = [](const StudiedPoint& row) { return row.point.expected_distance; };
  const auto mse = [](const StudiedPoint& row) { return row.point.mse; };
  const auto eer = [](const StudiedPoint& row) { return row.figures.eer; };
  const auto d_sys = [](const StudiedPoint& row) { return row.figures.d_sys_unbiased; };
  std::vector<Plot> plots;
  plots.push_back(Curves(
      points, "distance-eps", "Distance from the original against epsilon", "E d(x, y), 0 to 1",
      "Smaller is closer to the original: more useful, less private.", true, false, distance));
  plots.push_back(Curves(points, "mse-eps", "Squared difference against epsilon", "MSE",
                         "Lower means weaker protection.", true, false, mse));
  Plot eer_plot = Curves(
      points, "eer-eps", "The attacker's equal error rate against epsilon", "EER",
      "50 % is chance. The dashed floor is what epsilon allows any attacker.", true, true, eer);
  PlotSeries floor;
  floor.name = "floor 1/(1 + e^epsilon)";
  floor.mark = Mark::kReference;
  for (const StudiedPoint& row : points) {
    if (!floor.x.empty() && row.point.eps <= floor.x.back()) break;
    floor.x.push_back(row.point.eps);
    floor.y.push_back(EerFloor(row.point.eps, 0.0));
  }
  eer_plot.series.push_back(floor);
  plots.push_back(eer_plot);
  plots.push_back(Curves(points, "linkability-eps", "Linkability against epsilon", "D_sys",
                         "0 is unlinkable, 1 fully linkable.", true, false, d_sys));
  plots.push_back(Curves(points, "distance-n", "Distance from the original against n",
                         "E d(x, y), 0 to 1", "With more candidates a close one is likelier.",
                         false, false, distance));
  plots.push_back(Curves(points, "eer-n", "The attacker's equal error rate against n", "EER",
                         "Lower is weaker protection.", false, true, eer));
  return plots;
}

}  // namespace

std::string StudyJson(const VoiceIndStudy& study) {
  ordered_json json = {{"measured", kMeasured},      {"method", "voice-ind"},
                       {"attacker", study.attacker}, {"speakers", study.speakers},
                       {"repeats", study.repeats},   {"points", ordered_json::array()}};
  for (const StudiedPoint& row : study.points) json["points"].push_back(JsonRow(row));
  return JsonText(json);
}

std::string StudyCsv(const VoiceIndStudy& study) {
  CsvTable table;
  for (const StudiedPoint& row : study.points) {
    const ordered_json values = JsonRow(row);
    table.header.clear();
    table.rows.emplace_back();
    for (const auto& [name, value] : values.items()) {
      table.header.push_back(name);
      table.rows.back().push_back(DumpJson(value));
    }
    table.header.emplace_back("measured");
    table.rows.back().emplace_back(kMeasured);
  }
  return FormatCsv(table);
}

std::string PrintedStudy(const VoiceIndStudy& study, const std::string& page, bool json) {
  if (json) return StudyJson(study);
  std::string text = fmt::format("{:>6} {:>8} {:>9} {:>8} {:>8} {:>9}\n", "n", "epsilon",
                                 "distance", "EER", "D_sys", "EER floor");
  for (const StudiedPoint& row : study.points) {
    text += fmt::format("{:>6} {:>8g} {:>9.4f} {:>8.4f} {:>8.4f} {:>9.2g}\n", row.point.n,
                        row.point.eps, row.point.expected_distance, row.figures.eer,
                        row.figures.d_sys_unbiased, EerFloor(row.point.eps, 0.0));
  }
  return text + fmt::format("{}\ncurves: {}\n", kMeasured, page);
}

AssessPage StudyPage(const VoiceIndStudy& study, const std::string& in, const std::string& pool) {
  AssessPage page;
  page.title = "Voice-indistinguishability: epsilon and n";
  page.subtitle = fmt::format("{} against a pool of {}", in, pool);
  page.notes = {
      fmt::format("{} speakers, {} draws each; the attacker compares original voiceprints "
                  "with released ones by {}",
                  study.speakers, study.repeats,
                  study.attacker.substr(study.attacker.find(' ') + 1)),
      kMeasuredOnPage};
  std::size_t most = 0;
  for (const StudiedPoint& row : study.points) most = std::max(most, row.point.n);
  for (const StudiedPoint& row : study.points) {
    if (row.point.n != most) continue;
    Figure figure;
    figure.name = fmt::format("eer at epsilon {:g}", row.point.eps);
    figure.value = row.figures.eer;
    figure.unit = "probability";
    figure.direction = Direction::kHigherIsMorePrivate;
    figure.attacker = study.attacker;
    figure.counts = {{"n_tar", row.point.tar.size()}, {"n_non", row.point.non.size()}};
    page.figures.push_back(std::move(figure));
  }
  page.plots = AllPlots(study.points);
  return page;
}

}  // namespace sotto
