// What `sotto anonymise` does alike for a file and for a corpus.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "audio/corpus.h"
#include "base/files.h"
#include "base/random.h"
#include "release/anonymise.h"
#include "voice/method.h"

namespace sotto {

std::unique_ptr<VoiceMethod> MakeMethod(const AnonymiseOptions& options, const Key& key);

// Fits the method to the speakers of the corpus, where it needs that, and says so in the report.
// One that works on whole folders makes all of it now, in `work` (release/folder_run.h).
void FitToCorpus(std::unique_ptr<VoiceMethod>& method, const Corpus& corpus,
                 const std::filesystem::path& work, const AnonymiseOptions& options,
                 AnonymiseReport& report);

struct ProtectedFile {
  std::unique_ptr<PendingFile> file;  // written, not yet synced or named
  double audio_seconds = 0.0;
};

// Reads `in`, writes `stem` plus the extension of the output format.
ProtectedFile ProtectFile(const std::filesystem::path& in, const std::filesystem::path& stem,
                          const WriteOptions& write, std::optional<Container> container,
                          std::span<const Span> spans, const VoiceMethod& method,
                          const AnonymiseOptions& options);

}  // namespace sotto
