#include "base/json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"

namespace sotto {
namespace {

template <typename Json>
void MakeUtf8(Json& json) {
  if (json.is_string()) {
    json = Printable(json.template get<std::string>());
  } else if (json.is_object()) {
    Json object = Json::object();
    for (auto& [name, value] : json.items()) {
      MakeUtf8(value);
      object[Printable(name)] = std::move(value);
    }
    json = std::move(object);
  } else if (json.is_array()) {
    for (auto& value : json) MakeUtf8(value);
  }
}

template <typename Json>
std::string Dump(const Json& json, int indent) {
  try {
    return json.dump(indent, ' ', /*ensure_ascii=*/false);
  } catch (const typename Json::type_error&) {
    Json clean = json;
    MakeUtf8(clean);
    return clean.dump(indent, ' ', /*ensure_ascii=*/false);
  }
}

}  // namespace

nlohmann::json ParseJson(std::string_view text) { return nlohmann::json::parse(text); }

nlohmann::json TryParseJson(std::string_view text) {
  return nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
}

nlohmann::ordered_json ParseOrderedJson(std::string_view text) {
  return nlohmann::ordered_json::parse(text);
}

std::string DumpJson(const nlohmann::json& json, int indent) { return Dump(json, indent); }

std::string DumpJson(const nlohmann::ordered_json& json, int indent) { return Dump(json, indent); }

std::string JsonTrouble(const std::exception& thrown) {
  const auto* parse = dynamic_cast<const nlohmann::json::parse_error*>(&thrown);
  return parse != nullptr ? fmt::format("no JSON at byte {}", parse->byte)
                          : "a field is missing, or of another type than it must have";
}

}  // namespace sotto
