#include "report/json_values.h"

#include <cmath>

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
  JsonFields f;
  f("value", figure.value)("unit", figure.unit)("direction", DirectionText(figure.direction));
  if (!figure.attacker.empty()) f("attacker", figure.attacker);
  for (const auto& [name, count] : figure.counts) f("counts")(name, count);
  if (const auto& interval = figure.interval) {
    f("interval")("low", interval->low)("high", interval->high)("level", interval->level);
  }
  if (!figure.remark.empty()) f("remark", figure.remark);
  return f.json();
}

std::string JsonText(const ordered_json& json) { return DumpJson(json, 2) + "\n"; }

std::string JsonFields::Text() const { return JsonText(*json_); }

}  // namespace sotto
