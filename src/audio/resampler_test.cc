#include "audio/resampler.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "audio/testing.h"

namespace sotto {
namespace {

TEST(ResampleStream, IsResampleWhateverThePieces) {
  for (const int from : {8000, 11025, 22050, 44100, 48000, 16000}) {
    const std::vector<float> x = testing::SyntheticVowel(1.37, from);
    const std::vector<float> whole = Resample(x, from, 16000);
    EXPECT_EQ(whole.size(), static_cast<std::size_t>(
                                std::lround(static_cast<double>(x.size()) * 16000.0 / from)));
    for (const std::size_t piece : {1000U, 16384U}) {
      ResampleStream stream(from, 16000);
      std::vector<float> y;
      for (std::size_t at = 0; at < x.size(); at += piece) {
        stream.Push(std::span(x).subspan(at, std::min(piece, x.size() - at)), y);
      }
      stream.Finish(y);
      EXPECT_EQ(y, whole) << from << " Hz by " << piece;
    }
  }
}

}  // namespace
}  // namespace sotto
