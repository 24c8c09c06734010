// Sampling-rate conversion of one channel, in pieces of any size (libsoxr, high quality, or for
// streams sinc_resampler.h).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace sotto {

// kSharp keeps 91 % of the band and lets nothing fold; to 16 kHz and back it holds back 70 to 220
// ms. kShort, for streams, keeps 85 % and lets what lies up to a tenth above the band fold into its
// upper tenth: 2.5 to 5 ms.
enum class ResamplerFilter { kSharp, kShort };

class Resampler {
 public:
  Resampler(double from_hz, double to_hz, ResamplerFilter filter = ResamplerFilter::kSharp);
  ~Resampler();
  Resampler(const Resampler&) = delete;
  Resampler& operator=(const Resampler&) = delete;

  // Appends what is ready to `out`.
  void Push(std::span<const float> in, std::vector<float>& out);
  // Appends the rest; no Push may follow.
  void Finish(std::vector<float>& out);
  // Input samples behind an output sample's place that it waits for, where that is known (kShort).
  std::optional<std::size_t> Reach() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A whole signal at once; the result has round(x.size()·to/from) samples.
std::vector<float> Resample(std::span<const float> x, double from_hz, double to_hz);

// The same as the signal comes, whatever the pieces.
class ResampleStream {
 public:
  ResampleStream(double from_hz, double to_hz);

  // Appends what is ready to `out`.
  void Push(std::span<const float> in, std::vector<float>& out);
  // Appends the rest; no Push may follow.
  void Finish(std::vector<float>& out);

 private:
  double ratio_;
  std::unique_ptr<Resampler> resampler_;  // none where the rates are the same
  std::size_t taken_ = 0, made_ = 0;
};

}  // namespace sotto
