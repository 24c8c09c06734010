// JSON as text. The one way to write it: the library's own dump() throws on a string that is no
// UTF-8, and a message that quotes a file's name or an argument may be one.
#pragma once

#include <fmt/format.h>

#include <string>

#include "base/text.h"

namespace sotto {

// Strings that are no UTF-8, as Printable writes them: no byte is lost.
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

// `indent` < 0: one line. Bytes that are no UTF-8 are escaped as \xff.
template <typename Json>
std::string DumpJson(const Json& json, int indent = -1) {
  try {
    return json.dump(indent, ' ', /*ensure_ascii=*/false);
  } catch (const typename Json::type_error&) {
    Json clean = json;
    MakeUtf8(clean);
    return clean.dump(indent, ' ', /*ensure_ascii=*/false);
  }
}

// What is wrong with JSON that somebody wrote, in words and without quoting it.
template <typename Json>
std::string JsonTrouble(const typename Json::exception& error) {
  const auto* parse = dynamic_cast<const typename Json::parse_error*>(&error);
  return parse != nullptr ? fmt::format("no JSON at byte {}", parse->byte)
                          : "a field is missing, or of another type than it must have";
}

}  // namespace sotto
