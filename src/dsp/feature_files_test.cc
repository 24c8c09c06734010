#include "dsp/feature_files.h"

#include <gtest/gtest.h>

#include <cstring>

#include "audio/sound_file.h"
#include "base/error.h"
#include "base/files.h"
#include "base/npy.h"
#include "base/testing.h"
#include "dsp/vocoder_testing.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;

void Write(const fs::path& path, const std::vector<float>& x, int rate_hz, int channels = 1) {
  Sound sound;
  sound.format.rate_hz = rate_hz;
  sound.format.channels = channels;
  sound.format.samples = SampleFormat::kFloat32;
  sound.channels.assign(static_cast<std::size_t>(channels), x);
  WriteSound(path, sound);
}

// The values of an array whose header must hold `shape`.
template <typename T>
std::vector<T> ReadArray(const fs::path& path, const std::string& shape) {
  const std::string bytes = ReadTextFile(path);
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  const std::string header = bytes.substr(10, 118);
  EXPECT_NE(header.find("'descr': '<f" + std::to_string(sizeof(T)) + "'"), std::string::npos);
  EXPECT_NE(header.find("'shape': " + shape + ","), std::string::npos) << header;
  EXPECT_EQ(header.back(), '\n');
  std::vector<T> values((bytes.size() - 128) / sizeof(T));
  std::memcpy(values.data(), bytes.data() + 128, values.size() * sizeof(T));
  return values;
}

TEST(WriteFeatures, WritesTheFramesOfTheVocoder) {
  const testing::TemporaryFolder folder;
  const auto x = testing::Pulses(0.5, 16000, 140.0);
  Write(folder.Path() / "a.wav", x, 16000);
  for (const auto method : {F0Method::kFast, F0Method::kRobust}) {
    FeatureOptions options;
    options.vocoder.f0_method = method;
    const auto results = WriteFeatures(folder.Path() / "a.wav", folder.Path() / "out", options);
    const auto frames = Analyse(x, 16000, options.vocoder);
    ASSERT_EQ(results.size(), 1U);
    EXPECT_EQ(results[0].frames, 101U);
    EXPECT_EQ(results[0].bins, 513U);
    EXPECT_EQ(ReadArray<double>(folder.Path() / "out/a.f0.npy", "(101,)"), frames.f0_hz);
    EXPECT_EQ(ReadArray<float>(folder.Path() / "out/a.sp.npy", "(101, 513)"), frames.envelope);
    EXPECT_EQ(ReadArray<float>(folder.Path() / "out/a.ap.npy", "(101, 513)"), frames.aperiodicity);
  }
}

TEST(WriteFeatures, TakesFoldersAndKeepsTheirShape) {
  const testing::TemporaryFolder folder;
  fs::create_directories(folder.Path() / "in/s1");
  fs::create_directories(folder.Path() / "in/s2");
  Write(folder.Path() / "in/s1/a.wav", testing::Pulses(0.2, 16000, 140.0), 16000);
  Write(folder.Path() / "in/s2/a.wav", testing::Pulses(0.2, 48000, 140.0), 48000);
  EXPECT_EQ(WriteFeatures(folder.Path() / "in", folder.Path() / "out").size(), 2U);
  ReadArray<float>(folder.Path() / "out/s1/a.sp.npy", "(41, 513)");
  ReadArray<float>(folder.Path() / "out/s2/a.sp.npy", "(41, 1025)");
}

TEST(WriteFeatures, RefusesOtherRatesAndChannelsAndLeavesNothing) {
  const testing::TemporaryFolder folder;
  Write(folder.Path() / "low.wav", testing::Pulses(0.2, 8000, 140.0), 8000);
  Write(folder.Path() / "two.wav", testing::Pulses(0.2, 16000, 140.0), 16000, 2);
  for (const char* name : {"low.wav", "two.wav", "absent.wav"}) {
    try {
      WriteFeatures(folder.Path() / name, folder.Path() / "out");
      FAIL() << name;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
    }
  }
  EXPECT_FALSE(fs::exists(folder.Path() / "out"));
}

TEST(WriteFeatures, RefusesArraysThatAreThereBeforeItAnalyses) {
  const testing::TemporaryFolder folder;
  fs::create_directories(folder.Path() / "in/s");
  fs::create_directories(folder.Path() / "out/s");
  Write(folder.Path() / "in/s/a.wav", testing::Pulses(0.2, 16000, 140.0), 16000);
  Write(folder.Path() / "in/s/b.wav", testing::Pulses(0.2, 16000, 140.0), 16000);
  WriteFileAtomically(folder.Path() / "out/s/b.ap.npy", "kept");
  FeatureOptions options;
  options.if_exists = IfExists::kRefuse;
  EXPECT_THROW(WriteFeatures(folder.Path() / "in", folder.Path() / "out", options), Error);
  EXPECT_EQ(ReadTextFile(folder.Path() / "out/s/b.ap.npy"), "kept");
  EXPECT_FALSE(fs::exists(folder.Path() / "out/s/a.f0.npy"));
  options.if_exists = IfExists::kReplace;
  EXPECT_EQ(WriteFeatures(folder.Path() / "in", folder.Path() / "out", options).size(), 2U);
  ReadArray<float>(folder.Path() / "out/s/b.ap.npy", "(41, 513)");
}

TEST(NpyWriter, DoesNotReplaceAFileThatCameMeanwhile) {
  const testing::TemporaryFolder folder;
  NpyWriter<float> writer(folder.Path() / "a.npy", 3, IfExists::kRefuse);
  writer.Append(std::vector<float>(3));
  WriteFileAtomically(folder.Path() / "a.npy", "kept");
  EXPECT_THROW(writer.Close(), Error);
  EXPECT_EQ(ReadTextFile(folder.Path() / "a.npy"), "kept");
}

TEST(NpyWriter, RefusesBrokenRowsAndFoldersThatAreNotThere) {
  const testing::TemporaryFolder folder;
  NpyWriter<float> writer(folder.Path() / "a.npy", 3);
  EXPECT_THROW(writer.Append(std::vector<float>(4)), Error);
  EXPECT_THROW(NpyWriter<float>(folder.Path() / "none/a.npy", 3), Error);
}

}  // namespace
}  // namespace sotto
