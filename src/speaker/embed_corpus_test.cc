#include "speaker/embed_corpus.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <cmath>

#include "audio/testing.h"
#include "base/error.h"
#include "base/files.h"
#include "base/testing.h"

namespace sotto {
namespace {

using testing::SyntheticVowel;
using testing::TemporaryFolder;

unsigned Mode(const std::filesystem::path& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777U;
}

// Energy and length of a window.
class TinyEncoder : public SpeakerEncoder {
 public:
  std::string Name() const override { return "tiny"; }
  std::size_t Dimension() const override { return 2; }
  mutable std::atomic<int> calls_ = 0;

 protected:
  std::vector<float> Embed16k(std::span<const float> x) const override {
    double squares = 0.0;
    for (const float v : x) squares += double{v} * v;
    ++calls_;
    return {static_cast<float>(squares), static_cast<float>(x.size())};
  }
};

TEST(EmbedCorpus, ClosesItsCacheToOthers) {
  const TemporaryFolder folder;
  testing::WriteWav(folder / "in/s/a.wav", SyntheticVowel(0.5, 16000));
  const UtteranceList list = ListUtterances({folder / "in"});
  const TinyEncoder encoder;
  // As an earlier version left it.
  std::filesystem::create_directories(folder / "cache");
  ::chmod((folder / "cache").c_str(), 0755);
  WriteFileAtomically(folder / "cache/0123.ark", "old");
  ::chmod((folder / "cache/0123.ark").c_str(), 0644);
  EmbedCorpus(encoder, list, {1, folder / "cache", {}});
  EXPECT_EQ(Mode(folder / "cache"), 0700U);
  int arks = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "cache")) {
    if (entry.path().extension() != ".ark") continue;
    EXPECT_EQ(Mode(entry.path()), 0600U) << entry.path();
    ++arks;
  }
  EXPECT_EQ(arks, 2);
  EXPECT_EQ(EmbedCorpus(encoder, list, {1, folder / "cache/", {}}).from_cache, 1U);
  EmbedCorpus(encoder, list, {1, folder / "new/cache", {}});
  EXPECT_EQ(Mode(folder / "new/cache"), 0700U);
}

TEST(EmbedCorpus, RefusesACacheWhereEverybodyWrites) {
  const TemporaryFolder folder;
  testing::WriteWav(folder / "in/s/a.wav", SyntheticVowel(0.5, 16000));
  const UtteranceList list = ListUtterances({folder / "in"});
  std::filesystem::create_directories(folder / "tmp");
  ::chmod((folder / "tmp").c_str(), 01777);
  EXPECT_THROW(EmbedCorpus(TinyEncoder(), list, {1, folder / "tmp", {}}), Error);
  EXPECT_EQ(Mode(folder / "tmp"), 01777U);
}

TEST(EmbedCorpus, KeepsLongUtterancesByTheirWindows) {
  const TemporaryFolder folder;
  const std::vector<float> piece = SyntheticVowel(13.0, 16000);
  std::vector<float> x;
  for (int i = 0; i < 10; ++i) x.insert(x.end(), piece.begin(), piece.end());
  testing::WriteWav(folder / "in/s/a.wav", x);
  const UtteranceList list = ListUtterances({folder / "in"});
  const TinyEncoder encoder;
  const EmbedOptions options{1, folder / "cache", {}};
  const EmbeddedCorpus first = EmbedCorpus(encoder, list, options);
  EXPECT_EQ(encoder.calls_, 3);  // 60, 35 and 35 s
  EXPECT_NEAR(first.audio_seconds, 130.0, 1e-9);
  const EmbeddedCorpus again = EmbedCorpus(encoder, list, options);
  EXPECT_EQ(encoder.calls_, 3);
  EXPECT_EQ(again.from_cache, 1U);
  EXPECT_EQ(again.set.vectors, first.set.vectors);
  // A file alone is heard alike.
  const std::vector<float> alone = EmbedFile(encoder, folder / "in/s/a.wav");
  EXPECT_EQ(alone, std::vector<float>(first.set.vectors.data(), first.set.vectors.data() + 2));
}

// --- utterances of a recording ---

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

TEST(StreamUtterances, HandsOutWhatTheWholeRecordingHoldsThere) {
  const TemporaryFolder folder;
  testing::WriteWav(folder / "x.wav", SyntheticVowel(6.0, 22050), 22050);
  std::vector<std::pair<double, double>> spans = {{3.0, 4.5}, {0.0, -1.0}, {5.9, 6.3}, {0.7, 0.9}};
  for (int i = 0; i < 20; ++i) spans.emplace_back(1.0 + 0.01 * i, 5.0);  // over each other
  const UtteranceList list = OneRecording(folder / "x.wav", spans);
  std::vector<std::size_t> all(spans.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  for (const int rate : {16000, kOwnRate}) {
    const std::vector<float> whole = ReadMono(folder / "x.wav", rate == kOwnRate ? 22050 : rate);
    const double fs = rate == kOwnRate ? 22050 : rate;
    std::vector<std::vector<float>> heard(spans.size());
    StreamUtterances(list, all, 1, rate, [&](std::size_t i, int hz) {
      EXPECT_EQ(hz, fs);
      return std::make_unique<Collect>(heard[i]);
    });
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const auto begin = std::lround(spans[i].first * fs);
      const auto end = spans[i].second < 0.0 ? static_cast<long>(whole.size())
                                             : std::min(std::lround(spans[i].second * fs),
                                                        static_cast<long>(whole.size()));
      std::vector<float> expected(whole.begin() + begin, whole.begin() + end);
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
  testing::WriteWav(folder / "x.wav", SyntheticVowel(2.0, 16000));
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

}  // namespace
}  // namespace sotto
