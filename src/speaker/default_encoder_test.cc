// The encoder in the program, on speech it never heard (docs/models.md has the figure on all of
// it).
#include "speaker/default_encoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/parallel.h"
#include "base/testing.h"
#include "speaker/embed_corpus.h"
#include "speaker/encoder.h"
#include "speaker/scoring.h"

namespace sotto {
namespace {

TEST(DefaultEncoder, IsInTheProgramAndCalibrated) {
  EXPECT_LE(kDefaultEncoderBytes.size(), std::size_t{8} << 20);
  const auto encoder = OpenEncoder(kDefaultEncoder);
  EXPECT_EQ(encoder->Name(), "ecapa");
  EXPECT_EQ(encoder->Dimension(), 192u);
  ASSERT_TRUE(encoder->Calibration().has_value());
  EXPECT_GT(encoder->Calibration()->scale, 0.0);
}

TEST(DefaultEncoderSlow, TellsUnseenSpeakersApart) {
  SOTTO_NEEDS_SHARED("data/speech/libri_eval");
  const auto encoder = OpenEncoder(kDefaultEncoder);
  UtteranceList list = ListUtterances({testing::SharedFolder() / "data/speech/libri_eval"});
  const EmbeddedCorpus all = EmbedCorpus(*encoder, list, {DefaultJobs(), {}, {}});
  const Eigen::MatrixXf scores = CosineScores(all.set.vectors, all.set.vectors);
  std::vector<std::pair<float, bool>> trials;
  double targets = 0.0;
  for (Eigen::Index i = 0; i < scores.rows(); ++i) {
    for (Eigen::Index j = 0; j < i; ++j) {
      const bool same = all.set.speakers[static_cast<std::size_t>(i)] ==
                        all.set.speakers[static_cast<std::size_t>(j)];
      trials.emplace_back(scores(i, j), same);
      targets += same ? 1.0 : 0.0;
    }
  }
  std::sort(trials.begin(), trials.end());
  double missed = 0.0, passed = static_cast<double>(trials.size()) - targets;
  const double others = passed;
  for (const auto& [score, same] : trials) {
    (same ? missed : passed) += same ? 1.0 : -1.0;
    if (missed / targets >= passed / others) break;
  }
  EXPECT_LT(missed / targets, 0.065);  // 20 speakers, 238 utterances, all pairs
}

}  // namespace
}  // namespace sotto
