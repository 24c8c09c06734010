#include "report/hiding_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "attack/hiding_published.h"
#include "report/hiding_figures.h"
#include "report/json_values.h"
#include "report/text_tables.h"

namespace sotto {
namespace {

// A figure with its interval, of the voices of all folders.
using Reading = std::function<Resampled(const HidingPart&)>;

Resampled Eer(const HidingPart& part) { return part.utility.templates; }

Resampled Best(const std::vector<AttackerAuc>& attackers) {
  const BestAttacker best = BestOf(attackers);
  return {best.auc, best.interval, {}};
}

// The attacker of the source: a net trained on clean voiceprints.
Resampled UninformedNet(const HidingPart& part) {
  for (const AttackerAuc& one : part.privacy.uninformed) {
    if (one.classifier == AttributeClassifier::kNet) return one.auc;
  }
  return {};
}

Resampled BestInformed(const HidingPart& part) { return Best(part.privacy.informed); }

void AddPoint(PlotSeries& series, double x, const Resampled& y, const std::string& hint) {
  series.Add(x, y.value);
  series.y_low.push_back(y.interval ? y.interval->low : y.value);
  series.y_high.push_back(y.interval ? y.interval->high : y.value);
  series.hints.push_back(hint);
}

// Rows of gender-aae for which `x` says where they stand, in its order.
PlotSeries Curve(const HidingStudy& study, const std::string& name, const Reading& reading,
                 const std::function<std::optional<double>(const StudiedDefence&)>& x) {
  std::vector<std::pair<double, const HidingRow*>> found;
  for (const HidingRow& row : study.rows) {
    if (const auto at = x(row.defence); row.defence.eps_train && at) found.emplace_back(*at, &row);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  PlotSeries series{.name = name, .mark = Mark::kMarked};
  for (const auto& [at, row] : found) {
    AddPoint(series, at, reading(row->parts[0]), DefenceName(row->defence));
  }
  return series;
}

PlotSeries Published(const std::string& name, bool eer,
                     const std::function<std::optional<double>(const PublishedHiding&)>& x) {
  PlotSeries series{.name = name, .mark = Mark::kPoints};
  for (const PublishedHiding& point : PublishedGenderAae()) {
    const auto at = x(point);
    const auto& value = eer ? point.eer : point.auc;
    if (!at || !std::isfinite(*at) || !value) continue;
    series.Add(*at, *value);
    series.hints.push_back(point.what + (point.said.empty() ? "" : ", " + point.said));
  }
  return series;
}

// A level that does not depend on the axis.
PlotSeries LevelLine(const std::string& name, double value, const std::vector<PlotSeries>& beside) {
  double low = 1e300, high = -1e300;
  for (const PlotSeries& series : beside) {
    for (const double x : series.x) low = std::min(low, x), high = std::max(high, x);
  }
  PlotSeries line{.name = name, .mark = Mark::kReference};
  if (low <= high && std::isfinite(value)) {
    line.Add(low, value);
    line.Add(high, value);
  }
  return line;
}

void AddSeries(Plot& plot, PlotSeries series) {
  if (!series.x.empty()) plot.series.push_back(std::move(series));
}

// Where "no noise" stands on an axis of epsilons: beyond all of them.
double Edge(const HidingStudy& study, std::optional<double> StudiedDefence::*eps) {
  double largest = 1.0;
  for (const HidingRow& row : study.rows) {
    const auto& value = row.defence.*eps;
    if (row.defence.eps_train && value && std::isfinite(*value)) {
      largest = std::max(largest, *value);
    }
  }
  return 2.0 * largest;
}

// Figure 2: against eps-train, without noise at use and with the same.
Plot AgainstTraining(const HidingStudy& study, Plot plot, bool eer) {
  const double edge = Edge(study, &StudiedDefence::eps_train);
  const auto place = [edge](double eps) { return std::isfinite(eps) ? eps : edge; };
  using Place = std::optional<double>;
  const auto without = [&](const auto& one) {
    return one.eps_train && !one.eps ? Place(place(*one.eps_train)) : std::nullopt;
  };
  const auto same = [](const auto& one) {
    return one.eps == one.eps_train ? one.eps : std::nullopt;
  };
  if (eer) {
    AddSeries(plot, Curve(study, "no noise at use", Eer, without));
    AddSeries(plot, Curve(study, "eps at use = eps-train", Eer, same));
  } else {
    AddSeries(plot, Curve(study, "uninformed net, no noise at use", UninformedNet, without));
    AddSeries(plot, Curve(study, "uninformed net, eps at use = eps-train", UninformedNet, same));
    AddSeries(plot, Curve(study, "best informed, no noise at use", BestInformed, without));
    AddSeries(plot, Curve(study, "best informed, eps at use = eps-train", BestInformed, same));
  }
  AddSeries(plot, Published("published, no noise at use", eer, without));
  AddSeries(plot, Published("published, eps at use = eps-train", eer, same));
  AddSeries(plot, Published("published, unprotected", eer, [edge](const PublishedHiding& point) {
              return point.eps_train ? std::nullopt : Place(edge);
            }));
  const Resampled clean = eer ? Eer(study.rows[0].parts[0]) : UninformedNet(study.rows[0].parts[0]);
  AddSeries(plot, LevelLine("unprotected", clean.value, plot.series));
  return plot;
}

// Figure 3: against eps at use, for each eps-train that was tried at several.
Plot AgainstUse(const HidingStudy& study, Plot plot, bool eer) {
  const double edge = Edge(study, &StudiedDefence::eps);
  std::vector<double> trained;
  for (const HidingRow& row : study.rows) {
    const StudiedDefence& d = row.defence;
    if (!d.eps_train || !d.eps || d.eps == d.eps_train) continue;
    if (trained.empty() || trained.back() != *d.eps_train) trained.push_back(*d.eps_train);
  }
  for (const double eps_train : trained) {
    const auto at_use = [eps_train, edge](const auto& one) {
      return one.eps_train == eps_train ? std::optional(one.eps.value_or(edge)) : std::nullopt;
    };
    const std::string name = fmt::format("eps-train {:g}", eps_train);
    if (eer) {
      AddSeries(plot, Curve(study, name, Eer, at_use));
    } else {
      AddSeries(plot, Curve(study, name + ", uninformed net", UninformedNet, at_use));
      AddSeries(plot, Curve(study, name + ", best informed", BestInformed, at_use));
    }
    AddSeries(plot, Published("published, " + name, eer, at_use));
  }
  return plot;
}

std::vector<Plot> Curves(const HidingStudy& study) {
  const PlotAxis trained{.label = "eps-train", .scale = Scale::kLog};
  const PlotAxis used{.label = "eps at use", .scale = Scale::kLog};
  const PlotAxis error{.label = "EER by templates", .low = 0.0, .percent = true};
  const PlotAxis area{.label = "AUC", .low = 0.3, .high = 1.0};
  std::vector<Plot> plots = {
      AgainstTraining(
          study,
          {"eer-train", "Figure 2 of the source: EER against eps-train",
           "Low is good. Single points are the source's. At the right edge: trained without "
           "noise.",
           trained, error},
          true),
      AgainstTraining(study,
                      {"auc-train", "Figure 2 of the source: AUC against eps-train",
                       "0.5 is chance. The source reports the uninformed attacker alone; the "
                       "informed one was trained on protected voiceprints. At the right edge: "
                       "trained without noise.",
                       trained, area},
                      false),
      AgainstUse(study,
                 {"eer-use", "Figure 3 of the source: EER against eps at use",
                  "Low is good. At the right edge: no noise at use.", used, error},
                 true),
      AgainstUse(study,
                 {"auc-use", "Figure 3 of the source: AUC against eps at use",
                  "0.5 is chance. At the right edge: no noise at use. What eps guarantees is its "
                  "ceiling in the table, far above these.",
                  used, area},
                 false)};
  std::erase_if(plots, [](const Plot& plot) {
    return std::none_of(plot.series.begin(), plot.series.end(),
                        [](const PlotSeries& s) { return s.mark == Mark::kMarked; });
  });
  return plots;
}

// Every defence: what it costs and what is read off it.
Plot Overview(const HidingStudy& study) {
  Plot plot{"overview",
            "What each defence costs and what attackers still read",
            "To the left the service still knows its users; at the bottom (0.5) attackers read "
            "nothing. The best of five attackers of each kind, with 95 % intervals over speakers.",
            {.label = "EER of pairs, times the unprotected", .scale = Scale::kLog},
            {.label = "AUC of the best attacker", .low = 0.45, .high = 1.0}};
  const std::pair<const char*, std::vector<AttackerAuc> HidingPrivacy::*> kinds[] = {
      {"in-domain", &HidingPrivacy::in_domain},
      {"informed", &HidingPrivacy::informed},
      {"uninformed", &HidingPrivacy::uninformed}};
  for (const auto& [name, list] : kinds) {
    PlotSeries series{.name = name, .mark = Mark::kPoints};
    for (const HidingRow& row : study.rows) {
      const HidingPart& part = row.parts[0];
      if (row.defence.only_curve || (part.privacy.*list).empty()) continue;
      AddPoint(series, part.pairs_ratio.value, Best(part.privacy.*list), DefenceName(row.defence));
      series.labels.push_back(list == &HidingPrivacy::in_domain ? DefenceName(row.defence) : "");
    }
    AddSeries(plot, std::move(series));
  }
  return plot;
}

PageTable AttackersTable(const HidingStudy& study, std::size_t part) {
  PageTable table{fmt::format("AUC of every attacker, {}", study.rows[0].parts[part].name),
                  {"defence", "attacker"}};
  for (const AttributeClassifier classifier : kAttributeClassifiers) {
    table.header.emplace_back(Name(classifier));
  }
  for (const HidingRow& row : study.rows) {
    const HidingPrivacy& privacy = row.parts[part].privacy;
    for (const auto& [name, list] :
         {std::pair("uninformed", &privacy.uninformed), std::pair("informed", &privacy.informed),
          std::pair("in-domain", &privacy.in_domain)}) {
      if (row.defence.only_curve && list->empty()) continue;
      table.rows.push_back({DefenceName(row.defence), name});
      for (std::size_t k = 0; k < kAttributeClassifiers.size(); ++k) {
        table.rows.back().push_back(
            list->empty() ? "not applicable"
                          : WithInterval((*list)[k].auc.value, (*list)[k].auc.interval, 1.0, 2));
      }
    }
  }
  return table;
}

PageTable FairnessTable(const HidingStudy& study, std::size_t part) {
  PageTable table{fmt::format("Fairness, {} (pairs within a category; EER: low is good; GARBE: 0 "
                              "is fair; FDR: 1 is fair; both at an FMR of 1 %, alpha 0.5)",
                              study.rows[0].parts[part].name),
                  {"defence", "EER within categories, %"}};
  for (const std::string& category : study.categories) {
    table.header.push_back(fmt::format("EER {}, %", category));
  }
  table.header.insert(table.header.end(), {"GARBE", "FDR", "auFDR, FMR 0.1 to 10 %"});
  for (const HidingRow& row : study.rows) {
    if (row.defence.only_curve) continue;
    const HidingUtility& utility = row.parts[part].utility;
    std::vector<std::string> cells = {
        DefenceName(row.defence),
        WithInterval(utility.same_category.value, utility.same_category.interval, 100.0, 1)};
    for (const Resampled& eer : utility.by_category) {
      cells.push_back(WithInterval(eer.value, eer.interval, 100.0, 1));
    }
    cells.push_back(WithInterval(utility.garbe.value, utility.garbe.interval, 1.0, 2));
    cells.push_back(Decimal(utility.fdr, 3));
    cells.push_back(Decimal(utility.au_fdr, 3));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

PageTable PublishedTable() {
  PageTable table{std::string("Published: ") + kPublishedGenderAae,
                  {"auto-encoder of the source", "eps-train", "eps at use", "EER, %",
                   "AUC uninformed", "in its words"}};
  const auto eps = [](const std::optional<double>& value) {
    return !value ? "none" : std::isinf(*value) ? "inf" : fmt::format("{:g}", *value);
  };
  for (const PublishedHiding& point : PublishedGenderAae()) {
    table.rows.push_back({point.what, eps(point.eps_train), eps(point.eps),
                          point.eer ? fmt::format("{:.4g}", 100.0 * *point.eer) : "–",
                          point.auc ? fmt::format("{:.4g}", *point.auc) : "–", point.said});
  }
  return table;
}

}  // namespace

AssessPage HidingPage(const HidingStudy& study, const std::string& subtitle) {
  AssessPage page;
  page.title = fmt::format("Hiding {} in voiceprints", study.attribute);
  page.subtitle = subtitle;
  page.notes = HidingNotes(study);
  page.notes.emplace_back(kMeasuredOnPage);
  page.lead_plots = {Overview(study)};
  page.plots = Curves(study);
  for (std::size_t p = 0; p < study.rows[0].parts.size(); ++p) {
    page.lead.push_back(HidingTable(study, p));
    page.lead.push_back(HidingDetails(study, p));
  }
  for (std::size_t p = 0; p < study.rows[0].parts.size(); ++p) {
    page.tables.push_back(AttackersTable(study, p));
    page.tables.push_back(FairnessTable(study, p));
  }
  page.tables.push_back(PublishedTable());
  return page;
}

}  // namespace sotto
