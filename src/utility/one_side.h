// What the judges of room utility say about one side of a comparison, and a folder that keeps what
// they said about the originals: several protected copies of one corpus need it once.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "speaker/encoder.h"
#include "utility/dnsmos.h"
#include "utility/paired_utterances.h"
#include "utility/prosody.h"
#include "utility/recogniser.h"
#include "utility/speech_detector.h"

namespace sotto {

// The judges that could be opened, and why the others could not.
struct Judges {
  std::unique_ptr<SpeechDetector> detector;
  std::unique_ptr<DnsMosJudge> dnsmos;
  std::vector<char> rated;  // by DNSMOS: by utterance; empty: all
  std::unique_ptr<SpeakerEncoder> encoder;
  std::string no_detector, no_dnsmos, no_encoder;

  struct Transcriber {
    std::unique_ptr<Recogniser> recogniser;  // null: it could not be opened
    std::vector<char> hears;                 // by utterance
  };
  std::vector<Transcriber> transcribers;

  // Files of the models, by stamp: a judge whose model changed says something else.
  std::string models;
};

// Stamps of all files that judges may open, those that are absent too.
std::string DescribeModelFiles(const ModelFolders& models);

// Everything but the transcribers. What is not installed is left out; a model that is not the
// pinned one (onnx/models.h) is an Error.
Judges OpenJudges(const ModelFolders& models, const std::string& encoder);

// A recogniser's text, and what it cost on one core.
struct HeardText {
  std::string text;
  double audio_s = 0.0, cpu_s = 0.0;
};

struct SideMeasures {
  double seconds = 0.0;
  std::optional<Prosody> prosody;  // none: the recording is empty
  std::optional<DnsMos> dnsmos;
  std::vector<float> voice;      // embedding; empty: no encoder, or too little speech for it
  std::vector<HeardText> heard;  // by transcriber; what it did not hear is empty
};

// Utterance `i` by all judges; `x` at 16 kHz.
SideMeasures MeasureSide(const Judges& judges, std::size_t i, std::span<const float> x);

// The original sides of all utterances. What the folder `cache` (mode 0700: it holds transcripts
// and voiceprints) keeps of them is taken from there, the rest is measured and kept. Each judge has
// a file of its own, named by a digest of the judge and of the sound files' stamps; one that cannot
// be read is measured anew. Nothing is ever removed.
std::vector<SideMeasures> MeasureOriginals(const Judges& judges,
                                           const std::vector<PairedUtterance>& utterances,
                                           const std::filesystem::path& cache, int jobs);

}  // namespace sotto
