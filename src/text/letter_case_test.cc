#include "text/letter_case.h"

#include <gtest/gtest.h>

#include "text/tokens.h"
#include "text/utf8.h"

namespace sotto {
namespace {

TEST(LetterCases, GoToUpperCaseAndBack) {
  for (char32_t code = 1; code < 0x600; ++code) {
    std::string letter;
    AppendUtf8(code, letter);
    const std::string upper = UpperCase(letter);
    EXPECT_EQ(LowerCase(upper), LowerCase(letter)) << static_cast<unsigned>(code);
    EXPECT_EQ(UpperCase(upper), upper) << static_cast<unsigned>(code);
  }
  EXPECT_EQ(UpperCase("zoë øst ωμέγα женя č straße \xff"), "ZOË ØST ΩΜΈΓΑ ЖЕНЯ Č STRAßE \xff");
}

TEST(LetterCases, AreReadOffAnEntity) {
  EXPECT_EQ(CaseOfEntity("anna"), LetterCase::kLower);
  EXPECT_EQ(CaseOfEntity("o'neil 3"), LetterCase::kLower);
  EXPECT_EQ(CaseOfEntity("ANNA"), LetterCase::kUpper);
  EXPECT_EQ(CaseOfEntity("ŽIŽEK"), LetterCase::kUpper);
  EXPECT_EQ(CaseOfEntity("Anna"), LetterCase::kCapital);
  EXPECT_EQ(CaseOfEntity("A"), LetterCase::kCapital);
  EXPECT_EQ(CaseOfEntity("Anna stone"), LetterCase::kCapital);
  EXPECT_EQ(CaseOfEntity("Anna Stone"), LetterCase::kTitle);
  EXPECT_EQ(CaseOfEntity("anna Stone"), LetterCase::kAsItIs);
  EXPECT_EQ(CaseOfEntity("12:30"), LetterCase::kAsItIs);
  EXPECT_EQ(CaseOfEntity("שלום"), LetterCase::kAsItIs);
}

TEST(LetterCases, AreWritten) {
  EXPECT_EQ(InCase("new York", LetterCase::kLower), "new york");
  EXPECT_EQ(InCase("new York", LetterCase::kUpper), "NEW YORK");
  EXPECT_EQ(InCase("new York", LetterCase::kCapital), "New York");
  EXPECT_EQ(InCase("élan vital", LetterCase::kTitle), "Élan Vital");
  EXPECT_EQ(InCase("new York", LetterCase::kAsItIs), "new York");
  EXPECT_EQ(InCase("", LetterCase::kCapital), "");
}

TEST(LetterCases, OfATextAreThoseOfAllItsPassages) {
  LettersSeen none, lower, upper, both;
  none.Look("12 שלום");
  EXPECT_EQ(none.Case(), LetterCase::kAsItIs);
  lower.Look("call ");
  lower.Look(" at 3");
  EXPECT_EQ(lower.Case(), LetterCase::kLower);
  upper.Look("CALL");
  EXPECT_EQ(upper.Case(), LetterCase::kUpper);
  both.Look("call ");
  both.Look(" Now");
  EXPECT_EQ(both.Case(), LetterCase::kAsItIs);
}

}  // namespace
}  // namespace sotto
