#include "targets/vtln_files.h"

#include <fmt/format.h>

#include "base/error.h"
#include "targets/vtln.h"

namespace sotto {
namespace fs = std::filesystem;

BuiltPool BuildPool(const fs::path& corpus, const VoiceModelOptions& options) {
  ModelledVoices modelled = ModelVoices(OpenCorpus(corpus, {.allow_file = true}), options);
  if (modelled.voices.empty()) {
    throw Error(fmt::format("no speaker of '{}' can be modelled: {}", corpus.string(),
                            modelled.failures.begin()->second));
  }
  BuiltPool built;
  built.pool.voices = std::move(modelled.voices);
  built.failures = std::move(modelled.failures);
  for (std::size_t i = 0; i < built.pool.voices.size(); ++i) {
    built.pool.voices[i].name = fmt::format("voice{:03}", i + 1);
  }
  return built;
}

VoiceProfile FitCorpus(const fs::path& corpus, const VoicePool& pool,
                       const VoiceModelOptions& options) {
  ModelledVoices modelled = ModelVoices(OpenCorpus(corpus, {.allow_file = true}), options);
  if (!modelled.failures.empty()) throw Error(modelled.failures.begin()->second);
  return FitProfile(std::move(modelled.voices), pool);
}

}  // namespace sotto
