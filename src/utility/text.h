// English transcripts made comparable before words are counted: recognisers write "Mr. Brown paid
// 21 pounds", references "MISTER BROWN PAID TWENTY ONE POUNDS", and neither is wrong.
#pragma once

#include <string>
#include <string_view>

namespace sotto {

// Lower case; hyphens and dashes separate words; other punctuation is dropped, apostrophes inside
// words stay; "Mr.", "Mrs.", "Dr." and "&" are written out; numbers (with commas), years of four
// digits (1100–1999), ordinals ("21st"), per cent and sums in dollars and pounds become words; the
// British and American spellings of common endings (-our, -ise, -tre …) count as one. Words are
// separated by single spaces. Throws Error naming `where` when the text is not UTF-8.
std::string NormaliseTranscript(std::string_view text, const std::string& where);

// "twenty one", "one hundred and five" without the "and": numbers below 10¹².
std::string NumberWords(unsigned long long number);

}  // namespace sotto
