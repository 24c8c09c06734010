#include "report/spoof_figures.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "assess/verification.h"
#include "report/assess_plots.h"
#include "report/json_values.h"
#include "report/text_tables.h"

namespace sotto {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kDetPoints = 600;

const char* Policy(bool decision_only) { return decision_only ? "decision" : "score"; }

void AddFigures(const SpoofFigures& figures, ordered_json& json) {
  for (const Figure& figure : figures.figures) json["figures"][figure.name] = JsonFigure(figure);
  json["bootstrap"] = figures.bootstrap;
}

ordered_json JsonRow(const SpoofRow& row) {
  ordered_json json = {{"utterance", row.utterance}, {"attack", row.attack}};
  json["bona_fide"] = row.bona_fide ? ordered_json(*row.bona_fide) : ordered_json(nullptr);
  json["score"] = row.score;
  json["decision"] = row.accepted ? "genuine" : "spoof";
  return json;
}

std::vector<Plot> Plots(const SpoofScores& scores) {
  std::vector<double> bona, spoof;
  for (const SpoofRow& row : scores.rows) {
    if (row.bona_fide && row.refused.empty()) (*row.bona_fide ? bona : spoof).push_back(row.score);
  }
  if (bona.empty() || spoof.empty()) return {};
  const ScoreLevels levels = MakeLevels(bona, spoof);
  Plot det = DetPlot(RocPoints(levels, kDetPoints));
  det.caption =
      "Both error rates of the countermeasure as its threshold moves, on normal-deviate axes: "
      "spoofs "
      "taken for genuine speech, and genuine speech rejected.";
  return {ScoreHistogram("scores", "Score histograms", "genuine", "spoof", levels), det};
}

std::string CountsText(const SpoofScores& scores) {
  std::size_t accepted = 0;
  for (const SpoofRow& row : scores.rows) accepted += row.accepted ? 1 : 0;
  return fmt::format(
      "{} utterances by {}: {} taken for genuine (score at least {:.6g}), {} refused",
      scores.rows.size(), scores.model, accepted, scores.threshold, scores.Refused());
}

std::string DifferenceText(const TrainedSpoof& trained) {
  return fmt::format(
      "integers against floats: {} of {} decisions flipped, largest difference of a score {:.3g}",
      trained.flipped, trained.compared, trained.largest_difference);
}

PageTable ControlTable(const TrainedSpoof& trained) {
  PageTable table{"Controls: EER on held-out speech of a net that is told only this (chance 0.5)",
                  {"told", "of the recordings", "of what the countermeasure hears"}};
  for (const SpoofControl& control : trained.controls) {
    table.rows.push_back({control.name, fmt::format("{:.3f}", control.eer_recorded),
                          fmt::format("{:.3f}", control.eer_heard)});
  }
  return table;
}

std::string TrainedOnText(const TrainedSpoof& trained) {
  return fmt::format(
      "{} trained on {} cuts ({} genuine) of {} utterances, {} refused; lowest loss {:.4g}",
      trained.model.name, trained.cuts, trained.cuts_bona_fide, trained.utterances,
      trained.refused.size(), *std::min_element(trained.losses.begin(), trained.losses.end()));
}

constexpr const char* kHeldOut =
    "Held-out speakers, voices and the attack that was left out whole:";

}  // namespace

std::string SpoofScoresJson(const SpoofScores& scores, const std::optional<SpoofFigures>& figures,
                            const std::string& file) {
  ordered_json json = {{"model", scores.model},
                       {"features", scores.features},
                       {"policy", Policy(scores.decision_only)},
                       {"threshold", JsonNumber(scores.threshold)},
                       {"scored", scores.rows.size() - scores.Refused()}};
  json["refused"] = ordered_json::array();
  for (const SpoofRow& row : scores.rows) {
    if (row.refused.empty()) continue;
    json["refused"].push_back({{"utterance", row.utterance}, {"reason", row.refused}});
  }
  if (figures) AddFigures(*figures, json);
  if (!file.empty()) {
    json["file"] = file;
    return JsonText(json);
  }
  json["scores"] = ordered_json::array();
  for (const SpoofRow& row : scores.rows) {
    if (row.refused.empty()) json["scores"].push_back(JsonRow(row));
  }
  return JsonText(json);
}

