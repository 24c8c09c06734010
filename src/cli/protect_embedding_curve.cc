// sotto protect-embedding --curve: what n and epsilon do to distance and to an attacker's figures
// (the curves of Han et al. 2020: MSE and verification accuracy against epsilon and n). A study of
// the voiceprints it is given: no epsilon covers what it writes.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "assess/verify.h"
#include "base/csv.h"
#include "base/files.h"
#include "base/json.h"
#include "cli/assess.h"
#include "cli/protect_embedding.h"
#include "dp/allows.h"
#include "report/assess_page.h"
#include "report/ladder_json.h"
#include "speaker/protect_embeddings.h"

namespace sotto::cli {
namespace {

using nlohmann::ordered_json;

struct Row {
  CurvePoint point;
  ScoreFigures figures;
};

ordered_json JsonRow(const Row& row) {
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
Plot Curves(const std::vector<Row>& rows, const std::string& id, const std::string& title,
            const std::string& label, const std::string& caption, bool over_eps, bool percent,
            double (*value)(const Row&)) {
  Plot plot;
  plot.id = id;
  plot.title = title;
  plot.caption = caption;
  plot.x.label = over_eps ? "epsilon" : "candidates n";
  plot.x.scale = Scale::kLog;
  plot.y.label = label;
  plot.y.percent = percent;
  for (const Row& row : rows) {
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

std::vector<Plot> AllPlots(const std::vector<Row>& rows) {
  const auto distance = [](const Row& row) { return row.point.expected_distance; };
  const auto mse = [](const Row& row) { return row.point.mse; };
  const auto eer = [](const Row& row) { return row.figures.eer; };
  const auto d_sys = [](const Row& row) { return row.figures.d_sys_unbiased; };
  std::vector<Plot> plots;
  plots.push_back(Curves(rows, "distance-eps", "Distance from the original against epsilon",
                         "E d(x, y), 0 to 1",
                         "Smaller is closer to the original: more useful, "
                         "less private.",
                         true, false, distance));
  plots.push_back(Curves(rows, "mse-eps", "Squared difference against epsilon", "MSE",
                         "As in the seed: lower means weaker protection.", true, false, mse));
  Plot eer_plot = Curves(rows, "eer-eps", "The attacker's equal error rate against epsilon", "EER",
                         "50 % is chance. The dashed floor is what epsilon allows any attacker.",
                         true, true, eer);
  PlotSeries floor;
  floor.name = "floor 1/(1 + e^epsilon)";
  floor.mark = Mark::kReference;
  for (const Row& row : rows) {
    if (!floor.x.empty() && row.point.eps <= floor.x.back()) break;
    floor.x.push_back(row.point.eps);
    floor.y.push_back(EerFloor(row.point.eps, 0.0));
  }
  eer_plot.series.push_back(floor);
  plots.push_back(eer_plot);
  plots.push_back(Curves(rows, "linkability-eps", "Linkability against epsilon", "D_sys",
                         "0 is unlinkable, 1 fully linkable.", true, false, d_sys));
  plots.push_back(Curves(rows, "distance-n", "Distance from the original against n",
                         "E d(x, y), 0 to 1", "With more candidates a close one is likelier.",
                         false, false, distance));
  plots.push_back(Curves(rows, "eer-n", "The attacker's equal error rate against n", "EER",
                         "Lower is weaker protection.", false, true, eer));
  return plots;
}

CsvTable Table(const ordered_json& points) {
  CsvTable table;
  for (const auto& [name, value] : points.front().items()) table.header.push_back(name);
  table.header.emplace_back("measured");
  for (const auto& point : points) {
    std::vector<std::string> fields;
    for (const auto& [name, value] : point.items()) fields.push_back(DumpJson(value));
    fields.emplace_back(kMeasured);
    table.rows.push_back(std::move(fields));
  }
  return table;
}

}  // namespace

void ProtectCurveFlags::Add(CLI::App& verb) {
  verb.add_option("--curve", out,
                  "voice-ind: write curve.json, curve.csv and curve.html here, nothing else")
      ->type_name("DIR");
  verb.add_option("--curve-eps", eps, "Its epsilons, with commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::PositiveNumber);
  verb.add_option("--curve-n", n,
                  "Its numbers of candidates (default: a sixteenth, a quarter and all of the pool)")
      ->default_str("")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::PositiveNumber);
  verb.add_option("--curve-repeats", repeats, "Draws for each speaker and point")
      ->check(CLI::PositiveNumber);
}

void RunProtectCurve(const ProtectCurveFlags& flags, const std::string& in, const std::string& pool,
                     const std::string& plda, const TargetFlags& target, int jobs, bool json) {
  const EmbeddingSet source = ReadSource(in);
  const EmbeddingSet voices = ReadPoolEmbeddings(pool);
  CurveOptions options;
  options.eps = flags.eps;
  std::sort(options.eps.begin(), options.eps.end());
  options.n = flags.n;
  if (options.n.empty()) {
    const std::size_t all = voices.BySpeaker().size();
    options.n = {std::max<std::size_t>(1, all / 16), std::max<std::size_t>(1, all / 4), all};
  }
  options.repeats = flags.repeats;
  options.plda = plda;
  options.jobs = jobs;
  const Key key = ChooseKey(target.seed, target.key_file);
  std::vector<Row> rows;
  const VerifyOptions verify;
  for (CurvePoint& point : VoiceIndCurve(source, voices, options, key)) {
    const ScoreLevels levels = MakeLevels(point.tar, point.non);
    rows.push_back({std::move(point), MeasureScores(levels, verify)});
  }
  ordered_json points = ordered_json::array();
  for (const Row& row : rows) points.push_back(JsonRow(row));
  const ordered_json whole = {{"measured", kMeasured},
                              {"method", "voice-ind"},
                              {"attacker", plda.empty() ? "ignorant, cosine" : "ignorant, PLDA"},
                              {"speakers", source.BySpeaker().size()},
                              {"repeats", options.repeats},
                              {"points", points}};
  const std::filesystem::path folder = flags.out;
  MakeFolder(folder);
  WriteFileAtomically(folder / "curve.json", DumpJson(whole, 2) + "\n");
  WriteFileAtomically(folder / "curve.csv", FormatCsv(Table(points)));
  AssessPage page;
  page.title = "Voice-indistinguishability: epsilon and n";
  page.subtitle = fmt::format("{} against a pool of {}", in, pool);
  page.notes = {
      fmt::format("{} speakers, {} draws each; the attacker compares original voiceprints "
                  "with released ones by {}",
                  source.BySpeaker().size(), options.repeats, plda.empty() ? "cosine" : "PLDA")};
  page.notes.emplace_back(kMeasuredOnPage);
  const std::size_t most = *std::max_element(options.n.begin(), options.n.end());
  for (const Row& row : rows) {
    if (row.point.n != most) continue;
    Figure figure;
    figure.name = fmt::format("eer at epsilon {:g}", row.point.eps);
    figure.value = row.figures.eer;
    figure.unit = "probability";
    figure.direction = Direction::kHigherIsMorePrivate;
    figure.attacker = whole["attacker"].get<std::string>();
    figure.counts = {{"n_tar", row.point.tar.size()}, {"n_non", row.point.non.size()}};
    page.figures.push_back(std::move(figure));
  }
  page.plots = AllPlots(rows);
  WritePage(folder / "curve.html", RenderAssessPage(page));
  if (json) {
    PrintJson(whole);
    return;
  }
  fmt::print("{:>6} {:>8} {:>9} {:>8} {:>8} {:>9}\n", "n", "epsilon", "distance", "EER", "D_sys",
             "EER floor");
  for (const Row& row : rows) {
    fmt::print("{:>6} {:>8g} {:>9.4f} {:>8.4f} {:>8.4f} {:>9.2g}\n", row.point.n, row.point.eps,
               row.point.expected_distance, row.figures.eer, row.figures.d_sys_unbiased,
               EerFloor(row.point.eps, 0.0));
  }
  fmt::print("{}\n", kMeasured);
  fmt::print("curves: {}\n", (folder / "curve.html").string());
}

}  // namespace sotto::cli
