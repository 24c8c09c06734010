#include "speaker/embed_corpus.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <cmath>

#include "audio/testing.h"
#include "base/error.h"
#include "base/files.h"
#include "base/progress.h"
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
  EmbedCorpus(encoder, list, {1, folder / "cache"});
  EXPECT_EQ(Mode(folder / "cache"), 0700U);
  int arks = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "cache")) {
    if (entry.path().extension() != ".ark") continue;
    EXPECT_EQ(Mode(entry.path()), 0600U) << entry.path();
    ++arks;
  }
  EXPECT_EQ(arks, 2);
  EXPECT_EQ(EmbedCorpus(encoder, list, {1, folder / "cache/"}).from_cache, 1U);
  EmbedCorpus(encoder, list, {1, folder / "new/cache"});
  EXPECT_EQ(Mode(folder / "new/cache"), 0700U);
}

TEST(EmbedCorpus, RefusesACacheWhereEverybodyWrites) {
  const TemporaryFolder folder;
  testing::WriteWav(folder / "in/s/a.wav", SyntheticVowel(0.5, 16000));
  const UtteranceList list = ListUtterances({folder / "in"});
  std::filesystem::create_directories(folder / "tmp");
  ::chmod((folder / "tmp").c_str(), 01777);
  EXPECT_THROW(EmbedCorpus(TinyEncoder(), list, {1, folder / "tmp"}), Error);
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
  const EmbedOptions options{1, folder / "cache"};
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

TEST(EmbedCorpus, GoesOnWhereItWasCancelled) {
  const TemporaryFolder folder;
  for (int i = 0; i < 6; ++i) {
    testing::WriteWav(folder / ("in/s/" + std::to_string(i) + ".wav"),
                      SyntheticVowel(0.5, 16000, 100.0 + 20.0 * i));
  }
  const UtteranceList list = ListUtterances({folder / "in"});
  const auto encoder = OpenEncoder(kDefaultEncoder);
  const EmbedOptions kept{2, folder / "cache"};
  std::atomic<std::size_t> done{0};
  const RunWatch watch{.progress = [&](const RunProgress& now) { done = now.done; },
                       .cancelled = [&] { return done >= 2; }};
  {
    const WatchScope scope(&watch);
    EXPECT_THROW(EmbedCorpus(*encoder, list, kept), Cancelled);
  }
  ASSERT_GE(done, 2U);
  ASSERT_LT(done, 6U);
  const EmbeddedCorpus resumed = EmbedCorpus(*encoder, list, kept);
  EXPECT_EQ(resumed.from_cache, done);
  EXPECT_EQ(resumed.set.vectors, EmbedCorpus(*encoder, list, {1, {}}).set.vectors);
}

}  // namespace
}  // namespace sotto
