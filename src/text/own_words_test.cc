#include "text/own_words.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace sotto {
namespace {

// Each find between brackets.
std::string Marked(const OwnWords& words, std::string text) {
  const auto found = words.Find(text);
  for (auto at = found.rbegin(); at != found.rend(); ++at) {
    text.insert(at->end, "]");
    text.insert(at->begin, "[");
  }
  return text;
}

TEST(OwnWords, AreFoundAsWholeWordsInAnyCaseAndAcrossPunctuation) {
  const OwnWords words("smith jones\n\nAcme\n  Étoile du Nord\nо'Нил\n", "a test");
  EXPECT_EQ(words.Phrases(), 4U);
  EXPECT_EQ(Marked(words, "SMITH-Jones, smith, jones; smithson jones"),
            "[SMITH-Jones], [smith, jones]; smithson jones");
  EXPECT_EQ(Marked(words, "at acme's, of acmes, me@acme.com"),
            "at [acme]'s, of acmes, me@[acme].com");
  EXPECT_EQ(Marked(words, "étoile\ndu … nord О НИЛ"), "[étoile\ndu … nord] [О НИЛ]");
  EXPECT_EQ(Marked(words, "smith"), "smith");
  EXPECT_EQ(Marked(words, ""), "");
}

TEST(OwnWords, ThatOverlapAreOne) {
  const OwnWords words("a b\nb c\nc\n", "a test");
  EXPECT_EQ(Marked(words, "a b c d b, c"), "[a b c] d [b, c]");
  EXPECT_EQ(Marked(OwnWords("a\na b c\n", "a test"), "a b d"), "[a] b d");
}

TEST(OwnWords, AListMayHaveAMarkAndEndsOfLinesOfAnyKind) {
  EXPECT_EQ(Marked(OwnWords("\xEF\xBB\xBF"
                            "acme\r\nbo",
                            "a test"),
                   "Acme Bo"),
            "[Acme] [Bo]");
}

std::string Refused(const std::string& list) {
  try {
    const OwnWords words(list, "'w.txt'");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(OwnWords, ListsWithoutWordsAreRefusedAndNotQuoted) {
  EXPECT_EQ(Refused(""), "'w.txt': empty; each line is a word or a phrase");
  EXPECT_EQ(Refused("\n \n"), "'w.txt': empty; each line is a word or a phrase");
  EXPECT_EQ(Refused("acme\n--\n"), "'w.txt': line 2: no word; each line is a word or a phrase");
  EXPECT_EQ(Refused("ac\xFFme\n"), "'w.txt': line 1, byte 3: no UTF-8; UTF-8 is read");
}

}  // namespace
}  // namespace sotto
