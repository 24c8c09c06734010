#include "report/dp_figures.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dp/allows.h"
#include "dp/parameters.h"
#include "report/json_values.h"

namespace sotto {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kTradeOffPoints = 41;

// What (eps, delta) allows an attacker.
void PutAllows(JsonFields f, double eps, double delta) {
  f("eer_floor", EerFloor(eps, delta))("auc_ceiling", AucCeiling(eps, delta));
  for (const std::size_t n : {10, 100, 1000}) {
    f("top1_ceiling")(std::to_string(n), TopOneCeiling(eps, delta, n));
  }
}

const char* BasisOf(const GdpMu& mu) {
  return mu.exact ? "exact" : "central limit: an approximation, not a bound";
}

const char* AccountantOf(const NoiseWish& wish, const WishedNoise& noise) {
  return noise.exact ? "exact" : wish.renyi ? "rdp" : "pld";
}

const char* DistanceOf(const SyntacticResult& result) {
  return result.ordered ? "ordered" : "equal";
}

std::vector<std::size_t> Lines(const std::vector<std::size_t>& rows, const CsvTable& table) {
  std::vector<std::size_t> lines;
  lines.reserve(rows.size());
  for (const std::size_t row : rows) lines.push_back(table.lines[row]);
  return lines;
}

JsonFields JsonClass(const EquivalenceClass& group, const CsvTable& table, bool sensitive) {
  JsonFields f;
  f("values", group.values)("size", group.size);
  if (sensitive) {
    f("l_distinct", group.distinct)("l_entropy", group.entropy_l)("t", group.closeness);
  }
  return f("breaks", group.breaks)("lines", Lines(group.rows, table));
}

JsonFields JsonAccount(const Account& account) {
  const PrivacyEvent& event = account.event;
  const double eps = account.Epsilon();
  JsonFields f;
  f("mechanism", event.mechanism);
  if (account.gdp) {
    f("q", event.q)("noise", event.noise);
    f("sampling", event.q < 1.0 ? "Poisson" : "all records");
  } else {
    f("epsilon_each", event.eps);
  }
  f("steps", event.count)("delta", account.delta);
  f("neighbours", NeighboursText(Neighbours::kAddRemove));
  f("rdp")("epsilon", account.rdp.eps)("order", account.rdp.order);
  f("pld")("epsilon", account.pld.eps)("epsilon_lower", account.pld.eps_lower);
  f("pld")("grid_step", account.pld.step)("fft_points", account.pld.points);
  if (account.sequential) {
    f("sequential")("epsilon", account.sequential);
    f("advanced")("epsilon", account.advanced);
  }
  if (account.rho) f("zcdp")("rho", account.rho)("epsilon", account.concentrated);
  JsonFields allows = f("allows");
  PutAllows(allows, eps, account.delta);
  if (account.gdp) {
    const double mu = account.gdp->mu;
    allows("gdp")("mu", mu)("basis", BasisOf(*account.gdp));
    allows("gdp")("eer_floor", GdpEerFloor(mu))("auc_ceiling", GdpAucCeiling(mu));
  }
  const auto curve = TradeOffCurve(eps, account.delta, kTradeOffPoints);
  allows("trade_off", JsonList(curve, [](const TradeOffPoint& point) {
           return JsonFields()("false_alarm", point.false_alarm)("miss", point.miss);
         }));
  const std::string warning = EpsilonWarning(eps);
  if (!warning.empty()) f("warning", warning);
  return f;
}

JsonFields JsonNoise(const NoiseWish& wish, const WishedNoise& noise) {
  JsonFields f;
  f("epsilon", wish.epsilon)("delta", wish.delta)("q", wish.q)("steps", wish.steps);
  f("sensitivity", wish.sensitivity);
  if (noise.gaussian) {
    f("gaussian")("noise", noise.gaussian)("sigma", *noise.gaussian * wish.sensitivity);
    f("gaussian")("accountant", AccountantOf(wish, noise));
  }
  if (noise.laplace_scale) {
    f("laplace")("scale", noise.laplace_scale)("composition", "sequential, delta 0");
  }
  PutAllows(f("allows"), wish.epsilon, wish.delta);
  return f;
}

JsonFields JsonAudit(const AuditFinding& finding) {
  JsonFields f;
  f("method", finding.one_run ? "one run (Steinke et al. 2023)" : "many runs (Clopper-Pearson)");
  f("epsilon_lower", finding.eps_lower)("delta", finding.delta)("error", finding.error);
  if (finding.claimed) f("claimed", finding.claimed)("refuted", finding.Refuted());
  return f;
}

JsonFields JsonSyntactic(const SyntacticResult& result, const CsvTable& table) {
  const bool sensitive = result.t.has_value();
  JsonFields f;
  f("k", result.k)("rows", table.rows.size())("classes", result.classes.size());
  if (sensitive) {
    f("l_distinct", result.l_distinct)("l_entropy", result.l_entropy)("t", result.t);
    f("t_distance", DistanceOf(result));
  }
  f("holds", result.breaking_rows.empty());
  f("breaking_lines", Lines(result.breaking_rows, table));
  ordered_json breaking = ordered_json::array();
  for (const EquivalenceClass& group : result.classes) {
    if (!group.breaks.empty()) breaking.push_back(JsonClass(group, table, sensitive).json());
  }
  return f("breaking_classes", breaking);
}

}  // namespace

