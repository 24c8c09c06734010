// What the vocoder sees, as files: F0, spectral envelope and aperiodicity of recordings
// (vocoder.h).
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files.h"
#include "dsp/vocoder.h"

namespace sotto {

struct FeatureOptions {
  VocoderOptions vocoder;
  int jobs = 1;
  IfExists if_exists = IfExists::kReplace;
};

struct RecordingFeatures {
  std::string id;
  int rate_hz = 16000;
  double seconds = 0.0;
  std::size_t frames = 0;
  std::size_t bins = 0;
  std::size_t voiced = 0;  // frames
};

// Analyses every recording of `input` (a sound file or a corpus; one channel, 16–48 kHz) and writes
// for each, below `out` (created when absent):
//   NAME.f0.npy  float64, one value a frame, Hz, 0: unvoiced
//   NAME.sp.npy  float32, frames × bins, power per sample
//   NAME.ap.npy  float32, frames × bins, amplitude of the noise part over the whole, 0–1
// Frame t lies at t·frame_period_s; bin k at k·rate/fft_size Hz. Memory does not grow with the
// length of a recording: beyond a minute it is analysed in blocks (BlockAnalyser). Throws Error
// that names the file when one cannot be read or analysed, or
// (before anything is analysed) when an array is there and must not be replaced.
std::vector<RecordingFeatures> WriteFeatures(const std::filesystem::path& input,
                                             const std::filesystem::path& out,
                                             const FeatureOptions& options = {});

}  // namespace sotto
