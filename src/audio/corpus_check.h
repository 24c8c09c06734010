// `sotto check`: everything that would go wrong later, found now.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "audio/corpus.h"

namespace sotto {

struct CheckOptions {
  int jobs = 1;
  bool headers_only = false;
  bool allow_pipes = false;
};

struct CorpusCheck {
  std::string kind;  // "kaldi", "folder" or "manifest"
  std::size_t recordings = 0, utterances = 0, speakers = 0;
  double audio_seconds = 0.0;  // 0 with headers_only
  std::vector<Problem> problems;

  std::size_t Errors() const;  // the others are warnings
};

// Throws Error only when there is no corpus at `path`.
CorpusCheck CheckCorpus(const std::filesystem::path& path, const CheckOptions& options);

}  // namespace sotto
