// The one cutter of utterances: which samples of a recording are an utterance, and their sound
// while the recording is read.
//
// A time t lies at sample llround(t·rate) of the recording's own rate; who wants another rate
// resamples what was cut. An utterance may end up to half a second after its recording does
// (Kaldi's tolerance: tables round their times) and ends with it then. One that holds no sample,
// begins after the recording or ends later still is an Error that names it.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "audio/sound_file.h"

namespace sotto {

// Samples [begin, end) of a recording.
struct Cut {
  static constexpr std::int64_t kToTheEnd = std::numeric_limits<std::int64_t>::max();
  std::int64_t begin = 0, end = kToTheEnd;
  bool operator==(const Cut&) const = default;
};

// Where an utterance lies at this rate; `end_s` < 0 is the end of the recording.
Cut CutOf(const std::string& utterance, double begin_s, double end_s, int rate_hz);
// The same once it is known how many `frames` the recording has.
Cut CutInside(const Cut& cut, const std::string& utterance, std::int64_t frames, int rate_hz);

// What hears an utterance while its recording is read.
class UtteranceSink {
 public:
  virtual ~UtteranceSink() = default;
  virtual void Push(std::span<const float> x) = 0;
  virtual void Finish() = 0;  // all of it was pushed
};

// One reading of a recording, block by block: no more of it is in memory than a block and what the
// sinks keep.
class Cutter {
 public:
  using Make = std::function<std::unique_ptr<UtteranceSink>()>;
  enum class Channels { kFirst, kAll };  // all: interleaved

  // `reader` stands at the begin of the recording and must outlive this.
  Cutter(SoundReader& reader, Channels channels);

  // In the order in which utterances begin; `make` is called when this one does. False, and nothing
  // is added: eight others lie over its begin, it is for another reading.
  bool Add(const std::string& utterance, const Cut& cut, Make make);

  // Reads to the end of the recording and returns its frames. Errors may come after other
  // utterances were finished. When `enough` says so after a block, it goes no further and finishes
  // nothing.
  std::int64_t Run(const std::function<bool()>& enough = {});

 private:
  struct Piece {
    std::string utterance;
    Cut cut;
    Make make;
    std::unique_ptr<UtteranceSink> sink;
    bool done = false;
  };
  void Hand(std::span<const float> interleaved);

  SoundReader& reader_;
  const std::size_t width_;  // samples of a frame that are handed on
  std::vector<Piece> pieces_;
  std::vector<std::int64_t> ends_;  // of those that lie over the last one's begin
  std::size_t next_ = 0;            // all pieces before it are done
  std::int64_t at_ = 0;             // frames read
};

}  // namespace sotto
