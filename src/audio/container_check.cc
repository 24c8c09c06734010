#include "audio/container_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/input.h"

namespace sotto {
namespace {

// The bytes of a file, read where they are looked at. (A map of it would end the program when
// somebody cuts the file off meanwhile.)
class FileBytes {
 public:
  explicit FileBytes(const std::filesystem::path& path) : file_(path) {
    if (file_.IsPipe()) throw Error(fmt::format("'{}' is a pipe, not a file", path.string()));
    if (file_.Size() == 0) throw Error(fmt::format("'{}' is empty", path.string()));
  }
  std::uint64_t size() const { return file_.Size(); }

  // Up to `count` bytes (kWindow at most) from `at`, fewer at the end of the file. Valid until the
  // next call.
  std::string_view At(std::uint64_t at, std::size_t count) {
    if (at >= size()) return {};
    count = static_cast<std::size_t>(std::min<std::uint64_t>(count, size() - at));
    if (at < begin_ || at + count > begin_ + window_.size()) {
      window_.resize(kWindow);
      window_.resize(file_.ReadAt(at, window_.data(), kWindow));
      begin_ = at;
    }
    return std::string_view(window_).substr(static_cast<std::size_t>(at - begin_), count);
  }

  static constexpr std::size_t kWindow = std::size_t{1} << 16;

 private:
  InputFile file_;
  std::string window_;
  std::uint64_t begin_ = 0;
};

// `count` bytes of `bytes` from `at`, which must be there.
std::uint64_t Little(std::string_view bytes, std::size_t at, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  }
  return value;
}

std::uint32_t Big32(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i)
    value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

ContainerVerdict CheckWav(FileBytes& bytes, const std::string& name) {
  std::uint64_t long_size = 0;  // the true data size of an RF64 file
  std::uint64_t at = 12;
  while (true) {
    const std::string_view head = bytes.At(at, 24);
    if (head.size() < 8) break;
    const std::string_view id = head.substr(0, 4);
    std::uint64_t size = Little(head, 4, 4);
    const std::uint64_t left = bytes.size() - at - 8;
    if (id == "ds64" && head.size() == 24) long_size = Little(head, 16, 8);
    if (id == "data") {
      // Writers to a pipe cannot know the length and put the largest (or nearly so) there.
      if (size == 0xFFFFFFFF && long_size > 0) size = long_size;
      if (size >= 0x7FFFF000 && size > left && long_size == 0) return {.open_length = true};
      if (size > left) {
        throw Error(fmt::format("'{}' is cut short: {} of {} bytes of sound are present", name,
                                left, size));
      }
      return {};
    }
    if (size > left) break;
    at += 8 + size + (size & 1);
  }
  throw Error(fmt::format("'{}' is a WAV file without a data chunk (damaged or cut short)", name));
}

// Where the last Ogg page begins: sought from the end, in windows that overlap by the mark.
std::optional<std::uint64_t> LastOggPage(FileBytes& bytes) {
  constexpr std::string_view kMark = "OggS";
  std::uint64_t end = bytes.size();
  while (end >= kMark.size()) {
    const std::uint64_t begin = end - std::min<std::uint64_t>(end, FileBytes::kWindow);
    const std::size_t found = bytes.At(begin, static_cast<std::size_t>(end - begin)).rfind(kMark);
    if (found != std::string_view::npos) return begin + found;
    if (begin == 0) break;
    end = begin + kMark.size() - 1;
  }
  return std::nullopt;
}

void CheckOgg(FileBytes& bytes, const std::string& name) {
  bool complete = false;
  if (const auto last = LastOggPage(bytes)) {
    const std::string_view page = bytes.At(*last, 27 + 255);
    if (page.size() >= 27) {
      const auto segments = static_cast<std::size_t>(Little(page, 26, 1));
      std::uint64_t end = *last + 27 + segments;
      for (std::size_t i = 0; i < segments && 27 + i < page.size(); ++i) {
        end += Little(page, 27 + i, 1);
      }
      const bool end_of_stream = (Little(page, 5, 1) & 4) != 0;
      complete = end_of_stream && end <= bytes.size();
    }
  }
  if (!complete) throw Error(fmt::format("'{}' is cut short: no complete last Ogg page", name));
}

// Bytes of the MPEG audio layer III frame at `at`, or nothing if no frame header stands there.
std::optional<std::size_t> Mp3FrameBytes(FileBytes& bytes, std::uint64_t at) {
  const std::string_view start = bytes.At(at, 4);
  if (start.size() < 4) return std::nullopt;
  const std::uint32_t header = Big32(start, 0);
  const std::uint32_t version = header >> 19 & 3;  // 3: MPEG 1, 2: MPEG 2, 0: MPEG 2.5
  const std::uint32_t bitrate_index = header >> 12 & 15;
  const std::uint32_t rate_index = header >> 10 & 3;
  if (header >> 21 != 0x7FF || version == 1 || (header >> 17 & 3) != 1 || bitrate_index == 0 ||
      bitrate_index == 15 || rate_index == 3) {
    return std::nullopt;
  }
  constexpr std::array<std::uint32_t, 15> kMpeg1 = {0,   32,  40,  48,  56,  64,  80, 96,
                                                    112, 128, 160, 192, 224, 256, 320};
  constexpr std::array<std::uint32_t, 15> kMpeg2 = {0,  8,  16, 24,  32,  40,  48, 56,
                                                    64, 80, 96, 112, 128, 144, 160};
  constexpr std::array<std::uint32_t, 3> kRates = {44100, 48000, 32000};
  const std::uint32_t rate = kRates[rate_index] >> (version == 3 ? 0 : version == 2 ? 1 : 2);
  const std::uint32_t kbps = version == 3 ? kMpeg1[bitrate_index] : kMpeg2[bitrate_index];
  const std::uint32_t padding = header >> 9 & 1;
  return (version == 3 ? 144000 : 72000) * kbps / rate + padding;
}

// The number of frames an Xing/Info header in the first frame announces, 0 if there is none.
std::size_t AnnouncedFrames(std::string_view frame) {
  for (const std::string_view tag : {"Xing", "Info"}) {
    const std::size_t at = frame.substr(0, 64).find(tag);
    if (at != std::string_view::npos && at + 12 <= frame.size() &&
        (Big32(frame, at + 4) & 1) != 0) {
      return Big32(frame, at + 8);
    }
  }
  return 0;
}

void CheckMp3(FileBytes& bytes, const std::string& name) {
  std::uint64_t at = 0;
  while (true) {
    const std::string_view tag = bytes.At(at, 10);
    if (tag.size() < 10 || tag.substr(0, 3) != "ID3") break;
    std::uint64_t size = 0;  // four bytes of 7 bits
    for (std::size_t i = 6; i < 10; ++i) size = size << 7 | (Little(tag, i, 1) & 0x7F);
    at += 10 + size;
    if (at > bytes.size()) throw Error(fmt::format("'{}' is cut short inside its tag", name));
  }
  std::size_t frames = 0, announced = 0;
  while (const auto size = Mp3FrameBytes(bytes, at)) {
    if (at + *size > bytes.size()) {
      throw Error(fmt::format("'{}' is cut short: its last frame is incomplete", name));
    }
    if (frames == 0) announced = AnnouncedFrames(bytes.At(at, *size));
    ++frames;
    at += *size;
  }
  // The frame with the header itself is not counted in it.
  if (announced > 0 && frames < announced + 1) {
    throw Error(
        fmt::format("'{}' is cut short: {} of {} frames are present", name, frames, announced + 1));
  }
}

}  // namespace

