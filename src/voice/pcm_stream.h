// Raw PCM (little endian, channels interleaved) on standard input, protected PCM on standard
// output, as it comes: what `sotto stream` does.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "targets/targets.h"
#include "voice/transformer.h"
#include "voice/voice_options.h"

namespace sotto {

struct StreamOptions {
  int rate_hz = 16000;
  int channels = 1;
  bool is_float = false;  // 32-bit floats, else 16-bit integers
  VoiceOptions voice;
  std::optional<Strategy> strategy;  // not given: the method's default
  std::string speaker;               // empty: not said
  std::string context;

  // A stream is of one speaker: without a name for them, one target for all is what perm would
  // give.
  Strategy TargetStrategy() const;
  // What the method changes where it works on a stream. Throws Error when the options ask for what
  // a stream cannot do.
  void SetUp();
};

class PcmStream {
 public:
  // Of options that were set up. Throws Error for a method that has to hear the speaker first.
  PcmStream(const StreamOptions& options, const Key& key);

  double LatencyMs() const;
  // Until the end of standard input. As many samples come out as go in.
  void Run();

 private:
  std::size_t Push(const std::vector<char>& bytes);
  void Deliver();

  const int rate_hz_;
  const bool is_float_;
  const std::size_t channels_, sample_bytes_;
  std::vector<std::unique_ptr<StreamTransformer>> transformers_;
  std::vector<std::vector<float>> outputs_;
};

}  // namespace sotto
