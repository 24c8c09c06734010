// From speech to what VTLN keeps of a voice: the step that build and fit share.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "audio/corpus.h"
#include "dsp/vocoder.h"
#include "speaker/embeddings.h"
#include "speaker/encoder.h"
#include "targets/pool.h"

namespace sotto {

// Gathers frames of one voice and clusters them. Classes come from active frames (no more than 40
// dB below the loudest of their stretch), voiced or not; when there are too many, every second is
// dropped, so that memory is bounded and all of the speech counts.
class VoiceModelBuilder {
 public:
  void Add(const VocoderFrames& frames);
  // At least 100 active and 20 voiced frames (half a second of speech).
  bool HasEnough() const;
  // Throws Error unless HasEnough(). Without `classes` the model has no centroids: enough where the
  // pitch alone is asked for.
  VoiceModel Build(const std::string& name, Gender gender, bool classes = true) const;

 private:
  static constexpr std::size_t kMaxFrames = 4096;
  void Thin();

  std::vector<float> features_;  // rows of kEnvelopePoints
  std::size_t stride_ = 1, active_ = 0;
  std::size_t voiced_ = 0;
  double log_f0_sum_ = 0.0, log_f0_squares_ = 0.0;
};

struct VoiceModelOptions {
  double max_seconds = 120.0;  // of each speaker, the first ones of the corpus
  F0Method f0_method = F0Method::kFast;
  int jobs = 1;
  bool classes = true;  // false: pitch and gender only
};

// The embeddings of the utterances of a corpus, and why others have none.
struct Voiceprints {
  EmbeddingSet set;
  std::map<std::string, std::string> failures;  // utterance to reason
};
// The first channel and the first minute of each utterance count: bounded memory for any length.
Voiceprints EmbedVoices(const Corpus& corpus, const SpeakerEncoder& encoder, int jobs);

// The speakers of a corpus, those that could be modelled and why the others could not.
struct ModelledVoices {
  std::vector<VoiceModel> voices;               // in the order of Corpus::speakers
  std::map<std::string, std::string> failures;  // speaker to reason
  Voiceprints prints;                           // where the method asks for them
};

// The first channel of each recording counts. Gender comes from the corpus, where it says (column
// "gender", spk2gender).
ModelledVoices ModelVoices(const Corpus& corpus, const VoiceModelOptions& options);

}  // namespace sotto
