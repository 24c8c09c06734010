// The transform step of every method (voice/method.h): samples in, samples out, with all state in
// the object.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sotto {

// One channel of one utterance. What has been pushed so far comes out with a fixed delay; Finish()
// brings out the rest, so that in the end exactly as many samples came out as went in.
class StreamTransformer {
 public:
  virtual ~StreamTransformer() = default;
  // Appends the samples that are ready to `out`.
  virtual void Push(std::span<const float> in, std::vector<float>& out) = 0;
  // Ends the utterance; no Push may follow.
  virtual void Finish(std::vector<float>& out) = 0;
  // The algorithmic latency: sample n is out once sample n + LatencySamples() has been pushed.
  virtual std::size_t LatencySamples() const = 0;
};

}  // namespace sotto
