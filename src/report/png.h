// Small pictures for pages.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "dsp/spectrogram.h"

namespace sotto {

// 8-bit RGB, rows from top to bottom.
struct Picture {
  std::size_t width = 0, height = 0;
  std::vector<std::array<std::uint8_t, 3>> pixels;
};

// The bytes of a PNG file (ISO/IEC 15948).
std::string EncodePng(const Picture& picture);

// Low frequencies at the bottom, up to `top_hz`; `range_db` below the loudest value is black. The
// colours grow in lightness only, so they survive grey printing and colour blindness.
Picture PaintSpectrogram(const Spectrogram& spectrogram, std::size_t width, std::size_t height,
                         double top_hz, double range_db = 65.0);

std::string Base64(const std::string& bytes);

}  // namespace sotto
