// Embeddings of a corpus' utterances, as they are or changed by an attacker first, kept in a cache.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "audio/utterances.h"
#include "speaker/embeddings.h"
#include "speaker/encoder.h"
#include "voice/transformer.h"

namespace sotto {

// What changes one utterance as its sound comes: one channel at its own rate, in and out.
using SoundChange =
    std::function<std::unique_ptr<StreamTransformer>(int rate_hz, const Utterance& utterance)>;

// Embeddings are personal data: the folder is made private (base/private_folder.h), and file names
// are digests of what is inside. Nothing is ever removed from it.
struct VoiceprintOptions {
  std::filesystem::path cache;  // empty: none
  int jobs = 1;
};

struct VoiceprintJob {
  std::string label;                // for the progress line
  std::vector<std::size_t> wanted;  // of list.utterances
  SoundChange change;               // empty: as they are
  // All that decides what `change` does (method, parameters, keyed draws): part of the cache's key.
  std::string change_text;
};

class Voiceprinter {
 public:
  // The encoders must outlive it.
  Voiceprinter(std::vector<const SpeakerEncoder*> encoders, VoiceprintOptions options);

  // A set by each encoder, in the order of job.wanted. Sound is read and changed once for all
  // encoders whose set is not in the cache, which knows files by path, size and time of change. It
  // is streamed: memory does not grow with a recording.
  // Throws Error that counts the utterances that could not be embedded and names the first.
  std::vector<EmbeddingSet> Embed(const UtteranceList& list, const VoiceprintJob& job) const;

 private:
  // Empty: nothing is kept.
  std::filesystem::path CacheFile(const SpeakerEncoder& encoder, const UtteranceList& list,
                                  const VoiceprintJob& job) const;

  const std::vector<const SpeakerEncoder*> encoders_;
  const VoiceprintOptions options_;
};

// Utterances of `list` with these ids, in their order. Throws Error that names `what` and counts
// those that are missing.
std::vector<std::size_t> FindUtterances(const UtteranceList& list, std::span<const std::string> ids,
                                        const std::string& what);

}  // namespace sotto
