#include "text/tagged_sentences.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace sotto {
namespace {

TEST(TaggedSentences, AreReadAsTheyWereWritten) {
  const std::vector<TaggedSentence> sentences = {{{"call", "\"anna\"", "zoë\t\n"}, {0, 1, 2}},
                                                 {{"x"}, {0}}};
  const std::string text = WriteTaggedSentences(sentences);
  EXPECT_EQ(ParseTaggedSentences(text, "t"), sentences);
  EXPECT_EQ(ParseTaggedSentences(text.substr(0, text.size() - 1), "t"), sentences);
  EXPECT_TRUE(ParseTaggedSentences("", "t").empty());
}

TEST(TaggedSentences, AreRefusedByLineWithoutAWordOfThem) {
  const std::string good = WriteTaggedSentences({{{"a"}, {0}}});
  for (const char* bad :
       {"secret", "{\"words\": [\"secret\"]}", "{\"words\": [\"secret\"], \"labels\": []}",
        "{\"words\": [], \"labels\": []}", "{\"words\": \"secret\", \"labels\": [0]}",
        "{\"words\": [7], \"labels\": [0]}", "{\"words\": [\"secret\"], \"labels\": [11]}",
        "{\"words\": [\"secret\"], \"labels\": [-1]}",
        "{\"words\": [\"secret\"], \"labels\": [\"secret\"]}", "[]", "\xff\xfe"}) {
    try {
      ParseTaggedSentences(good + bad + "\n", "file");
      ADD_FAILURE() << bad;
    } catch (const Error& error) {
      const std::string said = error.what();
      EXPECT_NE(said.find("file: line 2"), std::string::npos) << said;
      EXPECT_EQ(said.find("secret"), std::string::npos) << said;
    }
  }
}

}  // namespace
}  // namespace sotto