std::string PrintedAccount(const Account& account, bool json) {
  if (json) return JsonAccount(account).Text();
  const double eps = account.Epsilon();
  const double delta = account.delta;
  std::string text = fmt::format("{} uses, delta {:g}, {}\n", account.event.count, delta,
                                 NeighboursText(Neighbours::kAddRemove));
  text += fmt::format("  PLD   epsilon {:.6f}  (the truth is not below {:.6f})\n", account.pld.eps,
                      account.pld.eps_lower);
  text +=
      fmt::format("  RDP   epsilon {:.6f}  at order {:g}\n", account.rdp.eps, account.rdp.order);
  text += fmt::format("what epsilon {:.4f} allows any attacker:\n", eps);
  text +=
      fmt::format("  telling whether a person is in   EER at least {:.4f}, AUC at most {:.4f}\n",
                  EerFloor(eps, delta), AucCeiling(eps, delta));
  text += fmt::format("  naming one of 100 people         right at most {:.2f} % (chance 1 %)\n",
                      100.0 * TopOneCeiling(eps, delta, 100));
  if (account.gdp) {
    const double mu = account.gdp->mu;
    text += fmt::format("  as mu-GDP, mu {:.4f} ({})\n    EER {:.4f}, AUC {:.4f}\n", mu,
                        BasisOf(*account.gdp), GdpEerFloor(mu), GdpAucCeiling(mu));
  }
  return text;
}

std::string PrintedNoise(const NoiseWish& wish, const WishedNoise& noise, bool json) {
  if (json) return JsonNoise(wish, noise).Text();
  std::string text;
  if (noise.gaussian) {
    text +=
        fmt::format("gaussian: sigma {:.6f} ({:.6f} times the L2 sensitivity, {})\n",
                    *noise.gaussian * wish.sensitivity, *noise.gaussian, AccountantOf(wish, noise));
  }
  if (noise.laplace_scale) {
    text += fmt::format("laplace:  scale {:.6f} (L1 sensitivity, delta 0)\n", *noise.laplace_scale);
  }
  text += fmt::format("allows:   EER at least {:.4f}, AUC at most {:.4f}\n",
                      EerFloor(wish.epsilon, wish.delta), AucCeiling(wish.epsilon, wish.delta));
  return text;
}

