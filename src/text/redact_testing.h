// For tests only: a finder that knows some words, and texts read and written in one go.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/entity_finder.h"
#include "text/redact.h"
#include "text/tokens.h"

namespace sotto::testing {

// Finds these phrases as they are written, wherever their words stand one after another.
class PhraseFinder : public EntityFinder {
 public:
  explicit PhraseFinder(std::map<std::string, EntityType> phrases) : phrases_(std::move(phrases)) {}

  std::vector<Entity> Find(std::string_view text) const override {
    std::vector<Entity> found;
    for (const auto& [phrase, type] : phrases_) {
      for (std::size_t at = text.find(phrase); at != std::string_view::npos;
           at = text.find(phrase, at + 1)) {
        found.push_back({at, at + phrase.size(), type, 1.0});
      }
    }
    return WithoutOverlap(std::move(found));
  }

 private:
  std::map<std::string, EntityType> phrases_;
};

// All passages of a text.
inline std::vector<std::unique_ptr<Passage>> Passages(const std::string& text, TextFormat format,
                                                      const JsonLineFields& fields = {}) {
  LineReader lines(MemorySource(text), "a test");
  const auto reader = ReadPassages(lines, format, fields);
  std::vector<std::unique_ptr<Passage>> passages;
  while (auto passage = reader->Next()) passages.push_back(std::move(passage));
  return passages;
}

// What is searched, passage by passage.
inline std::vector<std::string> Texts(const std::string& text, TextFormat format) {
  std::vector<std::string> texts;
  for (const auto& passage : Passages(text, format)) {
    if (!passage->Text().empty()) texts.push_back(passage->Text());
  }
  return texts;
}

// The text with these phrases replaced: "new york" by "paris", say. Every one has to be there.
inline std::string Exchanged(const std::string& text, TextFormat format,
                             const std::map<std::string, std::string>& phrases,
                             const JsonLineFields& fields = {}) {
  std::string result;
  for (const auto& passage : Passages(text, format, fields)) {
    std::vector<TextEdit> edits;
    for (const auto& [phrase, other] : phrases) {
      const std::string& searched = passage->Text();
      for (std::size_t at = searched.find(phrase); at != std::string::npos;
           at = searched.find(phrase, at + phrase.size())) {
        edits.push_back({at, at + phrase.size(), other});
      }
    }
    std::sort(edits.begin(), edits.end(),
              [](const TextEdit& a, const TextEdit& b) { return a.begin < b.begin; });
    result += passage->Write(edits);
  }
  return result;
}

// The message of the Error that reading ends with; empty: it does not.
inline std::string Refusal(const std::string& text, TextFormat format,
                           const JsonLineFields& fields = {}) {
  try {
    Passages(text, format, fields);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace sotto::testing
