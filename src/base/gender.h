// What a corpus says of a speaker's gender, as far as attackers and target rules ask.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"

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

constexpr const char* Word(Gender gender) {
  if (gender == Gender::kUnknown) return "unknown";
  return gender == Gender::kFemale ? "female" : "male";
}

constexpr Gender OtherThan(Gender gender) {
  return gender == Gender::kFemale ? Gender::kMale
         : gender == Gender::kMale ? Gender::kFemale
                                   : gender;
}

// The gender of the voice a speaker gets, compared with the speaker's.
enum class TargetGender { kSame, kOther, kRandom };
inline constexpr std::array kTargetGenders = {"same", "other", "random"};

constexpr const char* Name(TargetGender gender) {
  return kTargetGenders[static_cast<std::size_t>(gender)];
}

// Error unless `name` is one of kTargetGenders.
inline TargetGender ParseTargetGender(std::string_view name) {
  for (std::size_t i = 0; i < kTargetGenders.size(); ++i) {
    if (name == kTargetGenders[i]) return static_cast<TargetGender>(i);
  }
  throw Error("target gender '" + std::string(name) + "': same, other or random is allowed");
}

}  // namespace sotto
