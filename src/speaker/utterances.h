// The utterances of corpora, and their sound as encoders take it: first channel, one rate.
#pragma once

#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
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

// What hears an utterance while its recording is read.
class UtteranceSink {
 public:
  virtual ~UtteranceSink() = default;
  virtual void Push(std::span<const float> x) = 0;
  virtual void Finish() = 0;  // all of it was pushed
};
// A sink for list.utterances[i], whose sound comes at `rate_hz`.
using MakeSink = std::function<std::unique_ptr<UtteranceSink>(std::size_t i, int rate_hz)>;

inline constexpr int kOwnRate = 0;

// Reads a recording block by block and hands the utterances `wanted`, which must be of this
// recording, to sinks of their own: the first channel at `rate_hz` (kOwnRate: the recording's),
// cut there. It is decoded once, unless more than eight utterances lie over each other, and no more
// of it is in memory than a block and what the sinks keep. A time beyond the end of the recording
// (by more than half a second, Kaldi's tolerance) or an empty utterance is an Error, which may come
// after other utterances were finished.
void StreamRecording(const UtteranceList& list, std::span<const std::size_t> wanted, int rate_hz,
                     const MakeSink& make);

// The utterances of `wanted` (indices into list.utterances) by recording.
std::vector<std::vector<std::size_t>> GroupByRecording(const UtteranceList& list,
                                                       std::span<const std::size_t> wanted);

// All recordings of `wanted` in parallel.
void StreamUtterances(const UtteranceList& list, std::span<const std::size_t> wanted, int jobs,
                      int rate_hz, const MakeSink& make);

// Calls use(i, samples at 16 kHz) for every utterance of `wanted`, of each the first `most_s`
// seconds: for speech that must be in memory.
void ForEachUtterance(const UtteranceList& list, std::span<const std::size_t> wanted, int jobs,
                      const std::function<void(std::size_t, std::span<const float>)>& use,
                      double most_s = std::numeric_limits<double>::infinity());

}  // namespace sotto
