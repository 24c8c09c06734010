#include "report/ladder_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "assess/linkability.h"
#include "base/error.h"

namespace sotto {
namespace {

using nlohmann::ordered_json;

ordered_json JsonRow(const LadderRow& row) {
  ordered_json json = {{"attacker", row.attacker},
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

ordered_json JsonNumber(double value) {
  if (std::isnan(value)) return nullptr;
  if (std::isinf(value)) return value > 0.0 ? "inf" : "-inf";
  return value;
}

LadderResult ParseLadderJson(const ordered_json& json, const std::string& where) {
  const auto number = [](const ordered_json& value) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (value.is_string()) return value == "inf" ? kInfinity : -kInfinity;
    return value.is_number() ? value.get<double>() : std::nan("");
  };
  const auto parse = [&](const ordered_json& from) {
    LadderRow row;
    row.attacker = from.at("attacker").get<std::string>();
    row.backend = from.at("backend").get<std::string>();
    row.impostors = from.at("impostors").get<std::string>();
    row.l = from.at("l").get<int>();
    row.ran = from.at("status") == "run";
    row.reason = from.at("reason").get<std::string>();
    row.links_speakers = row.impostors != "none";
    row.bootstrap = from.at("bootstrap").get<std::string>();
    std::vector<std::pair<std::string, std::size_t>> counts;
    if (from.contains("counts")) {
      for (const auto& [name, count] : from["counts"].items()) {
        counts.emplace_back(name, count.get<std::size_t>());
      }
    }
    for (const auto& [name, value] : from.at("figures").items()) {
      Figure figure;
      figure.name = name;
      figure.value = number(value);
      figure.counts = counts;
      const auto ends = from.at("ci").find(name);
      if (ends != from.at("ci").end()) {
        figure.interval = Interval{number(ends->at(0)), number(ends->at(1)), 0.95};
      }
      row.figures.push_back(std::move(figure));
    }
    return row;
  };
  try {
    LadderResult result;
    for (const ordered_json& row : json.at("rows")) result.rows.push_back(parse(row));
    for (const ordered_json& row : json.at("unprotected")) result.unprotected.push_back(parse(row));
    if (!json.at("worst").is_null()) {
      for (std::size_t i = 0; i < json["rows"].size(); ++i) {
        if (json["rows"][i] == json["worst"]) result.worst = i;
      }
    }
    result.notes = json.at("notes").get<std::vector<std::string>>();
    result.speakers = json.at("speakers").get<std::size_t>();
    result.enrolment = json.at("enrolment").get<std::size_t>();
    result.trials = json.at("trials").get<std::size_t>();
    return result;
  } catch (const ordered_json::exception& error) {
    throw Error(fmt::format("{}: no result of sotto attack ({})", where, error.what()));
  }
}

}  // namespace sotto
