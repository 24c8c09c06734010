#include "audio/container_check.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/files.h"

namespace sotto {
namespace {

// The bytes of a file, mapped read-only.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat info {};
    if (fd < 0 || ::fstat(fd, &info) != 0) {
      const std::string reason = SystemReason();
      if (fd >= 0) ::close(fd);
      throw Error(fmt::format("cannot open '{}': {}", path.string(), reason));
    }
    if (S_ISREG(info.st_mode) && info.st_size > 0) {
      size_ = static_cast<std::size_t>(info.st_size);
      data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    ::close(fd);
    if (!S_ISREG(info.st_mode)) throw Error(fmt::format("'{}' is not a file", path.string()));
    if (info.st_size == 0) throw Error(fmt::format("'{}' is empty", path.string()));
    if (data_ == MAP_FAILED) {
      throw Error(fmt::format("cannot read '{}': {}", path.string(), SystemReason()));
    }
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() {
    if (data_ != nullptr && data_ != MAP_FAILED) ::munmap(data_, size_);
  }
  std::string_view Bytes() const { return {static_cast<const char*>(data_), size_}; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

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

ContainerVerdict CheckWav(std::string_view bytes, const std::string& name) {
  std::uint64_t long_size = 0;  // the true data size of an RF64 file
  std::size_t at = 12;
  while (at + 8 <= bytes.size()) {
    const std::string_view id = bytes.substr(at, 4);
    std::uint64_t size = Little(bytes, at + 4, 4);
    const std::uint64_t left = bytes.size() - at - 8;
    if (id == "ds64" && left >= 16) long_size = Little(bytes, at + 8 + 8, 8);
    if (id == "data") {
      // Writers to a pipe cannot know the length and put the largest (or nearly so) there.
      if (size == 0xFFFFFFFF && long_size > 0) size = long_size;
      if (size >= 0x7FFFF000 && size > left && long_size == 0) return {.open_length = true};
      if (size > left) {
        throw Error(
            fmt::format("'{}' is cut short: {} of {} bytes of sound are there", name, left, size));
      }
      return {};
    }
    if (size > left) break;
    at += 8 + static_cast<std::size_t>(size + (size & 1));
  }
  throw Error(fmt::format("'{}' is a WAV file without a data chunk (damaged or cut short)", name));
}

void CheckOgg(std::string_view bytes, const std::string& name) {
  // A page is at most 27 + 255 + 255·255 bytes: the last one begins within that of the end.
  const std::size_t last = bytes.rfind("OggS");
  bool complete = false;
  if (last != std::string_view::npos && last + 27 <= bytes.size()) {
    const auto segments = static_cast<std::size_t>(Little(bytes, last + 26, 1));
    std::size_t end = last + 27 + segments;
    for (std::size_t i = 0; i < segments && last + 27 + i < bytes.size(); ++i) {
      end += static_cast<std::size_t>(Little(bytes, last + 27 + i, 1));
    }
    const bool end_of_stream = (Little(bytes, last + 5, 1) & 4) != 0;
    complete = end_of_stream && end <= bytes.size();
  }
  if (!complete) throw Error(fmt::format("'{}' is cut short: no complete last Ogg page", name));
}

// Bytes of the MPEG audio layer III frame at `at`, or nothing if no frame header stands there.
std::optional<std::size_t> Mp3FrameBytes(std::string_view bytes, std::size_t at) {
  if (at + 4 > bytes.size()) return std::nullopt;
  const std::uint32_t header = Big32(bytes, at);
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

void CheckMp3(std::string_view bytes, const std::string& name) {
  std::size_t at = 0;
  while (bytes.substr(at, 3) == "ID3" && at + 10 <= bytes.size()) {
    std::size_t size = 0;  // four bytes of 7 bits
    for (std::size_t i = 6; i < 10; ++i) size = size << 7 | (Little(bytes, at + i, 1) & 0x7F);
    at += 10 + size;
    if (at > bytes.size()) throw Error(fmt::format("'{}' is cut short inside its tag", name));
  }
  std::size_t frames = 0, announced = 0;
  while (const auto size = Mp3FrameBytes(bytes, at)) {
    if (at + *size > bytes.size()) {
      throw Error(fmt::format("'{}' is cut short: its last frame is incomplete", name));
    }
    if (frames == 0) announced = AnnouncedFrames(bytes.substr(at, *size));
    ++frames;
    at += *size;
  }
  // The frame with the header itself is not counted in it.
  if (announced > 0 && frames < announced + 1) {
    throw Error(
        fmt::format("'{}' is cut short: {} of {} frames are there", name, frames, announced + 1));
  }
}

}  // namespace

ContainerVerdict CheckContainer(const std::filesystem::path& path) {
  const MappedFile file(path);
  const std::string_view bytes = file.Bytes();
  const std::string name = path.string();
  const std::string_view magic = bytes.substr(0, 4);
  if ((magic == "RIFF" || magic == "RF64") && bytes.size() >= 12 && bytes.substr(8, 4) == "WAVE") {
    return CheckWav(bytes, name);
  }
  if (magic == "OggS") {
    CheckOgg(bytes, name);
  } else if (magic.substr(0, 3) == "ID3" || Mp3FrameBytes(bytes, 0)) {
    CheckMp3(bytes, name);
  } else if (magic != "fLaC") {
    throw Error(
        fmt::format("'{}' is no sound file this program reads (WAV, FLAC, Ogg, MP3)", name));
  }
  return {};
}

}  // namespace sotto
