#include "report/json_values.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json.h"

namespace sotto {

using nlohmann::ordered_json;

ordered_json JsonNumber(double value) {
  if (std::isnan(value)) return nullptr;
  if (std::isinf(value)) return value > 0.0 ? "inf" : "-inf";
  return value;
}

ordered_json JsonNumber(const std::optional<double>& value) {
  return value ? JsonNumber(*value) : ordered_json(nullptr);
}

ordered_json JsonNumbers(std::span<const double> values) {
  ordered_json json = ordered_json::array();
  for (const double value : values) json.push_back(JsonNumber(value));
  return json;
}

ordered_json JsonFigure(const Figure& figure) {
  ordered_json json;
  json["value"] = JsonNumber(figure.value);
  json["unit"] = figure.unit;
  json["direction"] = DirectionText(figure.direction);
  if (!figure.attacker.empty()) json["attacker"] = figure.attacker;
  for (const auto& [name, count] : figure.counts) json["counts"][name] = count;
  if (figure.interval) {
    json["interval"] = {{"low", JsonNumber(figure.interval->low)},
                        {"high", JsonNumber(figure.interval->high)},
                        {"level", figure.interval->level}};
  }
  if (!figure.remark.empty()) json["remark"] = figure.remark;
  return json;
}

std::string JsonText(const ordered_json& json) { return DumpJson(json, 2) + "\n"; }

}  // namespace sotto
