#include "evaluate/evaluation_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "report/attack_page.h"
#include "report/ladder_json.h"

namespace sotto {
namespace {

using Json = nlohmann::ordered_json;

double Value(const Json& json) { return json.is_number() ? json.get<double>() : std::nan(""); }

std::string Text(const Json& json, int digits) {
  return json.is_number() ? fmt::format("{:.{}f}", json.get<double>(), digits) : "–";
}

std::string Percent(const Json& value, const Json& ends = nullptr) {
  if (!value.is_number()) return "–";
  std::string text = fmt::format("{:.1f}", 100.0 * value.get<double>());
  if (ends.is_array() && ends[0].is_number() && ends[1].is_number()) {
    text += fmt::format(" [{:.1f}, {:.1f}]", 100.0 * ends[0].get<double>(),
                        100.0 * ends[1].get<double>());
  }
  return text;
}

Json Ends(const Json& entry) { return entry.contains("ci") ? entry["ci"] : Json(nullptr); }

std::string CellName(const Json& cell) {
  return fmt::format("{}, {}", cell.at("method").get<std::string>(),
                     cell.at("strategy").get<std::string>());
}

// One mark for each protection by one recogniser. `k`: which.
Plot Plane(const Json& json, std::size_t k) {
  const std::string recogniser = json.at("reference").at("wer")[k].at("recogniser");
  Plot plot;
  plot.id = "plane-" + recogniser;
  plot.title = fmt::format("Privacy against utility (words by {})", recogniser);
  plot.caption =
      "Up: the lowest equal error rate that any attacker reached, with its interval; 50 % is "
      "chance, lower means that speakers are linked better. Right: words lost. A good protection "
      "lies high and to the left.";
  plot.x = {fmt::format("word error rate, {}", recogniser), Scale::kLinear, 0.0, {}, {}, true};
  plot.y = {"lowest EER over attackers", Scale::kLinear, 0.0, 0.55, {}, true};
  double widest = 0.05;
  const auto add = [&](PlotSeries& series, const Json& row, const Json& wer,
                       const std::string& label) {
    series.x.push_back(Value(wer.at("wer")));
    series.y.push_back(row.is_null() ? std::nan("") : Value(row.at("eer")));
    const Json x_ends = Ends(wer), y_ends = row.is_null() ? Json(nullptr) : Ends(row);
    const auto end = [](const Json& ends, std::size_t i) {
      return ends.is_array() ? Value(ends[i]) : std::nan("");
    };
    series.x_low.push_back(end(x_ends, 0));
    series.x_high.push_back(end(x_ends, 1));
    series.y_low.push_back(end(y_ends, 0));
    series.y_high.push_back(end(y_ends, 1));
    series.labels.push_back(label);
    for (const double x : {series.x.back(), series.x_high.back()}) {
      if (std::isfinite(x)) widest = std::max(widest, x);
    }
  };
  // One colour for each method, the strategies as names beside the points.
  std::map<std::string, std::size_t> of_method;
  for (const Json& cell : json.at("cells")) {
    const std::string method = cell.at("method");
    const auto [place, fresh] = of_method.emplace(method, plot.series.size());
    if (fresh) {
      plot.series.emplace_back();
      plot.series.back().name = method;
      plot.series.back().mark = Mark::kPoints;
    }
    add(plot.series[place->second], cell.at("worst"), cell.at("wer")[k], CellName(cell));
  }
  PlotSeries original;
  original.name = "unprotected original";
  original.mark = Mark::kPoints;
  add(original, json["reference"], json["reference"]["wer"][k], "unprotected");
  plot.series.push_back(std::move(original));
  PlotSeries chance;
  chance.name = "chance";
  chance.mark = Mark::kReference;
  chance.x = {0.0, 1.08 * widest};
  chance.y = {0.5, 0.5};
  plot.series.push_back(std::move(chance));
  return plot;
}

// A row for each protection, as in the other tables: ten of them fit on a page, ten columns do not.
// Attackers who ran nowhere are left to the notes.
PageTable AttackerTable(const Json& json) {
  PageTable table{
      "EER % of each attacker (its lowest over back-ends, L and impostors)", {"protection"}, {}};
  const Json& cells = json.at("cells");
  const auto found = [](const Json& cell, const std::string& attacker) -> const Json* {
    for (const Json& one : cell.at("attackers")) {
      if (one.at("attacker") == attacker && one.at("status") == "run") return &one;
    }
    return nullptr;
  };
  for (const Json& one : cells[0].at("attackers")) {
    const std::string attacker = one.at("attacker");
    const auto ran = [&](const Json& cell) { return found(cell, attacker) != nullptr; };
    if (std::any_of(cells.begin(), cells.end(), ran)) table.header.push_back(attacker);
  }
  for (const Json& cell : cells) {
    std::vector<std::string> row = {CellName(cell)};
    for (std::size_t k = 1; k < table.header.size(); ++k) {
      const Json* one = found(cell, table.header[k]);
      row.push_back(one != nullptr ? Percent(one->at("eer"), Ends(*one)) : "not run");
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

PageTable AttributesTable(const Json& json) {
  PageTable table{"Gender told from the protected speech",
                  {"protection", "attacker", "classifier", "accuracy %"},
                  {}};
  for (const Json& cell : json.at("cells")) {
    for (const Json& one : cell.at("attributes")) {
      table.rows.push_back(
          {CellName(cell), one.at("attacker"), one.at("classifier"),
           one.at("status") == "run" ? Percent(one.at("accuracy"), Ends(one)) : "not run"});
    }
  }
  return table;
}

PageTable GenderTable(const Json& json) {
  PageTable table{"By gender (speakers who are claimed; the worst attacker of each protection)",
                  {"protection", "gender", "EER %"},
                  {}};
  for (const Json& one : json.at("reference").at("wer")) {
    table.header.push_back(fmt::format("WER % {}", one.at("recogniser").get<std::string>()));
  }
  table.header.insert(table.header.end(), {"DNSMOS OVR", "F0 corr."});
  for (const Json& cell : json.at("cells")) {
    for (const auto& [gender, one] : cell.at("by_gender").items()) {
      std::vector<std::string> row = {CellName(cell), gender == "F" ? "female" : "male",
                                      Percent(one.at("eer"), Ends(one))};
      for (std::size_t k = 0; k < json["reference"]["wer"].size(); ++k) {
        row.push_back(one.contains("wer")
                          ? fmt::format("{} → {}", Percent(one["wer_original"][k].at("wer")),
                                        Percent(one["wer"][k].at("wer")))
                          : "–");
      }
      row.push_back(one.contains("dnsmos_ovr") ? Text(one["dnsmos_ovr"], 2) : "–");
      row.push_back(one.contains("pitch_correlation") ? Text(one["pitch_correlation"], 2) : "–");
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

PageTable LegalTable(const Json& json) {
  PageTable table{
      "Linked and singled out among N speakers, % (chance), by the worst attacker of each "
      "protection",
      {"protection", "N", "linkability", "singling out"},
      {}};
  const auto among = [](const Json& value, const Json& chance) {
    return fmt::format("{} ({})", Percent(value), Percent(chance));
  };
  for (const Json& cell : json.at("cells")) {
    for (const Json& one : cell.at("legal")) {
      table.rows.push_back({CellName(cell), fmt::format("{}", one.at("n").get<std::size_t>()),
                            among(one.at("linkability"), one.at("linkability_chance")),
                            among(one.at("singling_out"), one.at("singling_out_chance"))});
    }
  }
  return table;
}

PageTable ExposedSpeakers(const Json& json) {
  PageTable table{"Most exposed speakers (worst attacker of each protection)",
                  {"protection", "speaker", "mean target LLR", "mean non-target LLR"},
                  {}};
  for (const Json& cell : json.at("cells")) {
    for (const Json& one : cell.at("exposed")) {
      table.rows.push_back({CellName(cell), one.at("speaker"), Text(one.at("mean_tar_llr"), 2),
                            Text(one.at("mean_non_llr"), 2)});
    }
  }
  return table;
}

PageTable CellTable(const EvaluatedCell& cell) {
  PageTable table = LadderTable(ParseLadderJson(cell.attack, cell.id));
  table.title = cell.Name() + ": attackers, the worst first (all impostors)";
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

std::vector<std::string> PageNotes(const Evaluation& evaluation, const Json& json) {
  std::vector<std::string> notes;
  for (const Json& cell : json.at("cells")) {
    notes.push_back(CellName(cell) + ": " + cell.at("residual_risk").get<std::string>());
  }
  Notes shared;
  for (const Json& cell : json.at("cells")) {
    for (const Json& one : cell.at("attackers")) {
      const bool ran = one.at("status") == "run";
      const std::string why = one.at(ran ? "remark" : "reason");
      if (why.empty()) continue;
      shared.Add(fmt::format("{}{}: {}", one.at("attacker").get<std::string>(),
                             ran ? "" : " was not run", why),
                 CellName(cell));
    }
    shared.Add("semi-informed attacker, " + cell.at("semi_informed").get<std::string>(),
               CellName(cell));
    for (const char* figure : {"dnsmos_ovr", "pitch_correlation", "rtf"}) {
      const std::string reason = std::string(figure) + "_reason";
      if (cell.contains(reason)) {
        shared.Add(fmt::format("{} is not there: {}", figure, cell[reason].get<std::string>()),
                   CellName(cell));
      }
    }
    for (const Json& one : cell.at("wer")) {
      const std::string name = one.at("recogniser");
      if (one.at("wer").is_null()) {
        shared.Add(fmt::format("no word error rate by {}: {}", name, one.value("reason", "")),
                   CellName(cell));
        continue;
      }
      shared.Add(fmt::format("{} heard {} of {} utterances{}", name,
                             one.at("n_utterances").get<std::size_t>(), evaluation.utterances,
                             one.at("n_utterances") == evaluation.utterances
                                 ? ""
                                 : ", spread evenly over all speakers"),
                 CellName(cell));
      if (one.at("shares_model_with_method") == true) {
        shared.Add(fmt::format("{} is too kind a judge: the protection uses its model", name),
                   CellName(cell));
      }
    }
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
      "worst attacker",
      evaluation.quick && evaluation.utterances > kQuickRatedUtterances
          ? fmt::format(", of {} utterances spread over all speakers", kQuickRatedUtterances)
          : ""));
  notes.emplace_back(kMeasuredOnPage);
  notes.push_back(fmt::format("{} speakers, {} utterances; intervals: {:g} %, {}",
                              evaluation.speakers, evaluation.utterances, 100.0 * evaluation.level,
                              json.at("cells")[0].at("bootstrap").get<std::string>()));
  return notes;
}

}  // namespace

PageTable SummaryTable(const Json& json) {
  PageTable table{"What each protection gives and costs",
                  {"method", "strategy", "lowest EER %", "by", "D_sys", "ZEBRA bit"},
                  {}};
  for (const Json& one : json.at("reference").at("wer")) {
    table.header.push_back(fmt::format("WER % {}", one.at("recogniser").get<std::string>()));
  }
  table.header.insert(table.header.end(), {"DNSMOS", "F0 corr.", "RTF"});
  const auto add = [&](const std::string& method, const std::string& strategy, const Json& attacked,
                       const Json& measured) {
    const bool known = attacked.is_object() && attacked.at("eer").is_number();
    std::vector<std::string> row = {method,
                                    strategy,
                                    known ? Percent(attacked["eer"], Ends(attacked)) : "–",
                                    known ? attacked.value("attacker", "–") : "–",
                                    known ? Text(attacked["d_sys_unbiased"], 3) : "–",
                                    known ? Text(attacked["zebra_bits"], 3) : "–"};
    for (const Json& one : measured.at("wer")) row.push_back(Percent(one.at("wer"), Ends(one)));
    row.push_back(Text(measured.at("dnsmos_ovr"), 2));
    const auto optional = [&](const char* name, int digits) {
      return measured.contains(name) ? Text(measured[name], digits) : "–";
    };
    row.push_back(optional("pitch_correlation", 2));
    row.push_back(optional("rtf", 3));
    table.rows.push_back(std::move(row));
  };
  for (const Json& cell : json.at("cells")) {
    add(cell.at("method"), cell.at("strategy"), cell.at("worst"), cell);
  }
  add("none", "–", json.at("reference"), json.at("reference"));
  return table;
}

AssessPage EvaluationPage(const Evaluation& evaluation, const Json& json) {
  AssessPage page;
  page.title = "Privacy and utility";
  page.subtitle =
      fmt::format("{} protection{} of {} utterances of {} speakers, attacked and measured",
                  evaluation.cells.size(), evaluation.cells.size() == 1 ? "" : "s",
                  evaluation.utterances, evaluation.speakers);
  for (std::size_t k = 0; k < json.at("reference").at("wer").size(); ++k) {
    if (json["reference"]["wer"][k].at("wer").is_null()) continue;
    Plot plot = Plane(json, k);
    (page.lead_plots.empty() ? page.lead_plots : page.plots).push_back(std::move(plot));
  }
  page.lead = {SummaryTable(json), AttackerTable(json), GenderTable(json)};
  page.notes = PageNotes(evaluation, json);
  page.tables = {LegalTable(json), AttributesTable(json), ExposedSpeakers(json)};
  for (const EvaluatedCell& cell : evaluation.cells) page.tables.push_back(CellTable(cell));
  return page;
}

}  // namespace sotto
