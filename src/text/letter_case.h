// How the letters of a passage are written: transcripts know no capitals, headlines nothing else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sotto {

enum class LetterCase : std::uint8_t {
  kLower,
  kUpper,
  kCapital,  // a capital first, the rest as it is
  kTitle,    // the same of each word of several
  kAsItIs,
};

// Upper case of the letters whose lower case LowerCase() knows.
std::string UpperCase(std::string_view text);

// Of an entity by itself: upper case takes two letters.
LetterCase CaseOfEntity(std::string_view entity);

std::string InCase(std::string_view text, LetterCase letters);

// Which letters a text has; passages are looked at one by one.
class LettersSeen {
 public:
  void Look(std::string_view passage);
  // Lower or upper where the text has no others, else as it is.
  LetterCase Case() const;

 private:
  bool lower_ = false, upper_ = false;
};

}  // namespace sotto
