// Reading of tandem score files and the whole panel of spoofing figures.
#include <fmt/format.h>

#include "assess/levels.h"
#include "assess/numeric.h"
#include "assess/score_table.h"
#include "assess/tandem.h"
#include "assess/verification.h"
#include "base/error.h"

namespace sotto {
namespace {

void AppendAll(std::vector<double>& out, const std::vector<double>& more) {
  out.insert(out.end(), more.begin(), more.end());
}

// The attack of a spoof row; a table without the column has one unnamed attack.
std::string AttackOf(const ScoreTable& table, std::size_t row) {
  return table.Has("attack") ? std::string(table.Text("attack", row)) : "spoof";
}

[[noreturn]] void RefuseKey(const ScoreTable& table, std::size_t row, const char* allowed) {
  throw Error(
      fmt::format("{}: key '{}' is not one of {}", table.At(row), table.Text("key", row), allowed));
}

AttackResult MeasureAttack(const std::string& name, const TandemScores& scores,
                           const std::vector<double>& asv_spoof,
                           const std::vector<double>& cm_spoof, const std::optional<AsvRates>& asv,
                           const TandemOptions& options) {
  AttackResult result;
  result.attack = name;
  result.n_asv = asv_spoof.size();
  result.n_cm = cm_spoof.size();
  if (!cm_spoof.empty()) {
    const ScoreLevels levels = MakeLevels(scores.cm_bona, cm_spoof);
    result.cm_eer = EerArgmin(levels);
    result.cm_eer_interpolated = EerInterpolated(levels);
  }
  if (asv.has_value() && !cm_spoof.empty()) {
    AsvRates rates = *asv;
    std::size_t accepted = 0;
    for (const double score : asv_spoof) accepted += score >= rates.threshold ? 1 : 0;
    rates.p_fa_spoof = static_cast<double>(accepted) / static_cast<double>(asv_spoof.size());
    result.p_fa_spoof_asv = rates.p_fa_spoof;
    const auto cm = DetectionStates(scores.cm_bona, {}, cm_spoof);
    result.min_tdcf_2019 = MinTdcf2019(cm, rates, options.costs);
    result.min_tdcf_2021 = MinTdcf2021(cm, rates, options.costs);
  }
  return result;
}

}  // namespace

void ReadAsvScores(std::string_view text, const std::string& where, TandemScores& scores) {
  const ScoreTable table(text, where, {"key", "score"});
  for (std::size_t row = 0; row < table.Rows(); ++row) {
    const std::string_view key = table.Text("key", row);
    const double score = table.Score("score", row);
    if (key == "target") {
      scores.asv_tar.push_back(score);
    } else if (key == "nontarget") {
      scores.asv_non.push_back(score);
    } else if (key == "spoof") {
      scores.attacks[AttackOf(table, row)].asv.push_back(score);
    } else {
      RefuseKey(table, row, "target, nontarget, spoof");
    }
  }
}

void ReadCmScores(std::string_view text, const std::string& where, TandemScores& scores) {
  const ScoreTable table(text, where, {"key", "score"});
  for (std::size_t row = 0; row < table.Rows(); ++row) {
    const std::string_view key = table.Text("key", row);
    const double score = table.Score("score", row);
    if (key == "bonafide") {
      scores.cm_bona.push_back(score);
    } else if (key == "spoof") {
      scores.attacks[AttackOf(table, row)].cm.push_back(score);
    } else {
      RefuseKey(table, row, "bonafide, spoof");
    }
  }
}

TandemScores ReadSasvScores(std::string_view text, const std::string& where) {
  const ScoreTable table(text, where, {"key"});
  const bool two_scores = table.Has("asv_score") && table.Has("cm_score");
  if (!two_scores && !table.Has("score")) {
    throw Error(fmt::format("{}: needs the columns asv_score and cm_score, or score", where));
  }
  TandemScores scores;
  for (std::size_t row = 0; row < table.Rows(); ++row) {
    const std::string_view key = table.Text("key", row);
    const bool target = key == "target";
    const bool spoof = key == "spoof";
    if (!target && !spoof && key != "nontarget") RefuseKey(table, row, "target, nontarget, spoof");
    auto& fused = target ? scores.fused_tar : spoof ? scores.fused_spoof : scores.fused_non;
    if (!two_scores) {
      fused.push_back(table.Score("score", row));
      continue;
    }
    const double asv = table.Score("asv_score", row);
    const double cm = table.Score("cm_score", row);
    fused.push_back(asv + Sigmoid(cm));
    if (spoof) {
      TandemScores::Attack& attack = scores.attacks[AttackOf(table, row)];
      attack.asv.push_back(asv);
      attack.cm.push_back(cm);
    } else {
      (target ? scores.asv_tar : scores.asv_non).push_back(asv);
      scores.cm_bona.push_back(cm);
      if (target) scores.cm_tar.push_back(cm);
    }
  }
  return scores;
}

TandemResult MeasureTandem(const TandemScores& scores, const TandemOptions& options) {
  options.costs.Validate();
  options.adcf_costs.Validate();
  TandemResult result;
  std::vector<double> asv_spoof;
  std::vector<double> cm_spoof;
  const bool two_systems = !scores.asv_tar.empty() || !scores.cm_bona.empty();
  for (const auto& [name, attack] : scores.attacks) {
    if (two_systems && attack.asv.empty() != attack.cm.empty()) {
      throw Error(fmt::format("attack '{}' has {} ASV and {} CM scores; t-DCF needs both", name,
                              attack.asv.size(), attack.cm.size()));
    }
    AppendAll(asv_spoof, attack.asv);
    AppendAll(cm_spoof, attack.cm);
  }
  result.n_asv_tar = scores.asv_tar.size();
  result.n_asv_non = scores.asv_non.size();
  result.n_asv_spoof = asv_spoof.size();
  result.n_cm_bona = scores.cm_bona.size();
  result.n_cm_spoof = cm_spoof.size();
  if (two_systems) {
    result.asv = AsvErrorRates(scores.asv_tar, scores.asv_non, asv_spoof);
    result.pooled = MeasureAttack("pooled", scores, asv_spoof, cm_spoof, result.asv, options);
    for (const auto& [name, attack] : scores.attacks) {
      result.per_attack.push_back(
          MeasureAttack(name, scores, attack.asv, attack.cm, result.asv, options));
    }
    const auto asv = DetectionStates(scores.asv_tar, scores.asv_non, asv_spoof);
    result.t_eer = ConcurrentTeer(DetectionStates(scores.cm_bona, {}, cm_spoof), asv);
    result.a_dcf_asv = MinAdcf(asv, options.adcf_costs);
    result.a_dcf_asv_tdcf_costs = MinAdcf(asv, options.costs);
    result.spf_eer_asv = EerArgmin(MakeLevels(scores.asv_tar, asv_spoof));
    std::vector<double> rest = scores.asv_non;
    AppendAll(rest, asv_spoof);
    result.sasv_eer_asv = EerArgmin(MakeLevels(scores.asv_tar, rest));
    if (!scores.cm_tar.empty()) {
      result.spf_eer_cm = EerArgmin(MakeLevels(scores.cm_tar, cm_spoof));
    }
  }
  const bool fused = !scores.fused_tar.empty();
  result.a_dcf_system = !fused ? "asv" : two_systems ? "asv + sigmoid(cm)" : "score";
  const auto& tar = fused ? scores.fused_tar : scores.asv_tar;
  const auto& non = fused ? scores.fused_non : scores.asv_non;
  const auto& spoof = fused ? scores.fused_spoof : asv_spoof;
  const auto system = DetectionStates(tar, non, spoof);
  result.a_dcf = MinAdcf(system, options.adcf_costs);
  result.a_dcf_tdcf_costs = MinAdcf(system, options.costs);
  result.sv_eer = EerArgmin(MakeLevels(tar, non));
  result.spf_eer = EerArgmin(MakeLevels(tar, spoof));
  std::vector<double> rest = non;
  AppendAll(rest, spoof);
  result.sasv_eer = EerArgmin(MakeLevels(tar, rest));
  return result;
}

}  // namespace sotto
