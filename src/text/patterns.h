// What tells of somebody by its form: addresses, telephone numbers, accounts, cards, ids, numbers,
// spelled names, and dates and times where their form shows them; in ordinary text and in
// transcripts without punctuation or capitals, where all of it is written in words.
//
//   EMAIL    john@example.com; "john dot smith at example dot com", "john at gmail"
//   URL      https://…, www.…, host names whose last label is a top-level domain; "example dot com"
//   IP       IPv4 and IPv6, with port or prefix, MAC addresses; "ten dot zero dot zero dot one"
//   IBAN     length by country and the remainder of ISO 7064 modulo 97 (ISO 13616)
//   CARD     13 to 19 digits that satisfy Luhn's formula (ISO/IEC 7812-1)
//   PHONE    7 to 12 digits (to 17 behind "+" or "00") in groups, in brackets, or read aloud; 10 or
//            11 in one piece; fewer behind "call" and the like; with an extension
//   ID       3-2-4 digits (US social security), two letters, six digits and A to D (UK national
//            insurance), any letters and digits together of which at least four are digits, and
//            five digits or more behind "licence", "passport", "social security" and the like
//   LOC      British and Canadian postcodes
//   NUMBER   what satisfies no checksum above, and every other number that is exact or long:
//            four significant digits or more (those between its first and last other than zero),
//            five where it is a decimal fraction or several numbers beside each other;
//            four digits or more read one by one, or that begin with zero (codes);
//            three or more behind "pin", "code", "account" and the like.
//            Years and smaller or rounder numbers single nobody out: "one", "two cups", "350 ml",
//            "nine one one", "5 million".
//   SPELLED  three letters or more one by one; "m as in mike", "capital j", "double l"; words of
//   the
//            NATO alphabet; common abbreviations ("b b c") are none
//   DATE     numeric dates, a month with a day or a year, weekdays, years behind "in" or "born"
//   TIME     10:45, "ten pm", "quarter past three", "half past ten", "six o'clock"
//
// What a row of digits is cannot always be known; then it is the more general type, but found. The
// confidence is 1 with a checksum or an unmistakable form and falls to 0.5 where the form is shared
// with something else; it is a rank, not a probability. Words are those of English. Time is linear
// in the text.
#pragma once

#include <string_view>
#include <vector>

#include "text/entity_finder.h"

namespace sotto {

class PatternFinder : public EntityFinder {
 public:
  std::vector<Entity> Find(std::string_view text) const override;
};

}  // namespace sotto
