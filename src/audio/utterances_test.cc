#include "audio/utterances.h"

#include <gtest/gtest.h>

#include <numeric>

#include "audio/resampler.h"
#include "audio/testing.h"
#include "base/error.h"
#include "base/files.h"
#include "base/testing.h"

namespace sotto {
namespace {

using testing::SyntheticVowel;
using testing::TemporaryFolder;
using testing::WriteWav;

class Collect : public UtteranceSink {
 public:
  explicit Collect(std::vector<float>& to) : to_(to) {}
  void Push(std::span<const float> x) override { to_.insert(to_.end(), x.begin(), x.end()); }
  void Finish() override { to_.push_back(99.0F); }

 private:
  std::vector<float>& to_;
};

UtteranceList OneRecording(const std::filesystem::path& path,
                           const std::vector<std::pair<double, double>>& spans) {
  UtteranceList list;
  Recording recording;
  recording.id = "r";
  recording.path = path;
  list.recordings.push_back(recording);
  for (const auto& [begin, end] : spans) {
    list.utterances.push_back({"u" + std::to_string(list.utterances.size()), "s", 0, begin, end});
  }
  return list;
}

TEST(StreamUtterances, CutsAtTheRecordingsRateAndResamplesWhatWasCut) {
  const TemporaryFolder folder;
  WriteWav(folder / "x.wav", SyntheticVowel(6.0, 22050), 22050);
  std::vector<std::pair<double, double>> spans = {{3.0, 4.5}, {0.0, -1.0}, {5.9, 6.3}, {0.7, 0.9}};
  for (int i = 0; i < 20; ++i) spans.emplace_back(1.0 + 0.01 * i, 5.0);  // over each other
  const UtteranceList list = OneRecording(folder / "x.wav", spans);
  const std::vector<float> whole = ReadUtterance(list.recordings[0], {}).x;
  ASSERT_EQ(whole.size(), 132300U);
  const std::vector<std::size_t> all = AllOf(list);
  for (const int rate : {16000, kOwnRate}) {
    const int fs = rate == kOwnRate ? 22050 : rate;
    std::vector<std::vector<float>> heard(spans.size());
    StreamUtterances(list, all, 1, rate, [&](std::size_t i, int hz) {
      EXPECT_EQ(hz, fs);
      return std::make_unique<Collect>(heard[i]);
    });
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const Cut cut = CutInside(CutOf("u", spans[i].first, spans[i].second, 22050), "u",
                                static_cast<std::int64_t>(whole.size()), 22050);
      std::vector<float> expected =
          Resample({whole.begin() + cut.begin, whole.begin() + cut.end}, 22050, fs);
      expected.push_back(99.0F);
      EXPECT_EQ(heard[i], expected) << i << " at " << fs;
    }
  }
  std::vector<float> some;
  ForEachUtterance(
      list, std::vector<std::size_t>{1}, 1,
      [&](std::size_t, std::span<const float> x) { some.assign(x.begin(), x.end()); }, 2.0);
  EXPECT_EQ(some.size(), 32000U);
}

TEST(StreamUtterances, RefusesTimesOutsideTheRecording) {
  const TemporaryFolder folder;
  WriteWav(folder / "x.wav", SyntheticVowel(2.0, 16000));
  for (const auto& span :
       std::vector<std::pair<double, double>>{{0.5, 2.6}, {2.0, -1.0}, {1.0, 1.0}, {1.5, 1.0}}) {
    const UtteranceList list = OneRecording(folder / "x.wav", {{0.1, 0.5}, span});
    std::vector<float> heard;
    EXPECT_THROW(
        StreamUtterances(list, std::vector<std::size_t>{0, 1}, 1, 16000,
                         [&](std::size_t, int) { return std::make_unique<Collect>(heard); }),
        Error)
        << span.first << " " << span.second;
  }
}

TEST(ReadUtterance, ReadsNoMoreThanIsAsked) {
  const TemporaryFolder folder;
  Recording recording;
  std::vector<float> ramp(40000);
  std::iota(ramp.begin(), ramp.end(), 0.0F);
  recording.path = folder / "ramp.wav";
  testing::WriteAny(recording.path, SF_FORMAT_WAV | SF_FORMAT_FLOAT, 8000, 1, ramp);
  EXPECT_EQ(ReadUtterance(recording, {}).x.size(), 40000U);
  const Mono some = ReadUtterance(recording, {"u", "s", 1.0, 4.0, {}}, 0.5);
  EXPECT_EQ(some.rate_hz, 8000);
  ASSERT_EQ(some.x.size(), 4000U);
  EXPECT_EQ(some.x.front(), 8000.0F);
  EXPECT_EQ(some.x.back(), 11999.0F);
  // What is not read is not refused.
  EXPECT_EQ(ReadUtterance(recording, {"u", "s", 1.0, 100.0, {}}, 0.5).x.size(), 4000U);
  EXPECT_THROW(ReadUtterance(recording, {"u", "s", 1.0, 100.0, {}}), Error);
  EXPECT_THROW(ReadUtterance(recording, {"u", "s", 5.0, -1.0, {}}, 0.5), Error);
  recording.pipe = "cat x.wav";
  EXPECT_THROW(ReadUtterance(recording, {}), Error);
}

TEST(ListUtterances, CountsARepeatedUtteranceOnceWhereThatIsAsked) {
  const TemporaryFolder folder;
  WriteWav(folder / "a.wav", SyntheticVowel(0.1, 16000));
  for (const char* name : {"one.tsv", "two.tsv"}) {
    WriteFileAtomically(folder / name, "utt_id\tpath\tspeaker\tgender\nu\ta.wav\ts\tf\n");
  }
  const std::vector<std::filesystem::path> both = {folder / "one.tsv", folder / "two.tsv"};
  EXPECT_THROW(ListUtterances(both), Error);
  EXPECT_THROW(ListUtterances(both, /*merge_speakers=*/true), Error);
  const UtteranceList list = ListUtterances(both, true, Repeats::kCountOnce);
  EXPECT_EQ(list.utterances.size(), 1U);
  EXPECT_EQ(list.genders.at("s"), Gender::kFemale);
}

}  // namespace
}  // namespace sotto
