// How values stand in JSON: one rule for every document.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "assess/figure.h"

namespace sotto {

// What stands in every file of figures that were measured on somebody's data: however a release was
// protected, its epsilon bounds the release and not these figures (docs/evidence.md).
inline constexpr const char* kMeasured = "measured, not covered by epsilon";
inline constexpr const char* kMeasuredOnPage =
    "Measured, not covered by ε: these figures are computed from the originals. An ε that a "
    "release claims bounds what the release tells, not what this page tells.";

// JSON has no infinities and no NaN: "inf" and "-inf" as text, null for NaN.
nlohmann::ordered_json JsonNumber(double value);
// Null where it is absent.
nlohmann::ordered_json JsonNumber(const std::optional<double>& value);
nlohmann::ordered_json JsonNumbers(std::span<const double> values);
// value, unit, direction, attacker (where there is one), counts, interval (where known) and remark
// (where there is one).
nlohmann::ordered_json JsonFigure(const Figure& figure);

// Any value: numbers and what may be absent as above.
template <typename T>
nlohmann::ordered_json JsonValue(const T& value) {
  if constexpr (std::is_floating_point_v<T>) {
    return JsonNumber(value);
  } else if constexpr (std::is_same_v<T, Figure>) {
    return JsonFigure(value);
  } else if constexpr (requires { value.has_value(); }) {
    return value ? JsonValue(*value) : nlohmann::ordered_json(nullptr);
  } else if constexpr (requires { value.json(); }) {
    return value.json();
  } else {
    return value;
  }
}

// The fields of an object, in this order: JsonFields()("eer", eer)("n_tar", n).json().
class JsonFields {
 public:
  JsonFields() : JsonFields(std::make_shared<nlohmann::ordered_json>(EmptyObject())) {}

  template <typename T>
  JsonFields& operator()(const std::string& name, const T& value) {
    (*json_)[name] = JsonValue(value);
    return *this;
  }
  // Those of the object that stands under this name. To be used before the object around it gets
  // another field, which may move it.
  JsonFields operator()(const std::string& name) {
    return JsonFields(std::shared_ptr<nlohmann::ordered_json>(json_, &(*json_)[name]));
  }

  const nlohmann::ordered_json& json() const { return *json_; }
  std::string Text() const;  // JsonText of it

 private:
  std::shared_ptr<nlohmann::ordered_json> json_;

  explicit JsonFields(std::shared_ptr<nlohmann::ordered_json> json) : json_(std::move(json)) {}
  static nlohmann::ordered_json EmptyObject() { return nlohmann::ordered_json::object(); }
};

// An array of what `each` makes of them.
template <typename Values, typename Each>
nlohmann::ordered_json JsonList(const Values& values, const Each& each) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& value : values) list.push_back(JsonValue(each(value)));
  return list;
}

// The document as it is printed and written: indented, with the end of its last line. Ids may hold
// any bytes: what is no UTF-8 is replaced rather than refused.
std::string JsonText(const nlohmann::ordered_json& json);

}  // namespace sotto
