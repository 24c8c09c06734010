// Short-time power spectra, for pictures and simple measurements.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace sotto {

// Power spectrum of real frames of one size (even), by KissFFT.
class PowerSpectrum {
 public:
  explicit PowerSpectrum(std::size_t size);
  ~PowerSpectrum();
  PowerSpectrum(const PowerSpectrum&) = delete;
  PowerSpectrum& operator=(const PowerSpectrum&) = delete;
  std::size_t Bins() const { return size_ / 2 + 1; }
  // |X[k]|² for k = 0 … size/2; `frame` has `size` samples, `power` Bins() values.
  void Compute(std::span<const float> frame, std::span<float> power) const;

 private:
  struct Impl;
  std::size_t size_;
  std::unique_ptr<Impl> impl_;
};

// Power in dB (floor −120 dB), frames × bins, Hann window of 25 ms every 5 ms, the FFT the next
// power of two.
struct Spectrogram {
  std::size_t frames = 0, bins = 0;
  double bin_hz = 0.0;
  std::vector<float> db;  // db[frame·bins + bin]
};
Spectrogram ComputeSpectrogram(std::span<const float> x, int rate_hz);

}  // namespace sotto
