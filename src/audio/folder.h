// The folder kind of corpus (audio/corpus.h).
#pragma once

#include <filesystem>

#include "audio/corpus.h"

namespace sotto {

// Every sound file in and below `root`, by name; what begins with a dot is skipped, other files are
// left out and named. Problems: links that lead nowhere or to a folder that is part of the corpus
// already, folders that cannot be read, pipes and devices named like sounds, names that are no
// UTF-8 or hold control characters. Throws Error when `root` itself cannot be read.
CorpusScan ScanFolder(const std::filesystem::path& root);

}  // namespace sotto