std::string SpoofScoresText(const SpoofScores& scores, const std::optional<SpoofFigures>& figures,
                            const std::string& file) {
  std::string text = CountsText(scores) + (file.empty() ? "\n" : fmt::format(": {}\n", file));
  if (figures) {
    text += FiguresText(figures->figures) + fmt::format("intervals: {}\n", figures->bootstrap);
  }
  return text;
}

AssessPage SpoofScoresPage(const SpoofScores& scores, const std::optional<SpoofFigures>& figures,
                           const std::string& source) {
  AssessPage page;
  page.title = "Anti-spoofing: genuine or synthetic";
  page.subtitle = source;
  page.notes = {CountsText(scores), fmt::format("features {}", scores.features)};
  if (figures) {
    page.figures = figures->figures;
    page.notes.push_back("intervals: " + figures->bootstrap);
  }
  page.plots = Plots(scores);
  if (scores.Refused() > 0) {
    PageTable refused{"Refused", {"utterance", "reason"}};
    for (const SpoofRow& row : scores.rows) {
      if (!row.refused.empty()) refused.rows.push_back({row.utterance, row.refused});
    }
    page.tables.push_back(std::move(refused));
  }
  return page;
}

std::string TrainedSpoofJson(const TrainedSpoof& trained, const SpoofFigures& figures,
                             const std::string& file) {
  const SpoofModel& model = trained.model;
  ordered_json json = {{"file", file},
                       {"name", model.name},
                       {"features", model.front_end.Fingerprint()},
                       {"policy", Policy(model.net.decision_only)},
                       {"threshold", JsonNumber(model.Threshold())},
                       {"utterances", trained.utterances},
                       {"cuts", trained.cuts},
                       {"cuts_bona_fide", trained.cuts_bona_fide},
                       {"losses", trained.losses},
                       {"compared", trained.compared},
                       {"flipped", trained.flipped},
                       {"largest_difference", trained.largest_difference}};
  json["refused"] = ordered_json::array();
  for (const auto& [utterance, reason] : trained.refused) {
    json["refused"].push_back({{"utterance", utterance}, {"reason", reason}});
  }
  for (const SpoofControl& control : trained.controls) {
    json["controls"][control.name] = {{"eer_recorded", JsonNumber(control.eer_recorded)},
                                      {"eer_heard", JsonNumber(control.eer_heard)}};
  }
  AddFigures(figures, json);
  return JsonText(json);
}

std::string TrainedSpoofText(const TrainedSpoof& trained, const SpoofFigures& figures,
                             const std::string& file) {
  return fmt::format("{}: {}\n{}\n{}\n", TrainedOnText(trained), file, DifferenceText(trained),
                     kHeldOut) +
         FiguresText(figures.figures) + fmt::format("intervals: {}\n\n", figures.bootstrap) +
         TableText(ControlTable(trained));
}

AssessPage TrainedSpoofPage(const TrainedSpoof& trained, const SpoofFigures& figures,
                            const std::string& file) {
  AssessPage page = SpoofScoresPage(trained.held_out, figures, file);
  page.title = "Anti-spoofing: a trained countermeasure on what was held out";
  page.notes.insert(page.notes.begin(), {TrainedOnText(trained), DifferenceText(trained)});
  page.tables.push_back(ControlTable(trained));
  PlotSeries losses{"loss", Mark::kMarked};
  for (std::size_t i = 0; i < trained.losses.size(); ++i) {
    losses.Add(static_cast<double>(i + 1), trained.losses[i]);
  }
  page.plots.push_back({"loss",
                        "Training loss",
                        "Logistic loss over all cuts after each epoch; the lowest was kept.",
                        {"epoch"},
                        {"loss", Scale::kLinear, 0.0},
                        {losses},
                        {}});
  return page;
}

}  // namespace sotto
