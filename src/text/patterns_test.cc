#include "text/patterns.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/random.h"
#include "text/tokens.h"

namespace sotto {
namespace {

// What is found: "EMAIL john@example.com".
std::vector<std::string> Found(std::string_view text) {
  std::vector<std::string> found;
  for (const auto& entity : PatternFinder().Find(text)) {
    found.push_back(std::string(EntityName(entity.type)) + ' ' +
                    std::string(text.substr(entity.begin, entity.end - entity.begin)));
  }
  return found;
}

using Strings = std::vector<std::string>;

TEST(PatternsEmail, AreFoundAsWrittenAndAsReadAloud) {
  EXPECT_EQ(Found("Mail John.Smith+x@mail.example.co.uk, or <a_b@c.org>."),
            (Strings{"EMAIL John.Smith+x@mail.example.co.uk", "EMAIL a_b@c.org"}));
  EXPECT_EQ(Found("my email is john dot smith at gmail dot com thanks"),
            (Strings{"EMAIL john dot smith at gmail dot com"}));
  EXPECT_EQ(Found("write to j o h n underscore lee eighty four at yahoo dot co dot uk"),
            (Strings{"EMAIL j o h n underscore lee eighty four at yahoo dot co dot uk"}));
  EXPECT_EQ(Found("it is maria (at) example (dot) org"),
            (Strings{"EMAIL maria (at) example (dot) org"}));
  EXPECT_EQ(Found("send sam@gmail dot com a note"), (Strings{"EMAIL sam@gmail dot com"}));
  EXPECT_EQ(Found("ask \"joe\"@y.com"), (Strings{"EMAIL \"joe\"@y.com"}));
  EXPECT_EQ(Found("john at sign web dot de"), (Strings{"EMAIL john at sign web dot de"}));
  EXPECT_EQ(Found("it is m. smith at gmail.com"), (Strings{"EMAIL m. smith at gmail.com"}));
  EXPECT_EQ(Found("sara [at] mail [dot] ru"), (Strings{"EMAIL sara [at] mail [dot] ru"}));
  EXPECT_EQ(Found("my gmail is ann forty two at gmail"), (Strings{"EMAIL ann forty two at gmail"}));
}

TEST(PatternsUrl, AreFoundAsWrittenAndAsReadAloud) {
  EXPECT_EQ(
      Found("see http://example.com:8080/path?x=a&b=c#d, (www.a-b.ch) or bit.ly/x"),
      (Strings{"URL http://example.com:8080/path?x=a&b=c#d", "URL www.a-b.ch", "URL bit.ly/x"}));
  EXPECT_EQ(Found("go to www dot market repair dot com slash shop"),
            (Strings{"URL www dot market repair dot com slash shop"}));
  EXPECT_EQ(Found("look at amazon dot com for it"), (Strings{"URL amazon dot com"}));
  EXPECT_EQ(Found("h t t p colon slash slash example dot com"),
            (Strings{"URL h t t p colon slash slash example dot com"}));
  EXPECT_TRUE(Found("e.g. this, i.e. that, at p.m. in the store.No way.It is").empty());
}

TEST(PatternsIp, AreFoundAndTheirPartsMustFit) {
  EXPECT_EQ(Found("at 192.168.0.1:80, 10.0.0.0/8"),
            (Strings{"IP 192.168.0.1:80", "IP 10.0.0.0/8"}));
  EXPECT_EQ(Found("2001:0db8:85a3::8a2e:0370:7334 fe80::1%eth0 ::1 "
                  "4f8a:c99e:dc86:faf9:5988:5f63:375e:8a2a"),
            (Strings{"IP 2001:0db8:85a3::8a2e:0370:7334", "IP fe80::1%eth0", "IP ::1",
                     "IP 4f8a:c99e:dc86:faf9:5988:5f63:375e:8a2a"}));
  EXPECT_EQ(Found("00:1B:44:11:3A:B7"), (Strings{"IP 00:1B:44:11:3A:B7"}));
  EXPECT_EQ(Found("one nine two dot one sixty eight dot one dot ten"),
            (Strings{"IP one nine two dot one sixty eight dot one dot ten"}));
  for (const auto& entity : PatternFinder().Find("256.1.1.1 and std::vector and 1.2.3.4.5")) {
    EXPECT_NE(entity.type, EntityType::kIp);
  }
}

TEST(PatternsCard, AreThoseOfLuhnAndOthersAreNumbers) {
  EXPECT_EQ(Found("card 4111 1111 1111 1111"), (Strings{"CARD 4111 1111 1111 1111"}));
  EXPECT_EQ(Found("card 4111-1111-1111-1112"), (Strings{"NUMBER 4111-1111-1111-1112"}));
  EXPECT_EQ(Found("amex 3782 822463 10005"), (Strings{"CARD 3782 822463 10005"}));
  EXPECT_EQ(
      Found("four five three nine three oh one oh one nine six seven three one one four please"),
      (Strings{"CARD four five three nine three oh one oh one nine six seven three one one four"}));
  // A card and what is printed beside it.
  EXPECT_EQ(Found("4111 1111 1111 1111 0327 123"),
            (Strings{"CARD 4111 1111 1111 1111", "PHONE 0327 123"}));
}

TEST(PatternsIban, AreThoseWithRemainderOneAndOthersAreNumbers) {
  EXPECT_EQ(Found("IBAN GB29NWBK60161331926819."), (Strings{"IBAN GB29NWBK60161331926819"}));
  EXPECT_EQ(Found("DE89 3704 0044 0532 0130 00"), (Strings{"IBAN DE89 3704 0044 0532 0130 00"}));
  EXPECT_EQ(Found("DE89 3704 0044 0532 0130 01"), (Strings{"NUMBER DE89 3704 0044 0532 0130 01"}));
  EXPECT_EQ(Found("gb29 nwbk 6016 1331 9268 19"), (Strings{"IBAN gb29 nwbk 6016 1331 9268 19"}));
  EXPECT_EQ(
      Found("g b two nine n w b k six oh one six one double three one nine two six eight one nine"),
      (Strings{"IBAN g b two nine n w b k six oh one six one double three one nine two six "
               "eight one nine"}));
  EXPECT_EQ(Found("golf bravo two nine n w b k six zero one six one three three one nine two six "
                  "eight one nine"),
            (Strings{"IBAN golf bravo two nine n w b k six zero one six one three three one nine "
                     "two six eight one nine"}));
  EXPECT_EQ(Found("n o nine three eight six oh one one one one seven nine four seven"),
            (Strings{"IBAN n o nine three eight six oh one one one one seven nine four seven"}));
}

TEST(PatternsPhone, AreFoundInTheFormsOfManyCountries) {
  for (const std::string phone : {"(212) 555-0187",
                                  "212.555.0187",
                                  "+1-203-305-2492x5662",
                                  "001-846-853-9089x92556",
                                  "020 7946 0958",
                                  "+44 (0)20 7946 0958",
                                  "07700 900123",
                                  "030/901820",
                                  "+49 30 901820",
                                  "01 42 68 53 00",
                                  "+33 1 42 68 53 00",
                                  "06-10446904",
                                  "98765 43210",
                                  "+91 98765 43210",
                                  "0412 345 678",
                                  "(11) 4706-6184",
                                  "33 93 31",
                                  "9469 9966",
                                  "5550187123",
                                  "212-555-0187 ext. 44",
                                  "plus four four seven seven hundred nine double oh one two three",
                                  "oh seven seven double four nine one two three four five",
                                  "five five five, oh one nine nine",
                                  "one eight hundred five five five oh one nine nine",
                                  "four one five uh five five five dash oh one nine nine",
                                  "five five five oh one nine nine extension four two",
                                  "011 44 20 7946 0958",
                                  "four oh four. five five five. one two one two",
                                  "404 five five five 1212",
                                  "five five five one two for four six to one"}) {
    EXPECT_EQ(Found("reach us at " + phone + " today"), (Strings{"PHONE " + phone}));
  }
}

TEST(PatternsId, AreFoundByFormOrByTheWordsBeforeThem) {
  EXPECT_EQ(Found("ssn 364-21-3719"), (Strings{"ID 364-21-3719"}));
  EXPECT_EQ(Found("one two three dash four five dash six seven eight nine"),
            (Strings{"ID one two three dash four five dash six seven eight nine"}));
  EXPECT_EQ(Found("social security number one two three four five six seven eight nine"),
            (Strings{"ID one two three four five six seven eight nine"}));
  EXPECT_EQ(Found("AB123456C, AB 12 34 56 C"), (Strings{"ID AB123456C", "ID AB 12 34 56 C"}));
  EXPECT_EQ(Found("my driver's license number is 425700624"), (Strings{"ID 425700624"}));
  EXPECT_EQ(Found("license a one two five three two five eight six seven"),
            (Strings{"ID a one two five three two five eight six seven"}));
  EXPECT_EQ(Found("U62928788557186 or MORGA657054SM9IJ or D123-4567-8901"),
            (Strings{"ID U62928788557186", "ID MORGA657054SM9IJ", "ID D123-4567-8901"}));
  EXPECT_EQ(Found("passport C01X00T47"), (Strings{"ID C01X00T47"}));
  EXPECT_TRUE(Found("windows2000 covid19 mp3 1920x1080 10000mAh 4k BA 2490").empty());
}

TEST(PatternsPlace, PostcodesAreFound) {
  EXPECT_EQ(Found("SW1A 2AA, k1a 0b1"), (Strings{"LOC SW1A 2AA", "LOC k1a 0b1"}));
  EXPECT_EQ(Found("s w one a two a a"), (Strings{"LOC s w one a two a a"}));
}

TEST(PatternsNumber, ExactOnesAndCodesAreFoundAndSmallOrRoundOnesAreNot) {
  EXPECT_EQ(Found("he earned 23,457 dollars"), (Strings{"NUMBER 23,457"}));
  EXPECT_EQ(Found("one hundred and forty eight thousand five hundred and eighty seven"),
            (Strings{"NUMBER one hundred and forty eight thousand five hundred and eighty seven"}));
  EXPECT_EQ(Found("it is four two one seven"), (Strings{"NUMBER four two one seven"}));
  EXPECT_EQ(Found("my pin is 123"), (Strings{"NUMBER 123"}));
  EXPECT_EQ(Found("take 0042"), (Strings{"NUMBER 0042"}));
  // Not every row of eight digits is a telephone number.
  EXPECT_EQ(Found("account one two three four five six seven eight"),
            (Strings{"NUMBER one two three four five six seven eight"}));
  for (const std::string text :
       {"i have two cups and one dog", "350 ml", "call nine one one", "5 million people",
        "1.5 billion", "twenty four times seven", "room 204", "$99.99", "about 20,000",
        "one two three", "one to one two for one", "thirty five percent", "2016 2017 2018",
        "version 1.2.3", "3-2"}) {
    EXPECT_EQ(Found(text), Strings{}) << text;
  }
}

TEST(PatternsSpelled, LettersOneByOneAreFoundAndAbbreviationsAreNot) {
  for (const std::string spelled :
       {"m e y e r", "M-E-Y-E-R", "m. e. y. e. r", "m, e, y, e, r", "capital j o h n",
        "s m i double t h", "m as in mike e as in echo y", "m for mother a like apple",
        "mike echo yankee echo romeo", "l double u c a s", "j as in julia", "cee aitch are eye ess",
        "d apostrophe a r c y", "n oscar r a"}) {
    EXPECT_EQ(Found("it is " + spelled), (Strings{"SPELLED " + spelled}));
  }
  EXPECT_EQ(Found("al spelled a l"), (Strings{"SPELLED a l"}));
  for (const std::string text : {"the b b c and u.s.a. at p.m. are a k a it", "a U.S. firm", "i a",
                                 "mike and charlie", "golf in india", "plan a or b"}) {
    EXPECT_EQ(Found(text), Strings{}) << text;
  }
}

TEST(PatternsDate, AreFoundByTheirForm) {
  for (const std::string date : {"2024-03-05",
                                 "5/3/24",
                                 "05.03.1984",
                                 "13-Feb-2014",
                                 "03/2024",
                                 "March 5, 2024",
                                 "5th Mar",
                                 "Mar. 5th, 2024",
                                 "Tue, 5 Mar 2024",
                                 "march fifth",
                                 "march fifth nineteen eighty four",
                                 "the fifth of march two thousand and seventeen",
                                 "april nineteen seventy five",
                                 "april twenty nineteen seventy five",
                                 "twenty second march",
                                 "friday april fourteenth",
                                 "last monday",
                                 "january",
                                 "may two",
                                 "feb four",
                                 "january third ninety nine",
                                 "12 Apr '79",
                                 "2024 03 05",
                                 "5 3 2024"}) {
    EXPECT_EQ(Found("it was then, " + date), (Strings{"DATE " + date}));
  }
  EXPECT_EQ(Found("born in 1984 or in nineteen eighty five"),
            (Strings{"DATE 1984", "DATE nineteen eighty five"}));
  EXPECT_EQ(Found("on the fifteenth"), (Strings{"DATE fifteenth"}));
  EXPECT_EQ(Found("expires 09/27"), (Strings{"DATE 09/27"}));
  EXPECT_EQ(Found("oh four slash twelve slash nineteen seventy nine"),
            (Strings{"DATE oh four slash twelve slash nineteen seventy nine"}));
  EXPECT_TRUE(Found("i may one day march on for the second time, 2 of 3").empty());
  EXPECT_EQ(Found("13/45/99"), (Strings{"NUMBER 13/45/99"}));
}

TEST(PatternsTime, AreFoundByTheirForm) {
  for (const std::string time : {"10:45",
                                 "10:45 pm",
                                 "09:33:20",
                                 "10pm",
                                 "9.30 a.m.",
                                 "ten pm",
                                 "ten thirty p m",
                                 "five oh five am",
                                 "quarter past three",
                                 "half past ten",
                                 "six o'clock",
                                 "ten past seven",
                                 "ten minutes to six",
                                 "six to seven pm",
                                 "eight hundred am",
                                 "fourteen hundred hours",
                                 "nine in the morning",
                                 "twenty five past four",
                                 "10 45 pm",
                                 "oh nine hundred hours",
                                 "noon"}) {
    EXPECT_EQ(Found("it is " + time), (Strings{"TIME " + time}));
  }
  EXPECT_TRUE(Found("16:9 and 5 to 6, half a quarter, one am i").empty());
}

TEST(Patterns, DigitsOfOtherAlphabetsAreDigits) {
  EXPECT_EQ(Found("\u0660\u0661\u0662 \u0663\u0664\u0665 \u0666\u0667\u0668\u0669").size(), 1u);
  EXPECT_EQ(Found("\uFF14111 1111 1111 1111"), (Strings{"CARD \uFF14111 1111 1111 1111"}));
}

TEST(Patterns, AnyBytesGiveEntitiesInOrderAndWithoutOverlap) {
  SeededRng rng(3);
  const std::vector<std::string> pieces = {"a",           "i",
                                           "@",           ".",
                                           "dot ",        "com ",
                                           "at ",         "one ",
                                           "double ",     "7",
                                           "31",          "-",
                                           "(",           ")",
                                           "+",           "plus ",
                                           "gb",          "march ",
                                           "th",          ":",
                                           "am ",         "past ",
                                           "hundred ",    "and ",
                                           "oh ",         "x",
                                           " ",           "\n",
                                           "\xff",        "http://",
                                           "o",           "second ",
                                           "to ",         "4111 1111 1111 1111 ",
                                           "\u0663",      "\U0001F600",
                                           "as in mike ", "'s"};
  const PatternFinder finder;
  for (int n = 0; n < 20000; ++n) {
    std::string text;
    for (std::size_t i = rng.Below(25); i > 0; --i) text += pieces[rng.Below(pieces.size())];
    std::size_t at = 0;
    for (const auto& entity : finder.Find(text)) {
      ASSERT_LE(at, entity.begin);
      ASSERT_LT(entity.begin, entity.end);
      ASSERT_LE(entity.end, text.size());
      ASSERT_TRUE(entity.confidence > 0.0 && entity.confidence <= 1.0);
      at = entity.end;
    }
  }
}

TEST(Patterns, TimeIsLinearInALongLine) {
  for (const std::string_view piece : {"1",
                                       "1 ",
                                       "one ",
                                       "a ",
                                       "a.",
                                       "a@",
                                       "a dot ",
                                       "at ",
                                       "dot com ",
                                       "a.com",
                                       "555-1234 ",
                                       "gb29 ",
                                       "g b two nine ",
                                       "double ",
                                       "hundred and ",
                                       "4111 ",
                                       ":",
                                       "a:",
                                       "march ",
                                       "\"@",
                                       "x.",
                                       "( "}) {
    std::string text;
    while (text.size() < 500'000) text += piece;
    const auto start = std::chrono::steady_clock::now();
    (void)PatternFinder().Find(text);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    EXPECT_LT(seconds.count(), 10.0) << piece;  // quadratic would be hours
  }
}

}  // namespace
}  // namespace sotto
