// What a corpus says of a speaker's gender, as far as attackers and target rules ask.
#pragma once

#include <string_view>

namespace sotto {

// The values are the bytes of pool files (targets/pool.h).
enum class Gender : char { kFemale = 'F', kMale = 'M', kUnknown = '?' };

// From F, f, M or m; anything else is not known.
constexpr Gender ParseGender(std::string_view text) {
  if (text == "F" || text == "f") return Gender::kFemale;
  if (text == "M" || text == "m") return Gender::kMale;
  return Gender::kUnknown;
}

// "F" or "M"; file formats differ in what they say where it is not known.
constexpr const char* Name(Gender gender, const char* unknown = "unknown") {
  if (gender == Gender::kUnknown) return unknown;
  return gender == Gender::kFemale ? "F" : "M";
}

constexpr Gender OtherThan(Gender gender) {
  return gender == Gender::kFemale ? Gender::kMale
         : gender == Gender::kMale ? Gender::kFemale
                                   : gender;
}

}  // namespace sotto
