// JSON as text. The one way to write it: the library's own dump() throws on a string that is no
// UTF-8, and a message that quotes a file's name or an argument may be one.
#pragma once

#include <string>

namespace sotto {

// `indent` < 0: one line. Bytes that are no UTF-8 become U+FFFD.
template <typename Json>
std::string DumpJson(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

}  // namespace sotto
