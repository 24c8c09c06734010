#include "base/gender.h"

#include <gtest/gtest.h>

namespace sotto {
namespace {

TEST(Gender, IsReadInBothCasesAndPrintedInOne) {
  for (const char* text : {"F", "f"}) EXPECT_EQ(ParseGender(text), Gender::kFemale);
  for (const char* text : {"M", "m"}) EXPECT_EQ(ParseGender(text), Gender::kMale);
  for (const char* text : {"", "?", "female", "x", " F"}) {
    EXPECT_EQ(ParseGender(text), Gender::kUnknown) << text;
  }
  EXPECT_STREQ(Name(Gender::kFemale), "F");
  EXPECT_STREQ(Name(Gender::kMale), "M");
  EXPECT_STREQ(Name(Gender::kUnknown), "unknown");
  EXPECT_STREQ(Name(Gender::kUnknown, ""), "");
}

TEST(TargetGender, OnlyTheListedOnesAreAllowed) {
  for (const char* name : kTargetGenders) EXPECT_STREQ(Name(ParseTargetGender(name)), name);
  EXPECT_EQ(ParseTargetGender("other"), TargetGender::kOther);
  EXPECT_THROW(ParseTargetGender("f"), Error);
}

TEST(Gender, TheOtherOfUnknownIsUnknown) {
  EXPECT_EQ(OtherThan(Gender::kFemale), Gender::kMale);
  EXPECT_EQ(OtherThan(Gender::kMale), Gender::kFemale);
  EXPECT_EQ(OtherThan(Gender::kUnknown), Gender::kUnknown);
}

}  // namespace
}  // namespace sotto
