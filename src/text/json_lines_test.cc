#include "text/json_lines.h"

#include <gtest/gtest.h>

#include "text/redact_testing.h"

namespace sotto {
namespace {

using testing::Exchanged;
using testing::Refusal;
using testing::Texts;

constexpr TextFormat kJson = TextFormat::kJsonLines;

std::string Marie(const std::string& line) { return Exchanged(line, kJson, {{"anna", "marie"}}); }

TEST(JsonLines, AllButTheTextStaysAsItStands) {
  EXPECT_EQ(
      Marie("{ \"id\" : 1.50e+2,\t\"text\":\"hi anna!\" , \"x\":[{\"text\":\"anna\"}] } \r\n"),
      "{ \"id\" : 1.50e+2,\t\"text\":\"hi marie!\" , \"x\":[{\"text\":\"anna\"}] } \r\n");
  EXPECT_EQ(Marie("{\"text\":\"a\\u0062 \\/ \\u00e9 anna \\ud83d\\ude00\\n\"}"),
            "{\"text\":\"a\\u0062 \\/ \\u00e9 marie \\ud83d\\ude00\\n\"}");
  EXPECT_EQ(Marie("\n  \n{\"text\":\"\"}\n"), "\n  \n{\"text\":\"\"}\n");
}

TEST(JsonLines, EscapesAreReadAsWhatTheyMean) {
  EXPECT_EQ(Texts("{\"text\":\"\\u0061nn\\u0061 \\\"\\\\\\/\\t\\u00e9 \\ud83d\\ude00\"}", kJson),
            (std::vector<std::string>{"anna \"\\/\té 😀"}));
  EXPECT_EQ(Marie("{\"te\\u0078t\":\"\\u0061nn\\u0061 b\"}"), "{\"te\\u0078t\":\"marie b\"}");
}

TEST(JsonLines, WhatIsNewIsWrittenAsTheLineWritesItsCharacters) {
  const std::map<std::string, std::string> exchange = {{"anna", "zoé \"😀\\"}};
  EXPECT_EQ(Exchanged("{\"text\":\"anna\"}", kJson, exchange),
            "{\"text\":\"zo\\u00e9 \\\"\\ud83d\\ude00\\\\\"}");
  EXPECT_EQ(Exchanged("{\"text\":\"ö anna\"}", kJson, exchange), "{\"text\":\"ö zoé \\\"😀\\\\\"}");
}

TEST(JsonLines, AFieldThatIsThereTwiceIsSearchedTwice) {
  EXPECT_EQ(Marie("{\"text\":\"anna\",\"text\":\"to anna\"}"),
            "{\"text\":\"marie\",\"text\":\"to marie\"}");
}

TEST(JsonLines, TheDialogueIsTheValueOfItsField) {
  const auto passages = testing::Passages(
      "{\"text\":\"a\",\"call\":\"x\"}\n{\"call\":17,\"text\":\"b\"}\n", kJson, {"text", "call"});
  ASSERT_EQ(passages.size(), 2U);
  EXPECT_EQ(passages[0]->Dialogue(), "\"x\"");
  EXPECT_EQ(passages[1]->Dialogue(), "17");
}

TEST(JsonLines, WhatIsDamagedIsRefusedByItsPlace) {
  const auto refused = [](const std::string& line) { return Refusal("\n" + line + "\n", kJson); };
  EXPECT_EQ(refused("{\"body\":\"x\"}"), "a test: line 2: no field 'text'");
  EXPECT_EQ(refused("{\"text\":null}"), "a test: line 2, byte 9: 'text' is no string");
  EXPECT_EQ(refused("secret"), "a test: line 2, byte 1: no JSON object; each line holds one");
  EXPECT_EQ(refused("[\"secret\"]"), "a test: line 2, byte 1: no JSON object; each line holds one");
  EXPECT_EQ(refused("{\"text\":\"secret"),
            "a test: line 2, byte 16: no JSON: a string does not end");
  EXPECT_EQ(refused("{\"text\":\"\\x\"}"), "a test: line 2, byte 11: no JSON: no such escape");
  EXPECT_EQ(refused("{\"text\":\"\\ud83d!\"}"),
            "a test: line 2, byte 16: half of a surrogate pair");
  EXPECT_EQ(refused("{\"text\":\"\\ude00\"}"), "a test: line 2, byte 16: half of a surrogate pair");
  for (const char* line :
       {"{\"text\":\"a\"", "{\"text\" \"a\"}", "{\"text\":\"a\",}", "{\"text\":\"a\"}{}",
        "{\"n\":01,\"text\":\"a\"}", "{\"n\":1.,\"text\":\"a\"}", "{\"n\":nul,\"text\":\"a\"}",
        "{\"n\":[1 2],\"text\":\"a\"}", "{text:\"a\"}", "{\"text\":\"a\tb\"}"}) {
    EXPECT_NE(refused(line).find("a test: line 2, byte "), std::string::npos) << line;
  }
  EXPECT_NE(refused("{\"x\":" + std::string(100000, '[')).find("nested"), std::string::npos);
  EXPECT_NE(refused("{\"text\":\"a\\u001bb\"}").find("control character"), std::string::npos);
  EXPECT_NE(refused("{\"text\":\"a\\u202eb\"}").find("control character"), std::string::npos);
}

}  // namespace
}  // namespace sotto
