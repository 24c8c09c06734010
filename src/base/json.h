// JSON as text: read and written here alone, since the library's reader and writer are large
// templates. Its own dump() throws on a string that is no UTF-8, and a message that quotes a file's
// name or an argument may be one.
#pragma once

#include <exception>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace sotto {

// Throws nlohmann::json::exception.
nlohmann::json ParseJson(std::string_view text);
// Discarded (`is_discarded()`, and no object) where the text is no JSON.
nlohmann::json TryParseJson(std::string_view text);
// The same, with objects that keep the order of their fields.
nlohmann::ordered_json ParseOrderedJson(std::string_view text);

// `indent` < 0: one line. Where a string is no UTF-8, all are written as Printable does: no byte is
// lost.
std::string DumpJson(const nlohmann::json& json, int indent = -1);
std::string DumpJson(const nlohmann::ordered_json& json, int indent = -1);

// What is wrong with JSON that somebody wrote, by what the library threw, in words and without
// quoting it.
std::string JsonTrouble(const std::exception& thrown);

}  // namespace sotto
