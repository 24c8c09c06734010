// The evidence file of an evaluation: what a data-protection impact assessment (GDPR, Art. 35) can
// quote. docs/evidence.md describes every field.
//
// It holds no speaker's name (unless asked for), no path and no plain fingerprint of an original: a
// plain hash of a recording would let anyone who has the recording prove that it was in the corpus.
// Of the originals there are keyed BLAKE2b-256 values, under a key that the user keeps or nobody.
#pragma once

#include <filesystem>
#include <string>

#include "base/random.h"
#include "report/evaluation_report.h"

namespace sotto {

// The key of fingerprints and ids. `file` empty: drawn, and gone with the process. Otherwise it is
// written there (mode 0600) before anything that was made with it; a file that is there already is
// used again, so that an interrupted run keeps its ids, and is an Error when others may read it.
class EvidenceKey {
 public:
  explicit EvidenceKey(const std::filesystem::path& file);

  bool IsKept() const { return kept_; }
  std::string SpeakerId(const std::string& speaker) const;  // "speaker-" and 16 digits
  SpeakerNaming Naming(bool names) const;  // by name or by id; as long as the key is there
  std::string RecordingId(const std::string& recording) const;  // "recording-" and 16 digits
  std::string Fingerprint(const std::filesystem::path& original) const;  // of its bytes

 private:
  Key key_;
  bool kept_;
};

// `original` is the corpus that was protected; `names` asks for speakers' names in place of ids.
std::string EvidenceJson(const Evaluation& evaluation, const EvidenceKey& key,
                         const std::filesystem::path& original, bool names);

}  // namespace sotto
