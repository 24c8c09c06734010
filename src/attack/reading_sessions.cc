#include "attack/reading_sessions.h"

#include "attack/word_corpora.h"

namespace sotto {

ReadingSessions::ReadingSessions(const std::vector<PlannedUtterance>& utterances) {
  std::map<long, std::size_t> book_of_chapter;
  std::vector<std::pair<std::string, long>> chapters;
  for (const PlannedUtterance& utterance : utterances) {
    const std::optional<long> chapter = ChapterOf(utterance.id, utterance.speaker);
    if (!chapter) return;
    book_of_chapter[*chapter] = 0;
    chapters.emplace_back(utterance.id, *chapter);
  }
  long last = 0;
  for (auto& [chapter, book] : book_of_chapter) {
    if (count_ == 0 || chapter - last > kNearChapters) ++count_;
    book = count_ - 1;
    last = chapter;
  }
  for (const auto& [utterance, chapter] : chapters) books_[utterance] = book_of_chapter[chapter];
}

}  // namespace sotto
