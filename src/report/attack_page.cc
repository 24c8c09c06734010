#include "report/attack_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "assess/linkability.h"
#include "assess/verification.h"
#include "assess/verify.h"
#include "report/assess_plots.h"
#include "report/text_tables.h"

namespace sotto {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kDetPoints = 600;
constexpr std::size_t kListedSpeakers = 20, kPrintedSpeakers = 5;
constexpr const char* kExposed = "Most exposed speakers (strongest attacker)";

std::string Number(const LadderRow& row, std::string_view name, int digits = 3) {
  return Decimal(row.Value(name), digits);
}

std::string L(int l) { return l == 0 ? "all" : fmt::to_string(l); }

std::string SizeNote(const LadderResult& result) {
  return fmt::format("{} speakers, {} enrolment and {} trial utterances", result.speakers,
                     result.enrolment, result.trials);
}

// Those that ran by rising EER, then the others.
std::vector<std::size_t> WorstFirst(const LadderResult& result) {
  std::vector<std::size_t> rows = LowestRows(result.rows, "all");
  std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
    const LadderRow &x = result.rows[a], &y = result.rows[b];
    if (x.ran != y.ran) return x.ran;
    return x.ran && x.Value("eer") < y.Value("eer");
  });
  return rows;
}

Plot EerByL(const LadderResult& result) {
  Plot plot{"eer-by-l",
            "EER against the speech an attacker has",
            "Lowest over back-ends, all impostors. Lower is worse for privacy; chance is 50 %. "
            "The grey line is the same attacker on unprotected speech.",
            {"enrolment utterances averaged"},
            {.label = "EER", .low = 0.0, .percent = true}};
  const auto series = [](const std::vector<LadderRow>& rows, Attacker attacker) {
    std::map<int, double> lowest;
    for (const LadderRow& row : rows) {
      if (!row.ran || row.attacker != attacker || row.impostors != "all" || row.l == 0) continue;
      const auto [place, fresh] = lowest.emplace(row.l, row.Value("eer"));
      if (!fresh) place->second = std::min(place->second, row.Value("eer"));
    }
    PlotSeries line{Name(attacker), Mark::kMarked};
    for (const auto& [l, eer] : lowest) line.Add(l, eer);
    return line;
  };
  for (const std::size_t i : WorstFirst(result)) {
    PlotSeries line = series(result.rows, result.rows[i].attacker);
    if (!line.x.empty()) plot.series.push_back(std::move(line));
  }
  PlotSeries clean = series(result.unprotected, Attacker::kUnprotected);
  clean.mark = Mark::kReference;
  if (!clean.x.empty()) plot.series.push_back(std::move(clean));
  return plot;
}

std::vector<Plot> TrainingPlots(const std::vector<AttackerCurvePoint>& curve) {
  if (curve.empty()) return {};
  PlotSeries eer{"EER", Mark::kMarked}, loss{"loss", Mark::kMarked};
  for (const AttackerCurvePoint& point : curve) {
    eer.Add(point.step, point.held_out_eer);
    loss.Add(point.step, point.loss);
  }
  return {{"training-eer",
           "Learning of the retrained attacker: held-out EER",
           "On protected speech of training speakers that were held out. An attacker who is still "
           "learning is not yet the strongest one.",
           {"step"},
           {.label = "EER on held-out speakers", .low = 0.0, .percent = true},
           {eer}},
          {"training-loss",
           "Learning of the retrained attacker: loss",
           "",
           {"step"},
           {"loss", Scale::kLinear, 0.0},
           {loss}}};
}

// One colour for each name that `name_of` gives; points without one are not shown.
Plot MapPlot(const std::string& id, const std::string& title, const std::string& caption,
             const std::vector<MapPoint>& map, std::string (*name_of)(const MapPoint&)) {
  Plot plot{id, title, caption};
  std::map<std::string, PlotSeries> series;
  for (const MapPoint& point : map) {
    const std::string name = name_of(point);
    if (name.empty()) continue;
    PlotSeries& one = series.try_emplace(name, PlotSeries{name, Mark::kPoints}).first->second;
    one.Add(point.x, point.y);
    one.labels.emplace_back();
    one.hints.push_back(point.id);
  }
  for (auto& [name, one] : series) plot.series.push_back(std::move(one));
  return plot;
}

