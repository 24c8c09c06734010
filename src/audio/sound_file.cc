#include "audio/sound_file.h"

#include <fmt/format.h>
#include <sndfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>

#include "audio/container_check.h"
#include "base/error.h"
#include "base/files.h"
#include "base/progress.h"

namespace sotto {
namespace fs = std::filesystem;
namespace {

struct SubtypeRow {
  SampleFormat samples;
  int subtype;
  int bits;  // of the integer that carries a sample; 0: floating point
  const char* name;
};
constexpr std::array kSubtypes = {
    SubtypeRow{SampleFormat::kInt8, SF_FORMAT_PCM_U8, 8, "8-bit"},
    SubtypeRow{SampleFormat::kInt8, SF_FORMAT_PCM_S8, 8, "8-bit"},
    SubtypeRow{SampleFormat::kInt16, SF_FORMAT_PCM_16, 16, "16-bit"},
    SubtypeRow{SampleFormat::kInt24, SF_FORMAT_PCM_24, 24, "24-bit"},
    SubtypeRow{SampleFormat::kInt32, SF_FORMAT_PCM_32, 32, "32-bit"},
    SubtypeRow{SampleFormat::kFloat32, SF_FORMAT_FLOAT, 0, "float"},
    SubtypeRow{SampleFormat::kFloat64, SF_FORMAT_DOUBLE, 0, "double"},
    SubtypeRow{SampleFormat::kMuLaw, SF_FORMAT_ULAW, 16, "µ-law"},
    SubtypeRow{SampleFormat::kALaw, SF_FORMAT_ALAW, 16, "A-law"},
};

int Bits(SampleFormat format) {
  for (const SubtypeRow& row : kSubtypes) {
    if (row.samples == format) return row.bits;
  }
  return 0;
}

int SndfileFormat(const SoundFormat& format) {
  const int major = format.container == Container::kFlac ? SF_FORMAT_FLAC : SF_FORMAT_WAV;
  if (format.samples == SampleFormat::kInt8) {
    // WAV stores 8 bits unsigned, FLAC signed.
    return major | (major == SF_FORMAT_WAV ? SF_FORMAT_PCM_U8 : SF_FORMAT_PCM_S8);
  }
  for (const SubtypeRow& row : kSubtypes) {
    if (row.samples == format.samples) return major | row.subtype;
  }
  throw Error(fmt::format("cannot write {}", format.Describe()));
}

Container ContainerOf(int format, const std::string& path) {
  switch (format & SF_FORMAT_TYPEMASK) {
    case SF_FORMAT_WAV:
    case SF_FORMAT_WAVEX:
    case SF_FORMAT_RF64:
      return Container::kWav;
    case SF_FORMAT_FLAC:
      return Container::kFlac;
    case SF_FORMAT_OGG:
      return Container::kOgg;
    case SF_FORMAT_MPEG:
      return Container::kMp3;
    default:
      throw Error(fmt::format("'{}' is neither WAV, FLAC, Ogg nor MP3", path));
  }
}

// libsndfile writes through these, so that no failed write goes unseen, not even the last one in
// sf_close.
struct Sink {
  int fd = -1;
  int failure = 0;  // errno of the first failed call
};

sf_count_t SinkLength(void* user) {
  struct stat info {};
  return ::fstat(static_cast<Sink*>(user)->fd, &info) == 0 ? info.st_size : -1;
}
sf_count_t SinkSeek(sf_count_t offset, int whence, void* user) {
  return ::lseek(static_cast<Sink*>(user)->fd, offset, whence);
}
sf_count_t SinkTell(void* user) { return ::lseek(static_cast<Sink*>(user)->fd, 0, SEEK_CUR); }
sf_count_t SinkRead(void* data, sf_count_t count, void* user) {
  return ::read(static_cast<Sink*>(user)->fd, data, static_cast<std::size_t>(count));
}
sf_count_t SinkWrite(const void* data, sf_count_t count, void* user) {
  auto* sink = static_cast<Sink*>(user);
  const char* bytes = static_cast<const char*>(data);
  sf_count_t done = 0;
  while (done < count) {
    const ssize_t n = ::write(sink->fd, bytes + done, static_cast<std::size_t>(count - done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      if (sink->failure == 0) sink->failure = errno;
      break;
    }
    done += n;
  }
  return done;
}

}  // namespace

std::string SoundFormat::Describe() const {
  constexpr std::array kNames = {"WAV", "FLAC", "Ogg", "MP3"};
  const char* sample_name = "lossy";
  for (const SubtypeRow& row : kSubtypes) {
    if (row.samples == samples) sample_name = row.name;
  }
  return fmt::format("{}, {}, {} Hz, {} channel{}", kNames[static_cast<std::size_t>(container)],
                     sample_name, rate_hz, channels, channels == 1 ? "" : "s");
}

bool IsFloat(SampleFormat format) {
  return format == SampleFormat::kFloat32 || format == SampleFormat::kFloat64;
}

SoundFormat OutputFormat(const SoundFormat& input) {
  const bool lossy = input.container == Container::kOgg || input.container == Container::kMp3 ||
                     input.samples == SampleFormat::kOther;
  return OutputFormat(input, lossy ? Container::kFlac : input.container);
}

SoundFormat OutputFormat(const SoundFormat& input, Container container) {
  SoundFormat output = input;
  output.container = container;
  if (output.samples == SampleFormat::kOther) output.samples = SampleFormat::kInt16;
  if (container == Container::kFlac) {
    const int bits = Bits(output.samples);
    if (bits == 0 || bits == 32) output.samples = SampleFormat::kInt24;
    if (output.samples == SampleFormat::kMuLaw || output.samples == SampleFormat::kALaw) {
      output.samples = SampleFormat::kInt16;
    }
    if (output.channels > 8) {
      throw Error(fmt::format("FLAC holds at most 8 channels, not {}: write WAV", output.channels));
    }
  }
  return output;
}

std::string Extension(Container container) {
  return container == Container::kFlac ? ".flac" : ".wav";
}

std::string LowerExtension(const fs::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

bool HasSoundExtension(const fs::path& path) {
  const std::string extension = LowerExtension(path);
  constexpr std::array<std::string_view, 7> kKnown = {".wav",  ".wave", ".flac", ".ogg",
                                                      ".opus", ".oga",  ".mp3"};
  return std::find(kKnown.begin(), kKnown.end(), extension) != kKnown.end();
}

struct SoundReader::Impl {
  std::string path;
  SNDFILE* file = nullptr;
  SoundFormat format;
  std::int64_t expected = -1;  // frames the file says it has; −1: not said
  std::int64_t position = 0;
  std::uint64_t bytes = 0;  // of the file when it was opened
  std::vector<int> integers;

  // Decoders of lossy formats play what is left of a file that somebody cuts off meanwhile.
  void RefuseChange() const {
    std::error_code code;
    if (fs::file_size(path, code) != bytes || code) {
      throw Error(fmt::format("'{}' changed while it was read", path));
    }
  }
  ~Impl() {
    if (file != nullptr) sf_close(file);
  }
};

SoundReader::SoundReader(const fs::path& path) : impl_(std::make_unique<Impl>()) {
  impl_->path = path.string();
  const ContainerVerdict verdict = CheckContainer(path);
  impl_->bytes = verdict.bytes;
  SF_INFO info{};
  impl_->file = sf_open(path.c_str(), SFM_READ, &info);
  if (impl_->file == nullptr) {
    const std::string reason = sf_strerror(nullptr);
    // What libsndfile says where its own parser took a header that cannot be.
    throw Error(fmt::format("'{}' cannot be decoded: {}", impl_->path,
                            reason.find("SF_INFO") == std::string::npos
                                ? reason
                                : "its header has no usable rate or number of channels"));
  }
  SoundFormat& format = impl_->format;
  format.container = ContainerOf(info.format, impl_->path);
  format.rate_hz = info.samplerate;
  format.channels = info.channels;
  format.samples = SampleFormat::kOther;
  if (format.container == Container::kWav || format.container == Container::kFlac) {
    for (const SubtypeRow& row : kSubtypes) {
      if (row.subtype == (info.format & SF_FORMAT_SUBMASK)) format.samples = row.samples;
    }
  }
  if (format.rate_hz < kMinRateHz || format.rate_hz > kMaxRateHz) {
    throw Error(fmt::format("'{}': sampling rate {} Hz; {} to {} Hz are supported", impl_->path,
                            format.rate_hz, kMinRateHz, kMaxRateHz));
  }
  if (format.channels < 1 || format.channels > kMaxChannels) {
    throw Error(fmt::format("'{}': {} channels; 1 to {} are supported", impl_->path,
                            format.channels, kMaxChannels));
  }
  // Lossy decoders only estimate; a WAV of open length (a pipe's header) runs to the end of the
  // file.
  const bool counted = format.samples != SampleFormat::kOther && !verdict.open_length &&
                       info.frames >= 0 && info.frames < SF_COUNT_MAX;
  if (counted) impl_->expected = info.frames;
}

SoundReader::~SoundReader() = default;
const SoundFormat& SoundReader::Format() const { return impl_->format; }
std::int64_t SoundReader::Position() const { return impl_->position; }

std::size_t SoundReader::Read(std::span<float> interleaved) {
  ThrowIfCancelled();
  Impl& impl = *impl_;
  const auto channels = static_cast<std::size_t>(impl.format.channels);
  const auto wanted = static_cast<sf_count_t>(interleaved.size() / channels);
  sf_count_t frames = 0;
  if (Bits(impl.format.samples) > 0) {
    // Integers are read as integers: one exact scale for all depths, the same both ways.
    impl.integers.resize(interleaved.size());
    frames = sf_readf_int(impl.file, impl.integers.data(), wanted);
    const std::size_t count = static_cast<std::size_t>(std::max<sf_count_t>(frames, 0)) * channels;
    for (std::size_t i = 0; i < count; ++i) {
      interleaved[i] = static_cast<float>(impl.integers[i]) * 0x1.0p-31F;
    }
  } else {
    frames = sf_readf_float(impl.file, interleaved.data(), wanted);
    for (std::size_t i = 0;
         i < static_cast<std::size_t>(std::max<sf_count_t>(frames, 0)) * channels; ++i) {
      if (!(std::abs(interleaved[i]) <= kLargestSample)) {
        throw Error(fmt::format("'{}': sample {} of channel {} is {}", impl.path,
                                impl.position + static_cast<std::int64_t>(i / channels),
                                i % channels + 1,
                                std::isfinite(interleaved[i])
                                    ? fmt::format("{:g}; full scale is 1, at most {:g} is read",
                                                  interleaved[i], kLargestSample)
                                    : std::string("not a finite number")));
      }
    }
  }
  if (frames < 0 || sf_error(impl.file) != SF_ERR_NO_ERROR) {
    throw Error(fmt::format("'{}': damaged after {} samples: {}", impl.path, impl.position,
                            sf_strerror(impl.file)));
  }
  impl.position += frames;
  if (frames == 0 && impl.expected >= 0 && impl.position != impl.expected) {
    throw Error(fmt::format("'{}' is cut short or damaged: {} of {} samples can be read", impl.path,
                            impl.position, impl.expected));
  }
  if (frames == 0) impl.RefuseChange();
  if (frames == 0 && impl.position == 0) throw Error(fmt::format("'{}' has no samples", impl.path));
  return static_cast<std::size_t>(frames);
}

struct SoundWriter::Impl {
  std::unique_ptr<PendingFile> own;  // unless it is the caller's
  std::string path;
  Sink sink;
  SNDFILE* file = nullptr;
  SoundFormat format;
  std::vector<int> integers;

  // The text of the first error the sink saw.
  [[noreturn]] void Fail() const {
    errno = sink.failure;
    throw Error(fmt::format("cannot write '{}': {}", path,
                            sink.failure != 0 ? SystemReason() : sf_strerror(file)));
  }
  ~Impl() {
    if (file != nullptr) sf_close(file);
  }
};

SoundWriter::SoundWriter(const fs::path& path, const SoundFormat& format)
    : SoundWriter(std::make_unique<PendingFile>(path), format) {}

SoundWriter::SoundWriter(std::unique_ptr<PendingFile> own, const SoundFormat& format)
    : SoundWriter(*own, format) {
  impl_->own = std::move(own);
}

SoundWriter::SoundWriter(PendingFile& pending, const SoundFormat& format,
                         const std::string& comment)
    : impl_(std::make_unique<Impl>()) {
  Impl& impl = *impl_;
  impl.path = pending.FinalPath().string();
  impl.format = format;
  SF_INFO info{};
  info.samplerate = format.rate_hz;
  info.channels = format.channels;
  info.format = SndfileFormat(format);
  impl.sink.fd = pending.Descriptor();
  SF_VIRTUAL_IO io{SinkLength, SinkSeek, SinkRead, SinkWrite, SinkTell};
  impl.file = sf_open_virtual(&io, SFM_WRITE, &info, &impl.sink);
  if (impl.file == nullptr || impl.sink.failure != 0) impl.Fail();
  // The PEAK chunk would carry the time of writing.
  sf_command(impl.file, SFC_SET_ADD_PEAK_CHUNK, nullptr, SF_FALSE);
  if (!comment.empty() && sf_set_string(impl.file, SF_STR_COMMENT, comment.c_str()) != 0) {
    throw Error(fmt::format("'{}': this format holds no comment", impl.path));
  }
}

SoundWriter::~SoundWriter() = default;

void SoundWriter::Write(std::span<const float> interleaved) {
  Impl& impl = *impl_;
  for (const float sample : interleaved) {
    if (!std::isfinite(sample)) {
      throw Error(fmt::format("'{}': a sample to be written is not a finite number", impl.path));
    }
  }
  const int bits = Bits(impl.format.samples);
  const auto count = static_cast<sf_count_t>(interleaved.size());
  sf_count_t written = 0;
  if (bits > 0) {
    const double scale = std::ldexp(1.0, bits - 1);
    const int shift = 32 - bits;
    impl.integers.resize(interleaved.size());
    for (std::size_t i = 0; i < interleaved.size(); ++i) {
      const double clipped =
          std::clamp(static_cast<double>(interleaved[i]) * scale, -scale, scale - 1.0);
      impl.integers[i] = static_cast<int>(std::lrint(clipped) * (1L << shift));
    }
    written = sf_write_int(impl.file, impl.integers.data(), count);
  } else {
    written = sf_write_float(impl.file, interleaved.data(), count);
  }
  if (written != count || impl.sink.failure != 0) impl.Fail();
}

void SoundWriter::Close() {
  Impl& impl = *impl_;
  const int code = sf_close(impl.file);
  impl.file = nullptr;
  if (code != 0 && impl.sink.failure == 0) impl.sink.failure = EIO;
  if (impl.sink.failure != 0) impl.Fail();
  if (impl.own) impl.own->Commit();
}

Sound ReadSound(const fs::path& path) {
  SoundReader reader(path);
  Sound sound{reader.Format(), {}};
  const auto channels = static_cast<std::size_t>(sound.format.channels);
  sound.channels.resize(channels);
  std::vector<float> block(4096 * channels);
  while (const std::size_t frames = reader.Read(block)) {
    for (std::size_t i = 0; i < frames * channels; ++i) {
      sound.channels[i % channels].push_back(block[i]);
    }
  }
  return sound;
}

void WriteSound(const fs::path& path, const Sound& sound) {
  SoundWriter writer(path, sound.format);
  const std::size_t channels = sound.channels.size();
  std::vector<float> interleaved(channels * sound.channels.at(0).size());
  for (std::size_t i = 0; i < interleaved.size(); ++i) {
    interleaved[i] = sound.channels[i % channels][i / channels];
  }
  writer.Write(interleaved);
  writer.Close();
}

}  // namespace sotto
