// Tables 13 and 14 of COMPRISE D2.2 (§ 3.4), to stand beside ours. Theirs are English Verbmobil
// dialogues, free speech, which cannot be had here. Where accuracy and F1 are one number the test
// was balanced, or nearly: what was upsampled, was so before the split, copies and all.
#pragma once

#include <array>
#include <string_view>

#include "attack/word_study.h"

namespace sotto {

struct PublishedRates {
  double accuracy = 0.0, f1 = 0.0;
};
struct PublishedWords {
  std::string_view model;  // "svm" or "cnn"
  bool upsampled = false;
  PublishedRates gender, age;
};
inline constexpr std::array<PublishedWords, 4> kPublishedWords = {{
    {"svm", false, {0.721, 0.630}, {0.575, 0.570}},
    {"cnn", false, {0.837, 0.750}, {0.760, 0.740}},
    {"svm", true, {0.737, 0.737}, {0.770, 0.770}},
    {"cnn", true, {0.893, 0.893}, {0.968, 0.968}},
}};
// Speakers: male and female, 20 or above and below.
inline constexpr std::array<std::size_t, 2> kPublishedGenders = {913, 279};
inline constexpr std::array<std::size_t, 2> kPublishedAges = {600, 484};
inline constexpr const char* kPublishedWordsSource =
    "COMPRISE D2.2, tables 13 and 14: English Verbmobil dialogues";

// What was published of the classifier, upsampled or not, whatever the split: it is not told. Null
// for another attribute.
inline const PublishedRates* FindPublished(WordClassifier classifier, Upsampling upsampling,
                                           std::string_view attribute) {
  const std::string_view model = classifier == WordClassifier::kCnn ? "cnn" : "svm";
  for (const PublishedWords& row : kPublishedWords) {
    if (row.model != model || row.upsampled != (upsampling != Upsampling::kNone)) continue;
    if (attribute == "gender") return &row.gender;
    if (attribute == "age") return &row.age;
  }
  return nullptr;
}

}  // namespace sotto
