// Embeds the utterances of corpora, in parallel, with a cache.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "audio/utterances.h"
#include "speaker/embeddings.h"
#include "speaker/encoder.h"

namespace sotto {

struct EmbedOptions {
  int jobs = 1;
  // A folder that keeps embeddings by (fingerprint of the encoder, rule of windows, content of the
  // sound), so that the same sound is embedded once whatever it is called. Empty: none. It holds
  // biometric data, and is made private (base/private_folder.h): treat it like the recordings.
  std::filesystem::path cache;
};

struct EmbeddedCorpus {
  EmbeddingSet set;
  double audio_seconds = 0.0;
  std::size_t from_cache = 0;
};

// Ids, speakers and genders of these utterances, and no vectors.
EmbeddingSet LabelsOf(const UtteranceList& list, std::span<const std::size_t> wanted);

// The result does not depend on `jobs`. When it is cancelled, the cache keeps what was embedded.
// Every utterance is tried; if some fail, the Error counts them and names the first. Speakers whose
// gender the corpus does not say are in set.WithoutGender().
EmbeddedCorpus EmbedCorpus(const SpeakerEncoder& encoder, const UtteranceList& list,
                           const EmbedOptions& options = {});

// The first channel of a file, as long as it may be.
std::vector<float> EmbedFile(const SpeakerEncoder& encoder, const std::filesystem::path& path);

// Do two recordings come from one speaker?
struct Verification {
  double cosine = 0.0;
  std::optional<double> llr;  // natural log, where the encoder's file holds a calibration
};
Verification VerifyFiles(const SpeakerEncoder& encoder, const std::filesystem::path& a,
                         const std::filesystem::path& b);

// Which encoder made a folder of embeddings: its file encoder.json.
struct EncoderRecord {
  std::string encoder, fingerprint;
};
void WriteEncoderRecord(const SpeakerEncoder& encoder, const EmbeddingSet& set,
                        const std::filesystem::path& folder,
                        IfExists if_exists = IfExists::kReplace);
// Nothing when the folder does not say (embeddings of other programs).
std::optional<EncoderRecord> ReadEncoderRecord(const std::filesystem::path& folder);
// Throws Error when both folders say and they differ: such embeddings cannot be compared.
void RequireSameEncoder(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace sotto
