// Sampling-rate conversion of one channel, in pieces of any size (libsoxr, high quality).
#pragma once

#include <memory>
#include <span>
#include <vector>

namespace sotto {

class Resampler {
 public:
  Resampler(double from_hz, double to_hz);
  ~Resampler();
  Resampler(const Resampler&) = delete;
  Resampler& operator=(const Resampler&) = delete;

  // Appends what is ready to `out`.
  void Push(std::span<const float> in, std::vector<float>& out);
  // Appends the rest; no Push may follow.
  void Finish(std::vector<float>& out);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A whole signal at once; the result has round(x.size()·to/from) samples.
std::vector<float> Resample(std::span<const float> x, double from_hz, double to_hz);

}  // namespace sotto