std::string PrintedAudit(const AuditFinding& finding, bool json) {
  if (json) return JsonAudit(finding).Text();
  std::string text =
      fmt::format("epsilon is at least {:.6f} at delta {:g} (wrong with probability {:g})\n",
                  finding.eps_lower, finding.delta, finding.error);
  if (finding.claimed) {
    text += fmt::format("the claim of {:g} is {}\n", *finding.claimed,
                        finding.Refuted() ? "refuted" : "not refuted, which does not prove it");
  }
  return text;
}

std::string PrintedSyntactic(const SyntacticResult& result, const CsvTable& table,
                             const SyntacticOptions& options, std::size_t shown, bool json) {
  if (json) return JsonSyntactic(result, table).Text();
  std::string text =
      fmt::format("k = {} ({} rows in {} groups by {})\n", result.k, table.rows.size(),
                  result.classes.size(), fmt::join(options.quasi_identifiers, ", "));
  if (result.t) {
    text += fmt::format("l = {} distinct, {:.3f} by entropy; t = {:.4f} ({} distance) of {}\n",
                        *result.l_distinct, *result.l_entropy, *result.t, DistanceOf(result),
                        options.sensitive);
  }
  std::size_t breaking = 0;
  for (const EquivalenceClass& group : result.classes) {
    if (group.breaks.empty() || ++breaking > shown) continue;
    text += fmt::format("  breaks {}: {} (size {}), lines {}\n", fmt::join(group.breaks, ","),
                        fmt::join(group.values, " | "), group.size,
                        fmt::join(Lines(group.rows, table), " "));
  }
  if (breaking > shown) text += fmt::format("  and {} more groups (--show)\n", breaking - shown);
  return text +
         fmt::format(
             "{} row{} break what was asked. A table that passes is not anonymous by that alone: "
             "docs/privacy.md\n",
             result.breaking_rows.size(), result.breaking_rows.size() == 1 ? "" : "s");
}

std::string TableReleaseJson(const TableRelease& release, const TableReleaseOptions& options,
                             const std::string& file) {
  JsonFields f;
  f("mechanism", TableMechanismName(options.mechanism));
  f("epsilon", options.eps)("delta", options.delta);
  JsonFields unit = f("unit")("person", options.id_column);
  unit("max_contributions", options.max_contributions);
  unit("neighbours", NeighboursText(release.neighbours));
  if (options.categories.empty()) unit("lower", options.lower)("upper", options.upper);
  f("columns", JsonList(release.columns, [&](const ColumnRelease& column) {
      JsonFields one;
      one("column", column.column);
      if (column.noise_scale > 0.0) one("noise_scale", column.noise_scale);
      if (column.value) one("value", column.value);
      if (column.choice) one("choice", column.choice);
      for (std::size_t i = 0; i < column.shares.size(); ++i) {
        one("estimated_shares")(release.categories[i], column.shares[i]);
      }
      return one;
    }));
  if (release.HasTable()) {
    f("rows", release.table.rows.size());
    if (file.empty()) {
      f("table")("header", release.table.header)("rows", release.table.rows);
    } else {
      f("out", file);
    }
  }
  PutAllows(f("allows"), options.eps, options.delta);
  return f.Text();
}

std::string TableReleaseText(const TableRelease& release) {
  if (release.HasTable()) return FormatCsv(release.table);
  std::string lines;
  for (const ColumnRelease& column : release.columns) {
    if (column.value) lines += fmt::format("{}\t{:.9g}\n", column.column, *column.value);
    if (column.choice) lines += fmt::format("{}\t{}\n", column.column, *column.choice);
  }
  return lines;
}

std::string TableReleaseNote(const TableRelease& release, const TableReleaseOptions& options) {
  return fmt::format(
      "epsilon {:g}{} for a person ('{}', at most {} rows; {}). Private: {} "
      "people, {} rows used, {} left out by the limit\n",
      options.eps, options.delta > 0.0 ? fmt::format(", delta {:g}", options.delta) : "",
      options.id_column, options.max_contributions, NeighboursText(release.neighbours),
      release.people, release.rows_used, release.rows_left_out);
}

}  // namespace sotto
