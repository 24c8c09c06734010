#include "base/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace sotto {
namespace {

using nlohmann::ordered_json;

TEST(Json, StringsThatAreNoUtf8LoseNoByte) {
  const ordered_json json = {{"a\xff", {"b\xfe\xe9", 1.5}}, {"\u00e9", "\u00e9\x1b"}};
  const std::string text = DumpJson(json);
  EXPECT_EQ(text, "{\"a\\\\xff\":[\"b\\\\xfe\\\\xe9\",1.5],\"\u00e9\":\"\u00e9\\\\u001b\"}");
  EXPECT_TRUE(ordered_json::accept(text));
  // The others are written as they are.
  EXPECT_EQ(DumpJson(ordered_json("\u00e9\x1b")), "\"\u00e9\\u001b\"");
}

TEST(Json, TroubleIsSaidInWords) {
  try {
    const ordered_json read = ordered_json::parse("{\"a\": \x1b}");
    FAIL() << read;
  } catch (const ordered_json::exception& error) {
    EXPECT_EQ(JsonTrouble(error), "no JSON at byte 7");
  }
  try {
    const ordered_json read = ordered_json({{"a", 1}}).at("b");
    FAIL() << read;
  } catch (const ordered_json::exception& error) {
    EXPECT_EQ(JsonTrouble(error).substr(0, 7), "a field");
  }
}

}  // namespace
}  // namespace sotto
