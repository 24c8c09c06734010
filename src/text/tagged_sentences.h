// Sentences as rows of words with a label each, and the file in which they go to the training
// program: one JSON object a line, {"words": […], "labels": […]}, labels as the numbers of
// bio_labels.h.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "text/bio_labels.h"

namespace sotto {

struct TaggedSentence {
  std::vector<std::string> words;
  std::vector<BioLabel> labels;  // as many

  friend bool operator==(const TaggedSentence&, const TaggedSentence&) = default;
};

std::string WriteTaggedSentences(const std::vector<TaggedSentence>& sentences);
// `where`: for errors, which name the line and never quote it. Throws Error for what is no such
// file, a sentence without words, other numbers of words and labels, or a label that
// is none.
std::vector<TaggedSentence> ParseTaggedSentences(std::string_view text, const std::string& where);
std::vector<TaggedSentence> ReadTaggedSentences(const std::filesystem::path& path);

}  // namespace sotto