std::vector<Plot> MapPlots(const std::vector<MapPoint>& map) {
  if (map.empty()) return {};
  return {MapPlot("map-original", "Embedding map: originals by speaker",
                  "t-SNE of originals and protected recordings together; this picture shows the "
                  "originals. Distances between far groups mean nothing.",
                  map, [](const MapPoint& point) { return point.released ? "" : point.speaker; }),
          MapPlot("map-protected", "Embedding map: protected recordings by speaker",
                  "The same map. Colours that lie together here are speakers who can still be told "
                  "apart.",
                  map, [](const MapPoint& point) { return point.released ? point.speaker : ""; }),
          MapPlot("map-gender", "Embedding map by gender",
                  "The same map, both sides. Separate regions of one gender among the protected "
                  "points mean that gender is left.",
                  map, [](const MapPoint& point) {
                    return fmt::format("{}, {}", point.released ? "protected" : "original",
                                       Word(point.gender));
                  })};
}

PageTable AttributeTable(const LadderResult& result) {
  PageTable table{"Attributes: gender",
                  {"attacker", "classifier", "accuracy %", "balanced accuracy %", "EER %", "note"}};
  for (const LadderRow& row : result.rows) {
    if (row.LinksSpeakers()) continue;
    table.rows.push_back({Name(row.attacker), row.backend,
                          row.ran ? Percent(row.Find("gender_accuracy")) : "not run",
                          OnlyPercent(row.Find("gender_balanced_accuracy")),
                          OnlyPercent(row.Find("gender_eer")), row.reason});
  }
  return table;
}

JsonFields JsonRow(const LadderRow& row) {
  JsonFields f;
  f("attacker", Name(row.attacker))("backend", row.backend)("impostors", row.impostors)("l", row.l);
  f("status", row.ran ? "run" : "not run")("reason", row.reason);
  f("figures", ordered_json::object())("ci", ordered_json::object());
  for (const Figure& figure : row.figures) {
    if (IsUndefinedDSys(figure)) {
      f("figures")(figure.name, nullptr);
      f("d_sys_reason", kFewTargets);
      continue;
    }
    f("figures")(figure.name, figure.value);
    if (const auto& interval = figure.interval) {
      f("ci")(figure.name, ordered_json{JsonNumber(interval->low), JsonNumber(interval->high)});
    }
  }
  if (!row.figures.empty()) {
    for (const auto& [name, count] : row.figures.front().counts) f("counts")(name, count);
  }
  return f("bootstrap", row.bootstrap);
}

}  // namespace

bool IsUndefinedDSys(const Figure& figure) {
  static_assert(kFewestPublishedTargets == 20, "as kFewTargets says");
  if (figure.name != "d_sys") return false;
  return std::any_of(figure.counts.begin(), figure.counts.end(), [](const auto& count) {
    return count.first == "n_tar" && count.second < kFewestPublishedTargets;
  });
}

JsonFields ExposedJson(const ZooSpeaker& speaker, const std::string& name) {
  JsonFields f;
  f("speaker", name)("mean_tar_llr", speaker.mean_tar_llr);
  return f("mean_non_llr", speaker.mean_non_llr)("n_tar", speaker.n_tar)("n_non", speaker.n_non);
}

JsonFields LadderJson(const LadderResult& result) {
  JsonFields f;
  f("measured", kMeasured)("speakers", result.speakers)("enrolment", result.enrolment);
  f("trials", result.trials)("notes", result.notes)("worst", nullptr);
  if (result.worst != LadderResult::kNone) f("worst", JsonRow(result.rows[result.worst]));
  f("exposed", JsonList(result.exposed, [](const ZooSpeaker& speaker) {
      return ExposedJson(speaker, speaker.name);
    }));
  f("rows", JsonList(result.rows, JsonRow))("unprotected", JsonList(result.unprotected, JsonRow));
  f("training_curve", JsonList(result.curve, [](const AttackerCurvePoint& point) {
      JsonFields at;
      return at("step", point.step)("loss", point.loss)("held_out_eer", point.held_out_eer);
    }));
  return f;
}

PageTable LadderTable(const LadderResult& result) {
  PageTable table{"Attackers, the strongest first",
                  {"attacker", "back-end", "L", "EER %", "same gender EER %", "D_sys", "Cllr_min",
                   "ZEBRA bit", "top-1 %", "note"}};
  for (const std::size_t i : WorstFirst(result)) {
    const LadderRow& row = result.rows[i];
    if (!row.ran) {
      table.rows.push_back(
          {Name(row.attacker), "–", "–", "not run", "–", "–", "–", "–", "–", row.reason});
      continue;
    }
    const std::size_t sibling = SiblingRow(result.rows, i, "same_gender");
    table.rows.push_back(
        {Name(row.attacker), row.backend, L(row.l), Percent(row.Find("eer")),
         sibling == LadderResult::kNone ? "–" : Percent(result.rows[sibling].Find("eer")),
         Number(row, "d_sys_unbiased"), Number(row, "cllr_min"), Number(row, "zebra.d_ece_bits"),
         OnlyPercent(row.Find("top_k.1")), row.reason});
  }
  return table;
}

