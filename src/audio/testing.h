// For tests only: signals and sound files of every kind, written by libsndfile directly.
#pragma once

#include <sndfile.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "base/random.h"

namespace sotto::testing {

// A noisy vowel-like signal with a syllable rhythm: pulses at f0 through three resonances.
inline std::vector<float> SyntheticVowel(double seconds, int rate_hz, double f0_hz = 120.0,
                                         std::vector<double> formants_hz = {700, 1220, 2600},
                                         bool syllables = true) {
  SeededRng rng(1);
  std::vector<float> x(static_cast<std::size_t>(seconds * rate_hz));
  std::vector<double> y1(formants_hz.size()), y2(formants_hz.size());
  double phase = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    phase += f0_hz / rate_hz;
    double s = 0.003 * rng.Gaussian();
    if (phase >= 1.0) {
      phase -= 1.0;
      s += 1.0;
    }
    for (std::size_t k = 0; k < formants_hz.size(); ++k) {
      const double r = std::exp(-M_PI * 70.0 / rate_hz);
      const double y =
          s + 2.0 * r * std::cos(2.0 * M_PI * formants_hz[k] / rate_hz) * y1[k] - r * r * y2[k];
      y2[k] = y1[k];
      y1[k] = y;
      s = y * (1.0 - r);
    }
    const double rhythm =
        syllables ? 0.55 + 0.45 * std::sin(2.0 * M_PI * 3.0 * static_cast<double>(i) / rate_hz)
                  : 1.0;
    x[i] = static_cast<float>(s * rhythm);
  }
  float peak = 1e-9F;
  for (const float v : x) peak = std::max(peak, std::abs(v));
  for (float& v : x) v *= 0.5F / peak;
  return x;
}

// Writes interleaved samples in any libsndfile format, with a title tag where the format has tags.
inline void WriteAny(const std::filesystem::path& path, int format, int rate_hz, int channels,
                     const std::vector<float>& interleaved) {
  SF_INFO info{};
  info.format = format;
  info.samplerate = rate_hz;
  info.channels = channels;
  SNDFILE* file = sf_open(path.c_str(), SFM_WRITE, &info);
  if (file == nullptr) throw std::runtime_error(sf_strerror(nullptr));
  sf_set_string(file, SF_STR_TITLE, "Jane Doe's diary");
  sf_writef_float(file, interleaved.data(), static_cast<sf_count_t>(interleaved.size()) / channels);
  sf_close(file);
}

inline void WriteWav(const std::filesystem::path& path, const std::vector<float>& mono,
                     int rate_hz = 16000) {
  std::filesystem::create_directories(path.parent_path());
  WriteAny(path, SF_FORMAT_WAV | SF_FORMAT_PCM_16, rate_hz, 1, mono);
}

}  // namespace sotto::testing
