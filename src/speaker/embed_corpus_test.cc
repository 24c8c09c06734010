#include "speaker/embed_corpus.h"

#include <gtest/gtest.h>

#include <atomic>

#include "audio/testing.h"
#include "base/progress.h"
#include "base/testing.h"

namespace sotto {
namespace {

using testing::SyntheticVowel;

TEST(EmbedCorpus, GoesOnWhereItWasCancelled) {
  const testing::TemporaryFolder folder;
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
