// Sound files: WAV (8–32 bit integer, float, A-law, µ-law), FLAC, Ogg Vorbis/Opus and MP3 in; WAV
// and FLAC out. Samples are floats with full scale 1.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/files.h"

namespace sotto {

inline constexpr int kMinRateHz = 8000;
inline constexpr int kMaxRateHz = 192000;
inline constexpr int kMaxChannels = 64;
// Some programs write whole numbers of up to 32 bits into float files. What is larger is damage,
// and its powers leave the range of a float.
inline constexpr float kLargestSample = 0x1.0p31F;

enum class Container { kWav, kFlac, kOgg, kMp3 };

// How samples are stored. kOther: a lossy code that is read but never written.
enum class SampleFormat {
  kInt8,
  kInt16,
  kInt24,
  kInt32,
  kFloat32,
  kFloat64,
  kMuLaw,
  kALaw,
  kOther
};

struct SoundFormat {
  int rate_hz = 16000;
  int channels = 1;
  Container container = Container::kWav;
  SampleFormat samples = SampleFormat::kInt16;

  bool operator==(const SoundFormat&) const = default;
  // "WAV, 16-bit, 16000 Hz, 1 channel"
  std::string Describe() const;
};

// True for values that may exceed full scale without being clipped.
bool IsFloat(SampleFormat format);

// The format a protected copy of `input` is written in: the same container and sample format where
// they can be written; for lossy input FLAC, 16 bit. With `container` given, that container and the
// nearest sample format it has (FLAC: at most 24 bit integer).
SoundFormat OutputFormat(const SoundFormat& input);
SoundFormat OutputFormat(const SoundFormat& input, Container container);

// ".wav" or ".flac".
std::string Extension(Container container);
// Of a file's name, in lower case: ".wav".
std::string LowerExtension(const std::filesystem::path& path);
// True for names that end in one of the extensions read here (any case).
bool HasSoundExtension(const std::filesystem::path& path);

// Reads a file from start to end. Everything that is wrong is an Error naming the file: no such
// file, empty, not a sound file, a header out of range, a file cut short (WAV, FLAC, Ogg by their
// own lengths; MP3 by its frames), a sample that is not a number or beyond kLargestSample, a file
// that somebody changed meanwhile.
class SoundReader {
 public:
  explicit SoundReader(const std::filesystem::path& path);
  ~SoundReader();
  SoundReader(const SoundReader&) = delete;
  SoundReader& operator=(const SoundReader&) = delete;

  const SoundFormat& Format() const;

  // Reads up to interleaved.size()/channels frames; returns their number, 0 at the end.
  std::size_t Read(std::span<float> interleaved);

  // Frames read so far.
  std::int64_t Position() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Writes a file without any metadata. Nothing is complete before Close(); a failed write (a full
// disk) is an Error from Write() or Close().
class SoundWriter {
 public:
  // Into `file`, which must outlive the writer and is left for the caller to commit. `comment`: a
  // text that the file carries (WAV: LIST/INFO/ICMT; FLAC: a Vorbis comment); empty: nothing beside
  // the samples.
  SoundWriter(PendingFile& file, const SoundFormat& format, const std::string& comment = {});
  // A file that is there after Close() and not before.
  SoundWriter(const std::filesystem::path& path, const SoundFormat& format);
  ~SoundWriter();
  SoundWriter(const SoundWriter&) = delete;
  SoundWriter& operator=(const SoundWriter&) = delete;

  // Integer formats round to the nearest value and clip at full scale. A sample that is not a
  // finite number is an Error.
  void Write(std::span<const float> interleaved);
  void Close();

 private:
  SoundWriter(std::unique_ptr<PendingFile> own, const SoundFormat& format);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A whole file in memory, one vector per channel. For short files, tests and pictures.
struct Sound {
  SoundFormat format;
  std::vector<std::vector<float>> channels;
};
Sound ReadSound(const std::filesystem::path& path);
void WriteSound(const std::filesystem::path& path, const Sound& sound);

}  // namespace sotto
