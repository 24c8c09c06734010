// The parts of PatternFinder (text/patterns.h). Each goes once over the lexemes of a text and adds
// what it finds; those behind leave alone what those before have taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "text/entity.h"
#include "text/lexemes.h"

namespace sotto {

class PatternScan {
 public:
  explicit PatternScan(const LexedText& text) : text_(text), taken_(text.size() + 1) {}

  const LexedText& text() const { return text_; }
  // Lexemes first … last − 1 are an entity. No other may begin within them later.
  void Take(std::size_t first, std::size_t last, EntityType type, double confidence) {
    if (first >= last) return;
    found_.push_back({text_[first].begin, text_[last - 1].end, type, confidence});
    for (std::size_t i = first; i < last; ++i) taken_[i] = 1;
  }
  bool IsTaken(std::size_t i) const { return i < text_.size() && taken_[i] != 0; }
  // In order of finding; a later one may hold an earlier one that was taken again.
  const std::vector<Entity>& found() const { return found_; }

 private:
  const LexedText& text_;
  std::vector<std::uint8_t> taken_;
  std::vector<Entity> found_;
};

// Mail addresses, URLs, domain names, IP and MAC addresses as they are written.
void FindAddresses(PatternScan& scan);
// The same as they are read aloud: "john dot smith at gmail dot com", "one nine two dot …".
void FindSpokenAddresses(PatternScan& scan);
// Days of the calendar and of the week, months, years.
void FindDates(PatternScan& scan);
void FindTimes(PatternScan& scan);
// IBANs, numbers of national insurance and postcodes: letters and digits in a fixed order.
void FindFixedForms(PatternScan& scan);
// All other rows of digits and letters: cards, telephone numbers, ids, numbers, spelled words.
void FindCodes(PatternScan& scan);

// Whether a word with one of these flags is among the eight lexemes before `at`, on its line.
bool HasCue(const LexedText& text, std::size_t at, std::uint32_t flags);

}  // namespace sotto