PageTable AllRowsTable(const LadderResult& result) {
  PageTable table{"All rows",
                  {"attacker", "back-end", "impostors", "L", "EER %", "EER ROCCH %", "Cllr_min",
                   "D_sys", "ZEBRA bit", "worst case log10", "top-1 %", "mean rank", "status"}};
  const auto add = [&](const LadderRow& row) {
    if (!row.LinksSpeakers()) return;
    table.rows.push_back({Name(row.attacker), row.backend, row.impostors, L(row.l),
                          Percent(row.Find("eer")), OnlyPercent(row.Find("eer_rocch")),
                          Number(row, "cllr_min"), Number(row, "d_sys_unbiased"),
                          Number(row, "zebra.d_ece_bits"), Number(row, "zebra.worst_case_log10", 2),
                          OnlyPercent(row.Find("top_k.1")), Number(row, "rank.mean", 1),
                          row.ran ? "run" : "not run: " + row.reason});
  };
  for (const LadderRow& row : result.unprotected) add(row);
  for (const LadderRow& row : result.rows) add(row);
  return table;
}

PageTable ExposedTable(const std::string& title, const std::vector<ZooSpeaker>& zoo,
                       std::size_t most, int digits) {
  PageTable table{title,
                  {"speaker", "mean target LLR", "mean non-target LLR", "targets", "non-targets"}};
  for (std::size_t s = 0; s < std::min(most, zoo.size()); ++s) {
    table.rows.push_back({zoo[s].name, fmt::format("{:.{}f}", zoo[s].mean_tar_llr, digits),
                          fmt::format("{:.{}f}", zoo[s].mean_non_llr, digits),
                          fmt::to_string(zoo[s].n_tar), fmt::to_string(zoo[s].n_non)});
  }
  return table;
}

std::string AttackText(const LadderResult& result) {
  std::string text = TableText(LadderTable(result)) +
                     TableText(ExposedTable(kExposed, result.exposed, kPrintedSpeakers, 2)) +
                     TableText(AttributeTable(result)) + SizeNote(result) + "\n";
  if (result.worst != LadderResult::kNone) {
    text += fmt::format("intervals: {}\n", result.rows[result.worst].bootstrap);
  }
  return text + Lines(result.notes) + kMeasured + "\n";
}

AssessPage AttackPage(const LadderResult& result, const std::string& source) {
  AssessPage page{"What attackers reach", source};
  page.lead = {LadderTable(result), AttributeTable(result)};
  // Remarks are sentences: they go below the tables.
  for (PageTable& table : page.lead) {
    table.header.pop_back();
    for (auto& row : table.rows) {
      if (!row.back().empty()) page.notes.push_back(row.front() + ": " + row.back());
      row.pop_back();
    }
  }
  page.notes.insert(page.notes.end(), result.notes.begin(), result.notes.end());
  page.notes.push_back(SizeNote(result));
  page.notes.emplace_back(kMeasuredOnPage);
  page.notes.emplace_back(
      "A protection is as good as the strongest attacker tried, and a stronger one may exist.");
  page.plots.push_back(EerByL(result));
  if (result.worst != LadderResult::kNone) {
    const LadderRow& worst = result.rows[result.worst];
    page.figures_title =
        fmt::format("The strongest attacker: {} ({}, L = {}, {} impostors)", Name(worst.attacker),
                    worst.backend, L(worst.l), worst.impostors == "all" ? "all" : "same-gender");
    page.figures = ShownFigures(worst.figures);
    page.notes.push_back("intervals: " + worst.bootstrap);
    const ScoreLevels data = MakeLevels(result.worst_trials);
    page.plots.push_back(DetPlot(RocPoints(data, kDetPoints)));
    page.plots.push_back(ScoreHistogram("scores", "Scores of the strongest attacker",
                                        "same speaker", "different speakers", data));
    page.plots.push_back(ZooPlot(result.exposed));
  }
  for (Plot& plot : TrainingPlots(result.curve)) page.plots.push_back(std::move(plot));
  for (Plot& plot : MapPlots(result.map)) page.plots.push_back(std::move(plot));
  page.tables = {ExposedTable(kExposed, result.exposed, kListedSpeakers, 2), AllRowsTable(result)};
  return page;
}

}  // namespace sotto
