#include "report/ladder_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "assess/linkability.h"

namespace sotto {
namespace {

using nlohmann::ordered_json;

ordered_json JsonRow(const LadderRow& row) {
  ordered_json json = {{"attacker", Name(row.attacker)},
                       {"backend", row.backend},
                       {"impostors", row.impostors},
                       {"l", row.l},
                       {"status", row.ran ? "run" : "not run"},
                       {"reason", row.reason}};
  json["figures"] = ordered_json::object();
  json["ci"] = ordered_json::object();
  for (const Figure& figure : row.figures) {
    if (IsUndefinedDSys(figure)) {
      json["figures"][figure.name] = nullptr;
      json["d_sys_reason"] = kFewTargets;
      continue;
    }
    json["figures"][figure.name] = JsonNumber(figure.value);
    if (figure.interval) {
      json["ci"][figure.name] = {JsonNumber(figure.interval->low),
                                 JsonNumber(figure.interval->high)};
    }
  }
  for (const auto& [name, count] :
       row.figures.empty() ? decltype(Figure::counts){} : row.figures.front().counts) {
    json["counts"][name] = count;
  }
  json["bootstrap"] = row.bootstrap;
  return json;
}

}  // namespace

bool IsUndefinedDSys(const Figure& figure) {
  static_assert(kFewestPublishedTargets == 20, "as kFewTargets says");
  if (figure.name != "d_sys") return false;
  return std::any_of(figure.counts.begin(), figure.counts.end(), [](const auto& count) {
    return count.first == "n_tar" && count.second < kFewestPublishedTargets;
  });
}

ordered_json LadderJson(const LadderResult& result) {
  ordered_json json = {{"measured", kMeasured},
                       {"speakers", result.speakers},
                       {"enrolment", result.enrolment},
                       {"trials", result.trials},
                       {"notes", result.notes}};
  json["worst"] = nullptr;
  if (result.worst != LadderResult::kNone) json["worst"] = JsonRow(result.rows[result.worst]);
  json["exposed"] = ordered_json::array();
  for (const ZooSpeaker& speaker : result.exposed) {
    json["exposed"].push_back({{"speaker", speaker.name},
                               {"mean_tar_llr", JsonNumber(speaker.mean_tar_llr)},
                               {"mean_non_llr", JsonNumber(speaker.mean_non_llr)},
                               {"n_tar", speaker.n_tar},
                               {"n_non", speaker.n_non}});
  }
  json["rows"] = ordered_json::array();
  for (const LadderRow& row : result.rows) json["rows"].push_back(JsonRow(row));
  json["unprotected"] = ordered_json::array();
  for (const LadderRow& row : result.unprotected) json["unprotected"].push_back(JsonRow(row));
  json["training_curve"] = ordered_json::array();
  for (const AttackerCurvePoint& point : result.curve) {
    json["training_curve"].push_back({{"step", JsonNumber(point.step)},
                                      {"loss", JsonNumber(point.loss)},
                                      {"held_out_eer", JsonNumber(point.held_out_eer)}});
  }
  return json;
}

}  // namespace sotto
