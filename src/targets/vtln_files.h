// `sotto build vtln` and `sotto fit vtln`: from a corpus to a pool or a profile.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "targets/pool.h"
#include "targets/voice_models.h"

namespace sotto {

struct BuiltPool {
  VoicePool pool;
  std::map<std::string, std::string> failures;  // speakers left out, with the reason
};

// The voices get neutral names (voice001 …) in the order of the speakers. Throws Error when no
// speaker has enough speech or the corpus has errors.
BuiltPool BuildPool(const std::filesystem::path& corpus, const VoiceModelOptions& options);

// Every speaker must be fitted: one that cannot be is an Error. `corpus` may be a single sound
// file.
VoiceProfile FitCorpus(const std::filesystem::path& corpus, const VoicePool& pool,
                       const VoiceModelOptions& options);

}  // namespace sotto
