// Sotto as a library: a file, a corpus, a buffer or a stream in another voice, and figures of what
// an attacker finds. This header and the four below are all that is installed (docs/library.md).
//
// What goes wrong is a sotto::Error of one line that names the file or field, the value and what is
// allowed; a run that was called off throws sotto::Cancelled. Nothing is printed. Functions may be
// called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assess/figure.h"
#include "base/error.h"
#include "base/run_watch.h"
#include "voice/transformer.h"

namespace sotto {

// How voices are changed, and under which key. The defaults are those of `sotto anonymise`, whose
// --help lists methods, parameters and what they allow.
struct Protection {
  // "neural", or with parameters: "mcadams:alpha=0.5:0.9,pitch=random". Empty: the default method.
  std::string method{};
  // More parameters of the method, by the names of its flags: {"pool", "voices.bin"}.
  std::map<std::string, std::string> parameters{};
  // Who gets a target of their own: "const" nobody, "perm" each speaker, "random" each utterance.
  // Empty: the method's default.
  std::string strategy{};
  std::string context{};  // a text that separates releases under one key

  // The key decides whom everybody sounds like. It comes from the operating system, unless one of
  // these is given: a file as key_out leaves it, or the number of an experiment, which anybody can
  // repeat and which protects nobody.
  std::filesystem::path key_file{};
  std::optional<std::uint64_t> experiment_seed{};

  // Throws Error.
  void Validate() const;
};

// A sound file into another, WAV or FLAC by its name, of the same rate, channels and length. Beside
// it goes sotto-run.json: method and parameters, which are no secret. Returns what the user should
// know: "alpha 0.8 is fixed, so …".
std::vector<std::string> ProtectFile(const std::filesystem::path& in,
                                     const std::filesystem::path& out,
                                     const Protection& protection = {}, const RunWatch& watch = {});

struct CorpusSettings {
  int jobs = 0;              // recordings at a time; 0: as many as there are processors
  bool skip_failed = false;  // finish the corpus without the recordings that failed
  bool new_ids = false;      // keyed ids instead of the corpus' own, which often name the speaker
  bool mark = false;         // every file says in a comment that its voice is not the speaker's
  bool replace = false;      // key_out and map_out, where they are there already
  std::filesystem::path key_out{};  // keeps the key: a secret, outside of the output
  std::filesystem::path map_out{};  // which new id was which: as secret
};

struct ProtectedCorpus {
  struct Failure {
    std::string id, reason;
  };
  bool complete = false;  // all there, with tables and record
  std::size_t recordings = 0;
  std::size_t done = 0;     // of these; those of an interrupted run included
  std::size_t resumed = 0;  // of these, found whole from an interrupted run
  std::vector<Failure> failures;
  double audio_seconds = 0.0;  // protected in this run
  std::vector<std::string> notes;
};

// A folder of recordings (one folder for each speaker), a Kaldi data dir or a TSV manifest; the
// same kind comes out, with the same ids. A recording that fails is reported, and the corpus is not
// complete without it unless skip_failed. A run that was cancelled or killed keeps its state in
// OUT/.sotto-work: the same call goes on where it stopped, with the same targets, and ends with the
// files it would have made in one go.
ProtectedCorpus ProtectCorpus(const std::filesystem::path& in, const std::filesystem::path& out,
                              const Protection& protection = {},
                              const CorpusSettings& settings = {}, const RunWatch& watch = {});

// Whose sound it is. The target is drawn by these names: under one key the same name gets the same
// target again, with strategy "random" that of the utterance, which should be new each time.
struct Spoken {
  std::string speaker, utterance;
  std::size_t channel = 0;  // all channels of an utterance get the same target
};

// Sound in memory, under one key for as long as this lives. Samples of full scale 1, from 8 to 192
// kHz; what comes out stays within ±1. The method must not need to hear the speaker beforehand:
// those that map pitch or spectrum from a speaker's to a target's want the parameter "profile".
class VoiceProtector {
 public:
  explicit VoiceProtector(const Protection& protection = {});
  ~VoiceProtector();
  VoiceProtector(VoiceProtector&&) noexcept;
  VoiceProtector& operator=(VoiceProtector&&) noexcept;

  // One channel of a whole utterance: as many samples as go in.
  std::vector<float> Protect(std::span<const float> samples, int rate_hz,
                             const Spoken& spoken) const;
  // One channel as it comes (voice/transformer.h). It may outlive the protector. Error for a method
  // that hears whole files, or a latency of more than a stream allows.
  std::unique_ptr<StreamTransformer> OpenStream(int rate_hz, const Spoken& spoken) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// What Sotto's own attacker hears of a speaker in the first channel of a file: a vector of length
// 1. The scalar product of two says how alike they sound. Treat it like the recording: it
// identifies people.
std::vector<float> SpeakerEmbedding(const std::filesystem::path& file);

// Every figure of `sotto assess verify` for an attacker's scores of pairs of the same speaker and
// of different ones (higher: more alike): "eer", "cllr", "d_sys_unbiased" …, each with unit,
// direction and, by `resamples` of the bootstrap (0: none), an interval.
std::vector<Figure> VerificationFigures(std::span<const double> same_speaker,
                                        std::span<const double> different_speakers,
                                        int resamples = 1000);

}  // namespace sotto
