// Who reads a book tells its words in all of its chapters: two utterances of one book are linked by
// the book and not by who reads. LibriSpeech's ids ("speaker-chapter-utterance") name the chapter;
// LibriVox numbers the chapters of a book one after another, so that chapters whose numbers lie
// within kNearChapters of each other are taken for one book (in dev-clean and dev-other, gaps
// between the chapters of one reader are at most 89 or at least 399). Not all books are found so:
// one that was recorded over a long time is taken for several.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "attack/trial_plan.h"

namespace sotto {

class ReadingSessions {
 public:
  static constexpr long kNearChapters = 100;

  explicit ReadingSessions(const std::vector<PlannedUtterance>& utterances);

  // False where ids do not say what was read: then every utterance is of no book.
  bool Known() const { return !books_.empty(); }
  std::size_t Books() const { return count_; }
  // The book of an utterance; throws std::out_of_range for other utterances, or where unknown.
  std::size_t BookOf(const std::string& utterance) const { return books_.at(utterance); }

 private:
  std::map<std::string, std::size_t> books_;
  std::size_t count_ = 0;
};

}  // namespace sotto
