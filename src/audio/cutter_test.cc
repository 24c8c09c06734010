#include "audio/cutter.h"

#include <gtest/gtest.h>

#include "audio/testing.h"
#include "base/error.h"
#include "base/testing.h"

namespace sotto {
namespace {

using testing::TemporaryFolder;

TEST(CutOf, RoundsToTheNearestSampleOfTheRate) {
  EXPECT_EQ(CutOf("u", 0.0, -1.0, 16000), (Cut{0, Cut::kToTheEnd}));
  EXPECT_EQ(CutOf("u", 0.1, 0.2, 16000), (Cut{1600, 3200}));
  EXPECT_EQ(CutOf("u", 1.00003, 1.99997, 16000), (Cut{16000, 32000}));  // 0.48 samples off
  EXPECT_EQ(CutOf("u", 1.00004, 1.99996, 16000), (Cut{16001, 31999}));  // 0.64
  EXPECT_EQ(CutOf("u", 0.5, 1.5, 11025), (Cut{5513, 16538}));           // halves: away from zero
  // 0.29 s is a little less than 4640 samples in binary: whole samples would lose one.
  EXPECT_EQ(CutOf("u", 0.0, 0.29, 16000).end, 4640);
}

TEST(CutOf, RefusesWhatHoldsNoSample) {
  for (const auto& [begin, end] : std::vector<std::pair<double, double>>{
           {1.0, 1.0}, {2.0, 1.0}, {1.0, 1.00001}, {0.0, 0.0}, {-0.1, 1.0}}) {
    EXPECT_THROW(CutOf("u", begin, end, 16000), Error) << begin << " " << end;
  }
  EXPECT_EQ(CutOf("u", 1.0, 1.00004, 16000), (Cut{16000, 16001}));
}

TEST(CutInside, CutsAnEndWithinHalfASecondAndRefusesALaterOne) {
  constexpr std::int64_t kFrames = 2 * 16000;
  const auto inside = [&](double begin, double end) {
    return CutInside(CutOf("u", begin, end, 16000), "u", kFrames, 16000);
  };
  EXPECT_EQ(inside(0.5, -1.0), (Cut{8000, kFrames}));
  EXPECT_EQ(inside(0.5, 1.0), (Cut{8000, 16000}));
  EXPECT_EQ(inside(0.5, 2.0), (Cut{8000, kFrames}));
  EXPECT_EQ(inside(0.5, 2.5), (Cut{8000, kFrames}));
  EXPECT_EQ(inside(1.9999, 2.5).begin, kFrames - 2);
  for (const auto& [begin, end] : std::vector<std::pair<double, double>>{
           {0.5, 2.5001}, {0.5, 1e300}, {2.0, -1.0}, {2.0, 2.2}, {1e300, -1.0}}) {
    EXPECT_THROW(inside(begin, end), Error) << begin << " " << end;
  }
  try {
    inside(0.5, 3.0);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "utterance 'u' (0.500 s to 3.000 s) lies outside the recording of 2.000 s");
  }
}

// Two channels whose samples say where they are, in a format that keeps them.
std::filesystem::path WriteRamp(const TemporaryFolder& folder, int frames, int rate_hz) {
  std::vector<float> ramp;
  for (int i = 0; i < frames; ++i) {
    ramp.push_back(static_cast<float>(i));
    ramp.push_back(static_cast<float>(-i));
  }
  testing::WriteAny(folder / "ramp.wav", SF_FORMAT_WAV | SF_FORMAT_FLOAT, rate_hz, 2, ramp);
  return folder / "ramp.wav";
}

struct Heard {
  std::vector<float> x;
  int finished = 0;
};

class Listen : public UtteranceSink {
 public:
  explicit Listen(Heard& to) : to_(to) {}
  void Push(std::span<const float> x) override { to_.x.insert(to_.x.end(), x.begin(), x.end()); }
  void Finish() override { ++to_.finished; }

 private:
  Heard& to_;
};

TEST(Cutter, HandsEveryCutItsSamplesAndNoOthers) {
  const TemporaryFolder folder;
  constexpr int kFrames = 40000;  // more than two blocks
  const auto file = WriteRamp(folder, kFrames, 8000);
  const std::vector<Cut> cuts = {{0, 1},         {0, Cut::kToTheEnd}, {100, 16384},
                                 {16384, 16385}, {16384, 32768},      {39999, 44000}};
  for (const auto channels : {Cutter::Channels::kFirst, Cutter::Channels::kAll}) {
    SoundReader reader(file);
    Cutter cutter(reader, channels);
    std::vector<Heard> heard(cuts.size());
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      EXPECT_TRUE(cutter.Add("u", cuts[i], [&, i] { return std::make_unique<Listen>(heard[i]); }));
    }
    EXPECT_EQ(cutter.Run(), kFrames);
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      std::vector<float> expected;
      for (auto k = cuts[i].begin; k < std::min<std::int64_t>(cuts[i].end, kFrames); ++k) {
        expected.push_back(static_cast<float>(k));
        if (channels == Cutter::Channels::kAll) expected.push_back(static_cast<float>(-k));
      }
      EXPECT_EQ(heard[i].x, expected) << i;
      EXPECT_EQ(heard[i].finished, 1) << i;
    }
  }
}

TEST(Cutter, LeavesTheNinthOfThoseThatOverlapForAnotherReading) {
  const TemporaryFolder folder;
  SoundReader reader(WriteRamp(folder, 100, 8000));
  Cutter cutter(reader, Cutter::Channels::kFirst);
  Heard heard;
  const auto make = [&] { return std::make_unique<Listen>(heard); };
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(cutter.Add("u", {i, 50}, make));
  EXPECT_FALSE(cutter.Add("u", {49, 60}, make));
  EXPECT_TRUE(cutter.Add("u", {50, 60}, make));
  cutter.Run();
  EXPECT_EQ(heard.finished, 9);
}

TEST(Cutter, RefusesCutsOutsideTheRecordingAtItsEnd) {
  const TemporaryFolder folder;
  const auto file = WriteRamp(folder, 8000, 8000);
  for (const Cut& cut : {Cut{8000, Cut::kToTheEnd}, Cut{0, 12001}, Cut{9000, 9001}}) {
    SoundReader reader(file);
    Cutter cutter(reader, Cutter::Channels::kFirst);
    Heard heard;
    cutter.Add("u", cut, [&] { return std::make_unique<Listen>(heard); });
    EXPECT_THROW(cutter.Run(), Error);
    EXPECT_EQ(heard.finished, 0);
  }
}

}  // namespace
}  // namespace sotto
