// The utterances of corpora, and their sound as encoders take it: first channel, one rate.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "audio/corpus.h"

namespace sotto {

inline constexpr int kEncoderRateHz = 16000;

struct Utterance {
  std::string id, speaker;
  std::size_t recording = 0;  // in UtteranceList::recordings
  double begin_s = 0.0, end_s = -1.0;
};

// Of one or several corpora, in their order.
struct UtteranceList {
  std::vector<Recording> recordings;
  std::vector<Utterance> utterances;
  std::map<std::string, char> genders;  // speaker to 'F' or 'M'; those not known are absent
};

// Throws Error when a corpus is bad, when two corpora share an utterance id, or share a speaker
// unless `merge_speakers` says that it is the same person.
UtteranceList ListUtterances(const std::vector<std::filesystem::path>& corpora,
                             bool merge_speakers = false);

// The first channel of a recording at `rate_hz`.
std::vector<float> ReadMono(const std::filesystem::path& path, int rate_hz = kEncoderRateHz);

// Calls use(i, samples at 16 kHz) for every utterance of `wanted` (indices into
// list.utterances), recordings in parallel; each is decoded once. A time beyond the end of a
// recording (by more than half a second, Kaldi's tolerance) or an empty utterance is an Error.
void ForEachUtterance(const UtteranceList& list, std::span<const std::size_t> wanted, int jobs,
                      const std::function<void(std::size_t, std::span<const float>)>& use);

}  // namespace sotto
