#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "report/attack_page.h"
#include "report/evaluation_report.h"
#include "report/json_values.h"
#include "report/text_tables.h"

namespace sotto {
namespace {

// The EER of a row that ran; NaN without.
Figure Eer(const LadderRow* row) {
  const Figure* eer = row != nullptr ? row->Find("eer") : nullptr;
  Figure none;
  none.value = std::nan("");
  return eer != nullptr ? *eer : none;
}

// One mark for each protection by one recogniser. `k`: which.
Plot Plane(const Evaluation& evaluation, std::size_t k) {
  const EvaluatedCell& first = evaluation.cells.front();
  const std::string& recogniser = first.utility.recognisers[k].name;
  Plot plot{"plane-" + recogniser,
            fmt::format("Privacy against utility (words by {})", recogniser),
            "Up: the lowest equal error rate that any attacker reached, with its interval; 50 % is "
            "chance, lower means that speakers are linked better. Right: words lost. A good "
            "protection lies high and to the left.",
            {.label = fmt::format("word error rate, {}", recogniser), .low = 0.0, .percent = true},
            {.label = "lowest EER over attackers", .low = 0.0, .high = 0.55, .percent = true}};
  double widest = 0.05;
  const auto add = [&](PlotSeries& series, const Figure& eer, const Figure& wer,
                       const std::string& label) {
    const auto end = [](const Figure& figure, double Interval::*which) {
      return figure.interval ? (*figure.interval).*which : std::nan("");
    };
    series.Add(wer.value, eer.value);
    series.x_low.push_back(end(wer, &Interval::low));
    series.x_high.push_back(end(wer, &Interval::high));
    series.y_low.push_back(end(eer, &Interval::low));
    series.y_high.push_back(end(eer, &Interval::high));
    series.labels.push_back(label);
    for (const double x : {series.x.back(), series.x_high.back()}) {
      if (std::isfinite(x)) widest = std::max(widest, x);
    }
  };
  // One colour for each method, the strategies as names beside the points.
  std::map<std::string, std::size_t> of_method;
  for (const EvaluatedCell& cell : evaluation.cells) {
    const auto [place, fresh] = of_method.emplace(cell.method, plot.series.size());
    if (fresh) plot.series.push_back({cell.method, Mark::kPoints});
    add(plot.series[place->second], Eer(Lowest(cell.attack.ladder.rows)),
        ErrorRate("wer", cell.utility.recognisers[k], Side::kProtected), cell.Name());
  }
  PlotSeries original{"unprotected original", Mark::kPoints};
  add(original, Eer(Unprotected(evaluation)),
      ErrorRate("wer", first.utility.recognisers[k], Side::kOriginal), "unprotected");
  plot.series.push_back(std::move(original));
  plot.series.push_back({"chance", Mark::kReference, {0.0, 1.08 * widest}, {0.5, 0.5}});
  return plot;
}

// A row for each protection, as in the other tables: ten of them fit on a page, ten columns do not.
// Attackers who ran nowhere are left to the notes.
PageTable AttackerTable(const Evaluation& evaluation) {
  PageTable table{"EER % of each attacker (its lowest over back-ends, L and impostors)",
                  {"protection"}};
  const auto found = [](const EvaluatedCell& cell, Attacker attacker) -> const LadderRow* {
    const std::vector<LadderRow>& rows = cell.attack.ladder.rows;
    for (const std::size_t i : LowestRows(rows)) {
      if (rows[i].attacker == attacker && rows[i].ran) return &rows[i];
    }
    return nullptr;
  };
  const std::vector<LadderRow>& all = evaluation.cells.front().attack.ladder.rows;
  std::vector<Attacker> shown;
  for (const std::size_t i : LowestRows(all)) {
    const auto ran = [&](const EvaluatedCell& cell) {
      return found(cell, all[i].attacker) != nullptr;
    };
    if (!std::any_of(evaluation.cells.begin(), evaluation.cells.end(), ran)) continue;
    shown.push_back(all[i].attacker);
    table.header.push_back(Name(all[i].attacker));
  }
  for (const EvaluatedCell& cell : evaluation.cells) {
    std::vector<std::string> row = {cell.Name()};
    for (const Attacker attacker : shown) {
      const LadderRow* one = found(cell, attacker);
      row.push_back(one != nullptr ? Percent(Eer(one)) : "not run");
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

PageTable AttributesTable(const Evaluation& evaluation) {
  PageTable table{"Gender told from the protected speech",
                  {"protection", "attacker", "classifier", "accuracy %"}};
  for (const EvaluatedCell& cell : evaluation.cells) {
    for (const LadderRow& row : cell.attack.ladder.rows) {
      if (row.LinksSpeakers()) continue;
      const Figure* accuracy = row.ran ? row.Find("gender_accuracy") : nullptr;
      table.rows.push_back({cell.Name(), Name(row.attacker), row.backend,
                            !row.ran              ? "not run"
                            : accuracy != nullptr ? Percent(*accuracy)
                                                  : "–"});
    }
  }
  return table;
}

// After the columns of a table: one for each recogniser, then quality and melody.
void AddUtilityHeader(const Evaluation& evaluation, PageTable& table, const char* quality) {
  for (const RecogniserJudgement& one : evaluation.cells.front().utility.recognisers) {
    table.header.push_back(fmt::format("WER % {}", one.name));
  }
  table.header.insert(table.header.end(), {quality, "F0 corr."});
}

PageTable GenderTable(const Evaluation& evaluation) {
  PageTable table{"By gender (speakers who are claimed; the strongest attacker of each protection)",
                  {"protection", "gender", "EER %"}};
  AddUtilityHeader(evaluation, table, "DNSMOS OVR");
  for (const EvaluatedCell& cell : evaluation.cells) {
    const UtilityResult& utility = cell.utility;
    const auto groups = ByGender(utility);
    for (const Gender gender : {Gender::kFemale, Gender::kMale}) {
      std::vector<std::string> row = {cell.Name(), Word(gender), "–"};
      for (const CellAttack::OneGender& one : cell.attack.by_gender) {
        if (one.gender == gender) row.back() = Percent(one.eer);
      }
      const auto group = groups.find(Name(gender));
      if (group == groups.end()) {
        row.insert(row.end(), utility.recognisers.size() + 2, "–");
      } else {
        const UtilitySummary summary = Summarise(utility, group->second);
        for (std::size_t k = 0; k < utility.recognisers.size(); ++k) {
          const auto rate = [&](Side side) {
            return Percent(ErrorRate("wer", utility.recognisers[k], side, &summary.recognisers[k]));
          };
          row.push_back(fmt::format("{} → {}", rate(Side::kOriginal), rate(Side::kProtected)));
        }
        for (const Measure measure : {Measure::kOvrReleased, Measure::kPitchCorrelationLagged}) {
          row.push_back(Decimal(summary.means[static_cast<std::size_t>(measure)], 2));
        }
      }
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

PageTable LegalTable(const Evaluation& evaluation) {
  PageTable table{
      "Linked and singled out among N speakers, % (chance), by the strongest attacker of each "
      "protection",
      {"protection", "N", "linkability", "singling out"}};
  const auto among = [](double value, double chance) {
    return fmt::format("{} ({})", Percent(value), Percent(chance));
  };
  for (const EvaluatedCell& cell : evaluation.cells) {
    for (const CellAttack::Among& one : cell.attack.legal) {
      table.rows.push_back({cell.Name(), fmt::to_string(one.n),
                            among(one.linkability, one.linkability_chance),
                            among(one.singling_out, one.singling_out_chance)});
    }
  }
  return table;
}

PageTable ExposedSpeakers(const Evaluation& evaluation, const SpeakerNaming& naming) {
  PageTable table{"Most exposed speakers (strongest attacker of each protection)",
                  {"protection", "speaker", "mean target LLR", "mean non-target LLR"}};
  for (const EvaluatedCell& cell : evaluation.cells) {
    const std::vector<ZooSpeaker>& exposed = cell.attack.ladder.exposed;
    for (std::size_t s = 0; s < std::min(exposed.size(), kExposedSpeakers); ++s) {
      table.rows.push_back({cell.Name(), naming(exposed[s].name),
                            Decimal(exposed[s].mean_tar_llr, 2),
                            Decimal(exposed[s].mean_non_llr, 2)});
    }
  }
  return table;
}

PageTable CellTable(const EvaluatedCell& cell) {
  PageTable table = LadderTable(cell.attack.ladder);
  table.title = cell.Name() + ": attackers, the strongest first (all impostors)";
  table.header.pop_back();
  for (auto& row : table.rows) row.pop_back();
  return table;
}

// Sentences, each once, with the protections they are about.
class Notes {
 public:
  void Add(const std::string& text, const std::string& about) {
    for (auto& [known, cells] : notes_) {
      if (known != text) continue;
      cells.insert(about);
      return;
    }
    notes_.emplace_back(text, std::set<std::string>{about});
  }
  // What is about all `cells` says so by naming none.
  std::vector<std::string> Take(std::size_t cells) const {
    std::vector<std::string> list;
    for (const auto& [text, about] : notes_) {
      std::string names;
      for (const std::string& name : about) names += (names.empty() ? "" : "; ") + name;
      list.push_back(about.size() == cells ? text : fmt::format("{} ({})", text, names));
    }
    return list;
  }

 private:
  std::vector<std::pair<std::string, std::set<std::string>>> notes_;
};

// What each protection leaves, in sentences.
std::vector<std::string> RiskNotes(const Evaluation& evaluation) {
  std::vector<std::string> notes;
  for (const EvaluatedCell& cell : evaluation.cells) {
    notes.push_back(cell.Name() + ": " + ResidualRisk(cell.attack.ladder, Unprotected(evaluation)));
  }
  return notes;
}

void AddUtilityNotes(const Evaluation& evaluation, const EvaluatedCell& cell, Notes& notes) {
  const auto absent = [&](const char* figure, const std::string& reason) {
    notes.Add(fmt::format("{} is missing: {}", figure, reason), cell.Name());
  };
  const auto measure = [&](const char* name, Measure which) {
    const Figure* figure = FindMeasure(cell.utility, which);
    if (figure == nullptr || !std::isfinite(figure->value)) {
      absent(name, figure != nullptr ? figure->remark : "not measured");
    }
  };
  measure("dnsmos_ovr", Measure::kOvrReleased);
  measure("pitch_correlation", Measure::kPitchCorrelationLagged);
  if (!cell.protection.rtf) absent("rtf", cell.protection.rtf_reason);
  for (const RecogniserJudgement& one : cell.utility.recognisers) {
    const Figure rate = ErrorRate("wer", one, Side::kProtected);
    if (!rate.remark.empty()) {
      notes.Add(fmt::format("no word error rate by {}: {}", one.name, rate.remark), cell.Name());
      continue;
    }
    notes.Add(
        fmt::format(
            "{} heard {} of {} utterances{}", one.name, one.heard.size(), evaluation.utterances,
            one.heard.size() == evaluation.utterances ? "" : ", spread evenly over all speakers"),
        cell.Name());
    if (one.shares_model_with_method.value_or(false)) {
      notes.Add(
          fmt::format("{} is too kind a judge, because the protection uses its model", one.name),
          cell.Name());
    }
  }
}

std::vector<std::string> PageNotes(const Evaluation& evaluation) {
  std::vector<std::string> notes = RiskNotes(evaluation);
  Notes shared;
  for (const EvaluatedCell& cell : evaluation.cells) {
    const std::vector<LadderRow>& rows = cell.attack.ladder.rows;
    for (const std::size_t i : LowestRows(rows)) {
      if (rows[i].reason.empty()) continue;
      shared.Add(fmt::format("{}{}: {}", Name(rows[i].attacker), rows[i].ran ? "" : " was not run",
                             rows[i].reason),
                 cell.Name());
    }
    shared.Add(
        fmt::format("{} attacker, {}", Name(Attacker::kSemiInformed), SemiInformedText(cell)),
        cell.Name());
    AddUtilityNotes(evaluation, cell, shared);
  }
  for (std::string& note : shared.Take(evaluation.cells.size())) notes.push_back(std::move(note));
  if (evaluation.seed) {
    notes.push_back(
        fmt::format("seed {}: the draws of these copies are public. They are an "
                    "experiment, protect nobody and must not be released",
                    *evaluation.seed));
  }
  notes.push_back(fmt::format(
      "RTF: processor seconds on one core for a second of speech. F0 correlation: best within "
      "± 50 ms. DNSMOS: overall quality (OVR){}. D_sys (d_sys_unbiased) and ZEBRA are those of the "
      "strongest attacker",
      evaluation.quick && evaluation.utterances > kQuickRatedUtterances
          ? fmt::format(", of {} utterances spread over all speakers", kQuickRatedUtterances)
          : ""));
  notes.emplace_back(kMeasuredOnPage);
  const LadderRow* strongest = Lowest(evaluation.cells.front().attack.ladder.rows);
  notes.push_back(fmt::format("{} speakers, {} utterances; intervals: {:g} %, {}",
                              evaluation.speakers, evaluation.utterances, 100.0 * evaluation.level,
                              strongest != nullptr ? strongest->bootstrap : ""));
  return notes;
}

}  // namespace

PageTable SummaryTable(const Evaluation& evaluation) {
  PageTable table{"What each protection gives and costs",
                  {"method", "strategy", "lowest EER %", "by", "D_sys", "ZEBRA bit"}};
  AddUtilityHeader(evaluation, table, "DNSMOS");
  table.header.emplace_back("RTF");
  const auto add = [&](const std::string& method, const std::string& strategy,
                       const LadderRow* attacked, const UtilityResult& utility, Side side,
                       Measure quality) -> std::vector<std::string>& {
    std::vector<std::string>& row = table.rows.emplace_back();
    row = {method, strategy, "–", "–", "–", "–"};
    if (attacked != nullptr && std::isfinite(attacked->Value("eer"))) {
      row = {method,
             strategy,
             Percent(Eer(attacked)),
             Name(attacked->attacker),
             Decimal(attacked->Value("d_sys_unbiased"), 3),
             Decimal(attacked->Value("zebra.d_ece_bits"), 3)};
    }
    for (const RecogniserJudgement& one : utility.recognisers) {
      row.push_back(Percent(ErrorRate("wer", one, side)));
    }
    row.push_back(Decimal(FindMeasure(utility, quality), 2));
    return row;
  };
  for (const EvaluatedCell& cell : evaluation.cells) {
    auto& row = add(cell.method, Name(cell.strategy), Lowest(cell.attack.ladder.rows), cell.utility,
                    Side::kProtected, Measure::kOvrReleased);
    row.push_back(Decimal(FindMeasure(cell.utility, Measure::kPitchCorrelationLagged), 2));
    row.push_back(Decimal(cell.protection.rtf.value_or(std::nan("")), 3));
  }
  auto& row = add("none", "–", Unprotected(evaluation), evaluation.cells.front().utility,
                  Side::kOriginal, Measure::kOvrOriginal);
  row.insert(row.end(), 2, "–");
  return table;
}

std::string EvaluationText(const Evaluation& evaluation) {
  return TableText(SummaryTable(evaluation)) + Lines(RiskNotes(evaluation)) +
         fmt::format("{}\nsteps: {} done, {} found from an earlier run\n", kMeasured,
                     evaluation.steps_made, evaluation.steps_found);
}

AssessPage EvaluationPage(const Evaluation& evaluation, const SpeakerNaming& naming) {
  AssessPage page{
      "Privacy and utility",
      fmt::format("{} protection{} of {} utterances of {} speakers, attacked and measured",
                  evaluation.cells.size(), evaluation.cells.size() == 1 ? "" : "s",
                  evaluation.utterances, evaluation.speakers)};
  const auto& recognisers = evaluation.cells.front().utility.recognisers;
  for (std::size_t k = 0; k < recognisers.size(); ++k) {
    if (!ErrorRate("wer", recognisers[k], Side::kOriginal).remark.empty()) continue;
    Plot plot = Plane(evaluation, k);
    (page.lead_plots.empty() ? page.lead_plots : page.plots).push_back(std::move(plot));
  }
  page.lead = {SummaryTable(evaluation), AttackerTable(evaluation), GenderTable(evaluation)};
  page.notes = PageNotes(evaluation);
  page.tables = {LegalTable(evaluation), AttributesTable(evaluation),
                 ExposedSpeakers(evaluation, naming)};
  for (const EvaluatedCell& cell : evaluation.cells) page.tables.push_back(CellTable(cell));
  return page;
}

}  // namespace sotto
