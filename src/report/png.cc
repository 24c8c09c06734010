#include "report/png.h"

#include <zlib.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace sotto {
namespace {

void AppendBig32(std::string& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xFF);
}

void AppendChunk(std::string& out, const std::string& type, const std::string& data) {
  AppendBig32(out, static_cast<std::uint32_t>(data.size()));
  const std::string body = type + data;
  out += body;
  AppendBig32(out, static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(body.data()),
                                                    static_cast<uInt>(body.size()))));
}

std::array<std::uint8_t, 3> Colour(double level) {
  constexpr std::array<std::array<double, 3>, 6> kStops = {
      {{0, 0, 4}, {66, 10, 104}, {147, 38, 103}, {221, 81, 58}, {252, 165, 10}, {252, 255, 164}}};
  const double position = std::clamp(level, 0.0, 1.0) * (kStops.size() - 1);
  const auto index = std::min(static_cast<std::size_t>(position), kStops.size() - 2);
  const double t = position - static_cast<double>(index);
  std::array<std::uint8_t, 3> colour{};
  for (std::size_t c = 0; c < 3; ++c) {
    colour[c] = static_cast<std::uint8_t>(
        std::lround((1.0 - t) * kStops[index][c] + t * kStops[index + 1][c]));
  }
  return colour;
}

}  // namespace

std::string EncodePng(const Picture& picture) {
  std::string rows;
  for (std::size_t y = 0; y < picture.height; ++y) {
    rows += '\0';  // filter: none
    for (std::size_t x = 0; x < picture.width; ++x) {
      for (const std::uint8_t c : picture.pixels[y * picture.width + x])
        rows += static_cast<char>(c);
    }
  }
  uLongf size = compressBound(static_cast<uLong>(rows.size()));
  std::string packed(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                reinterpret_cast<const Bytef*>(rows.data()), static_cast<uLong>(rows.size()),
                Z_BEST_COMPRESSION) != Z_OK) {
    throw Error("PNG compression failed");
  }
  packed.resize(size);
  std::string header;
  AppendBig32(header, static_cast<std::uint32_t>(picture.width));
  AppendBig32(header, static_cast<std::uint32_t>(picture.height));
  header += std::string("\x08\x02\x00\x00\x00", 5);  // 8 bit, RGB, deflate, no filter, no interlace
  std::string png = "\x89PNG\r\n\x1a\n";
  AppendChunk(png, "IHDR", header);
  AppendChunk(png, "IDAT", packed);
  AppendChunk(png, "IEND", "");
  return png;
}

Picture PaintSpectrogram(const Spectrogram& spectrogram, std::size_t width, std::size_t height,
                         double top_hz, double range_db) {
  const float loudest = *std::max_element(spectrogram.db.begin(), spectrogram.db.end());
  Picture picture{width, height, {}};
  picture.pixels.resize(width * height);
  for (std::size_t x = 0; x < width; ++x) {
    const std::size_t frame = x * spectrogram.frames / width;
    for (std::size_t y = 0; y < height; ++y) {
      const double hz = top_hz * static_cast<double>(height - 1 - y) / static_cast<double>(height);
      const auto bin = std::min(spectrogram.bins - 1,
                                static_cast<std::size_t>(std::lround(hz / spectrogram.bin_hz)));
      const double below = loudest - spectrogram.db[frame * spectrogram.bins + bin];
      picture.pixels[y * width + x] = Colour(1.0 - below / range_db);
    }
  }
  return picture;
}

std::string Base64(const std::string& bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += i + k <= bytes.size() ? kDigits[group >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

}  // namespace sotto