ContainerVerdict CheckContainer(const std::filesystem::path& path) {
  FileBytes bytes(path);
  const std::string name = path.string();
  const std::string start(bytes.At(0, 16));
  const std::string_view magic = std::string_view(start).substr(0, 4);
  // Sony's GUID for "riff", the beginning of a Wave64 file.
  constexpr std::string_view kWave64("riff\x2e\x91\xcf\x11\xa5\xd6\x28\xdb\x04\xc1\x00\x00", 16);
  ContainerVerdict verdict;
  if ((magic == "RIFF" || magic == "RF64") && start.size() >= 12 && start.substr(8, 4) == "WAVE") {
    verdict = CheckWav(bytes, name);
  } else if (magic == "OggS") {
    CheckOgg(bytes, name);
  } else if (magic.substr(0, 3) == "ID3" || Mp3FrameBytes(bytes, 0)) {
    CheckMp3(bytes, name);
  } else if (start == kWave64) {
    throw Error(fmt::format(
        "'{}' is a Wave64 (W64) file, which is not read: make it WAV (RF64 beyond 4 GB) or FLAC",
        name));
  } else if (magic != "fLaC") {
    throw Error(fmt::format(
        "'{}' is not a sound file that this program reads (WAV, FLAC, Ogg, MP3)", name));
  }
  verdict.bytes = bytes.size();
  return verdict;
}

}  // namespace sotto
