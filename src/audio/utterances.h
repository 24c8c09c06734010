// The utterances of corpora, and their sound: the first channel, at one rate or the recordings'
// own.
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
#include "audio/cutter.h"
#include "base/gender.h"

namespace sotto {

// What encoders and recognisers take.
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
  std::map<std::string, Gender> genders;  // of speakers; those not known are absent
};

// An utterance id that two corpora share: an Error, or one utterance, the first.
enum class Repeats { kRefuse, kCountOnce };

// Throws Error when a corpus is bad, when two corpora share an utterance id, or share a speaker
// unless `merge_speakers` says that it is the same person.
UtteranceList ListUtterances(const std::vector<std::filesystem::path>& corpora,
                             bool merge_speakers = false, Repeats repeats = Repeats::kRefuse);

// A sink for list.utterances[i], whose sound comes at `rate_hz`.
using MakeSink = std::function<std::unique_ptr<UtteranceSink>(std::size_t i, int rate_hz)>;

inline constexpr int kOwnRate = 0;

// The first channel of an utterance, at most `most_s` seconds of it, at the recording's own rate;
// what comes after them is not read. A recording that is a pipe is an Error, here as below.
struct Mono {
  std::vector<float> x;
  int rate_hz = 0;
};
Mono ReadUtterance(const Recording& recording, const Span& span,
                   double most_s = std::numeric_limits<double>::infinity());

// Hands the utterances `wanted`, which must be of this recording, to sinks of their own while it is
// read (cutter.h): the first channel, resampled to `rate_hz` (kOwnRate: the recording's) after the
// cut. It is decoded once, unless more than eight utterances lie over each other.
void StreamRecording(const UtteranceList& list, std::span<const std::size_t> wanted, int rate_hz,
                     const MakeSink& make);

std::vector<std::size_t> AllOf(const UtteranceList& list);

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
