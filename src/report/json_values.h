// How values stand in JSON: one rule for every document.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>

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

// The document as it is printed and written: indented, with the end of its last line. Ids may hold
// any bytes: what is no UTF-8 is replaced rather than refused.
std::string JsonText(const nlohmann::ordered_json& json);

}  // namespace sotto
