#include "audio/sound_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstring>
#include <limits>

#include "audio/resampler.h"
#include "audio/testing.h"
#include "base/error.h"
#include "base/files.h"
#include "base/testing.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using testing::SyntheticVowel;
using testing::TemporaryFolder;
using testing::WriteAny;

std::string ErrorOf(const fs::path& path) {
  try {
    ReadSound(path);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

struct FormatCase {
  const char* name;
  int sndfile;
  SampleFormat samples;
  double tolerance;
};

class LosslessFormat : public ::testing::TestWithParam<FormatCase> {};

TEST_P(LosslessFormat, RoundTripsExactly) {
  const TemporaryFolder folder;
  const FormatCase& c = GetParam();
  const auto vowel = SyntheticVowel(0.1, 16000);
  WriteAny(folder / "in", c.sndfile, 16000, 1, vowel);
  const Sound in = ReadSound(folder / "in");
  EXPECT_EQ(in.format.samples, c.samples);
  ASSERT_EQ(in.channels[0].size(), vowel.size());
  for (std::size_t i = 0; i < vowel.size(); ++i) {
    EXPECT_NEAR(in.channels[0][i], vowel[i], c.tolerance);
  }
  WriteSound(folder / "out", {OutputFormat(in.format), in.channels});
  const Sound out = ReadSound(folder / "out");
  EXPECT_EQ(out.format, in.format);
  EXPECT_EQ(out.channels, in.channels);  // nothing is lost on the second way
}

INSTANTIATE_TEST_SUITE_P(
    All, LosslessFormat,
    ::testing::Values(
        FormatCase{"wav8", SF_FORMAT_WAV | SF_FORMAT_PCM_U8, SampleFormat::kInt8, 2e-2},
        FormatCase{"wav16", SF_FORMAT_WAV | SF_FORMAT_PCM_16, SampleFormat::kInt16, 7e-5},
        FormatCase{"wav24", SF_FORMAT_WAV | SF_FORMAT_PCM_24, SampleFormat::kInt24, 1e-6},
        FormatCase{"wav32", SF_FORMAT_WAV | SF_FORMAT_PCM_32, SampleFormat::kInt32, 1e-6},
        FormatCase{"wavfloat", SF_FORMAT_WAV | SF_FORMAT_FLOAT, SampleFormat::kFloat32, 0.0},
        FormatCase{"wavdouble", SF_FORMAT_WAV | SF_FORMAT_DOUBLE, SampleFormat::kFloat64, 0.0},
        FormatCase{"wavex", SF_FORMAT_WAVEX | SF_FORMAT_PCM_16, SampleFormat::kInt16, 7e-5},
        FormatCase{"mulaw", SF_FORMAT_WAV | SF_FORMAT_ULAW, SampleFormat::kMuLaw, 3e-2},
        FormatCase{"alaw", SF_FORMAT_WAV | SF_FORMAT_ALAW, SampleFormat::kALaw, 3e-2},
        FormatCase{"flac8", SF_FORMAT_FLAC | SF_FORMAT_PCM_S8, SampleFormat::kInt8, 2e-2},
        FormatCase{"flac16", SF_FORMAT_FLAC | SF_FORMAT_PCM_16, SampleFormat::kInt16, 7e-5},
        FormatCase{"flac24", SF_FORMAT_FLAC | SF_FORMAT_PCM_24, SampleFormat::kInt24, 1e-6}),
    [](const auto& test) { return test.param.name; });

TEST(SoundFile, LossyInputBecomesFlac) {
  const TemporaryFolder folder;
  const auto vowel = SyntheticVowel(1.0, 48000);
  for (const int format : {SF_FORMAT_OGG | SF_FORMAT_VORBIS, SF_FORMAT_OGG | SF_FORMAT_OPUS,
                           SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III}) {
    WriteAny(folder / "in", format, 48000, 1, vowel);
    const Sound in = ReadSound(folder / "in");
    EXPECT_EQ(in.format.rate_hz, 48000);
    EXPECT_NEAR(static_cast<double>(in.channels[0].size()), 48000.0, 2400.0);
    const SoundFormat out = OutputFormat(in.format);
    EXPECT_EQ(out.container, Container::kFlac);
    EXPECT_EQ(out.samples, SampleFormat::kInt16);
  }
}

TEST(SoundFile, WritesNoMetadata) {
  const TemporaryFolder folder;
  for (const int format : {SF_FORMAT_WAV | SF_FORMAT_FLOAT, SF_FORMAT_FLAC | SF_FORMAT_PCM_16}) {
    WriteAny(folder / "in", format, 16000, 1, SyntheticVowel(0.2, 16000));
    ASSERT_NE(ReadTextFile(folder / "in").find("Jane Doe"), std::string::npos);
    WriteSound(folder / "out", ReadSound(folder / "in"));
    const std::string bytes = ReadTextFile(folder / "out");
    for (const char* trace : {"Jane Doe", "LIST", "PEAK", "TITLE"}) {
      EXPECT_EQ(bytes.find(trace), std::string::npos) << trace;
    }
  }
}

TEST(SoundFile, FilesCutShortAreErrors) {
  const TemporaryFolder folder;
  const auto vowel = SyntheticVowel(2.0, 48000);
  for (const int format : {SF_FORMAT_WAV | SF_FORMAT_PCM_16, SF_FORMAT_FLAC | SF_FORMAT_PCM_16,
                           SF_FORMAT_OGG | SF_FORMAT_VORBIS, SF_FORMAT_OGG | SF_FORMAT_OPUS,
                           SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III}) {
    WriteAny(folder / "whole", format, 48000, 1, vowel);
    EXPECT_EQ(ErrorOf(folder / "whole"), "");
    const std::string bytes = ReadTextFile(folder / "whole");
    for (const double part : {0.001, 0.3, 0.7, 0.95}) {
      const auto size = static_cast<std::size_t>(part * static_cast<double>(bytes.size()));
      WriteFileAtomically(folder / "cut", bytes.substr(0, size));
      EXPECT_NE(ErrorOf(folder / "cut"), "") << std::hex << format << " " << part;
    }
  }
}

TEST(SoundFile, WavOfOpenLengthRunsToTheEndOfTheFile) {
  const TemporaryFolder folder;
  WriteAny(folder / "in", SF_FORMAT_WAV | SF_FORMAT_PCM_16, 16000, 1,
           std::vector<float>(500, 0.1F));
  std::string bytes = ReadTextFile(folder / "in");
  const std::size_t data = bytes.find("data");
  bytes.resize(data + 8 + 1000);
  std::memset(bytes.data() + data + 4, 0xFF, 4);
  std::memset(bytes.data() + 4, 0xFF, 4);
  WriteFileAtomically(folder / "pipe.wav", bytes);
  EXPECT_EQ(ReadSound(folder / "pipe.wav").channels[0].size(), 500U);
}

TEST(SoundFile, BadInputIsOneClearLine) {
  const TemporaryFolder folder;
  EXPECT_NE(ErrorOf(folder / "absent.wav").find("No such file"), std::string::npos);
  EXPECT_NE(ErrorOf(folder.Path()).find("not a file"), std::string::npos);
  WriteFileAtomically(folder / "empty.wav", "");
  EXPECT_NE(ErrorOf(folder / "empty.wav").find("empty"), std::string::npos);
  WriteFileAtomically(folder / "text.wav", "this is not a sound file at all, only words\n");
  EXPECT_NE(ErrorOf(folder / "text.wav").find("not a sound file"), std::string::npos);
  WriteAny(folder / "none.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16, 16000, 1, {});
  EXPECT_NE(ErrorOf(folder / "none.wav").find("no samples"), std::string::npos);
  WriteAny(folder / "slow.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16, 4000, 1, {0.1F});
  EXPECT_NE(ErrorOf(folder / "slow.wav").find("4000 Hz; 8000 to 192000"), std::string::npos);
  WriteAny(folder / "wide.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16, 16000, 100,
           std::vector<float>(100, 0.1F));
  EXPECT_NE(ErrorOf(folder / "wide.wav").find("100 channels"), std::string::npos);
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    WriteAny(folder / "nan.wav", SF_FORMAT_WAV | SF_FORMAT_FLOAT, 16000, 2,
             {0.1F, 0.1F, 0.1F, bad});
    EXPECT_NE(ErrorOf(folder / "nan.wav").find("sample 1 of channel 2 is not a finite"),
              std::string::npos);
  }
  for (const char* name : {"text.wav", "nan.wav", "wide.wav"}) {
    EXPECT_EQ(ErrorOf(folder / name).find('\n'), std::string::npos);
    EXPECT_NE(ErrorOf(folder / name).find(name), std::string::npos);
  }
}

TEST(SoundFile, SamplesBeyondAllScaleAreErrors) {
  const TemporaryFolder folder;
  for (const float bad : {3.4e38F, -2.2e9F}) {
    WriteAny(folder / "huge.wav", SF_FORMAT_WAV | SF_FORMAT_FLOAT, 16000, 2,
             {0.1F, 0.1F, 0.1F, bad});
    EXPECT_NE(ErrorOf(folder / "huge.wav").find("sample 1 of channel 2 is"), std::string::npos);
  }
  WriteAny(folder / "loud.wav", SF_FORMAT_WAV | SF_FORMAT_FLOAT, 16000, 1, {-kLargestSample, 1e4F});
  EXPECT_EQ(ErrorOf(folder / "loud.wav"), "");
}

TEST(SoundFile, NothingThatIsNoNumberIsWritten) {
  const TemporaryFolder folder;
  for (const SampleFormat samples : {SampleFormat::kInt16, SampleFormat::kFloat32}) {
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
      SoundWriter writer(folder / fmt::format("out{}", static_cast<int>(samples)),
                         {16000, 1, Container::kWav, samples});
      EXPECT_THROW(writer.Write(std::vector<float>{0.1F, bad}), Error);
      fs::remove(folder / fmt::format("out{}", static_cast<int>(samples)));
    }
  }
}

// A map of the file would end the program at the first look behind its new end; decoders of lossy
// formats would play what is left.
TEST(SoundFile, AFileThatShrinksWhileItIsReadIsAnError) {
  const TemporaryFolder folder;
  const auto vowel = SyntheticVowel(20.0, 48000);
  for (const int format :
       {SF_FORMAT_WAV | SF_FORMAT_PCM_16, SF_FORMAT_FLAC | SF_FORMAT_PCM_16,
        SF_FORMAT_OGG | SF_FORMAT_VORBIS, SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III}) {
    WriteAny(folder / "in", format, 48000, 1, vowel);
    SoundReader reader(folder / "in");
    std::vector<float> block(4800);
    EXPECT_GT(reader.Read(block), 0U);
    fs::resize_file(folder / "in", fs::file_size(folder / "in") / 2);
    EXPECT_THROW(
        {
          while (reader.Read(block) > 0) continue;
        },
        Error)
        << std::hex << format;
  }
}

// The last page of an Ogg stream is sought from the end, however far it is from there.
TEST(SoundFile, WhatFollowsTheLastOggPageDoesNotHideIt) {
  const TemporaryFolder folder;
  WriteAny(folder / "in.ogg", SF_FORMAT_OGG | SF_FORMAT_VORBIS, 48000, 1,
           SyntheticVowel(2.0, 48000));
  const std::string bytes = ReadTextFile(folder / "in.ogg");
  for (const std::size_t more :
       {std::size_t{0}, std::size_t{10}, (std::size_t{1} << 16) - 2, std::size_t{300000}}) {
    WriteFileAtomically(folder / "more.ogg", bytes + std::string(more, 'x'));
    EXPECT_NO_THROW(SoundReader(folder / "more.ogg")) << more;
  }
}

TEST(SoundFile, AFullDiskIsAnError) {
  const TemporaryFolder folder;
  // A limit on file size stands in for a full disk: write() fails in the same way.
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  for (const Container container : {Container::kWav, Container::kFlac}) {
    for (const std::size_t samples : {3000U, 200000U}) {
      const rlimit small{2048, old.rlim_max};
      setrlimit(RLIMIT_FSIZE, &small);
      SeededRng rng(1);
      std::vector<float> noise(samples);
      for (float& x : noise) x = static_cast<float>(0.3 * rng.Gaussian());
      EXPECT_THROW(
          WriteSound(folder / "full", {{16000, 1, container, SampleFormat::kInt16}, {noise}}),
          Error);
      setrlimit(RLIMIT_FSIZE, &old);
    }
  }
  std::signal(SIGXFSZ, handler);
}

TEST(SoundFile, FlacForFloatAndWideIntegersIs24Bit) {
  SoundFormat format;
  format.samples = SampleFormat::kFloat32;
  EXPECT_EQ(OutputFormat(format, Container::kFlac).samples, SampleFormat::kInt24);
  format.samples = SampleFormat::kInt32;
  EXPECT_EQ(OutputFormat(format, Container::kFlac).samples, SampleFormat::kInt24);
  format.channels = 9;
  EXPECT_THROW(OutputFormat(format, Container::kFlac), Error);
  EXPECT_EQ(format.Describe(), "WAV, 32-bit, 16000 Hz, 9 channels");
}

TEST(Resampler, KeepsAToneAndTheLength) {
  std::vector<float> x(9600);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(std::sin(2.0 * M_PI * 440.0 * static_cast<double>(i) / 96000.0));
  }
  const auto y = Resample(x, 96000, 48000);
  ASSERT_EQ(y.size(), 4800U);
  for (std::size_t i = 500; i < 4300; ++i) {
    EXPECT_NEAR(y[i], std::sin(2.0 * M_PI * 440.0 * static_cast<double>(i) / 48000.0), 1e-3);
  }
}

}  // namespace
}  // namespace sotto
