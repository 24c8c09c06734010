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

// Where misses and false alarms are equally frequent.
double EqualErrorRate(std::vector<std::pair<float, bool>> trials) {
  std::sort(trials.begin(), trials.end());
  const auto targets = static_cast<double>(
      std::count_if(trials.begin(), trials.end(), [](const auto& t) { return t.second; }));
  const double others = static_cast<double>(trials.size()) - targets;
  double missed = 0.0, passed = others;
  for (const auto& [score, same] : trials) {
    (same ? missed : passed) += same ? 1.0 : -1.0;
    if (missed / targets >= passed / others) break;
  }
  return missed / targets;
}

TEST(DefaultEncoderSlow, TellsUnseenSpeakersApart) {
  SOTTO_NEEDS_SHARED("data/speech/libri_eval");
  const auto encoder = OpenEncoder(kDefaultEncoder);
  UtteranceList list = ListUtterances({testing::SharedFolder() / "data/speech/libri_eval"});
  const EmbeddingSet set = EmbedCorpus(*encoder, list, {DefaultJobs(), {}}).set;
  const Eigen::MatrixXf scores = CosineScores(set.vectors, set.vectors);
  std::vector<std::pair<float, bool>> all, same_gender;
  for (Eigen::Index i = 0; i < scores.rows(); ++i) {
    for (Eigen::Index j = 0; j < i; ++j) {
      const std::string& a = set.speakers[static_cast<std::size_t>(i)];
      const std::string& b = set.speakers[static_cast<std::size_t>(j)];
      all.emplace_back(scores(i, j), a == b);
      if (set.genders.at(a) == set.genders.at(b)) same_gender.push_back(all.back());
    }
  }
  // 20 speakers, 238 utterances; docs/models.md: 4.70 % and 6.39 %.
  EXPECT_LT(EqualErrorRate(std::move(all)), 0.05);
  EXPECT_LT(EqualErrorRate(std::move(same_gender)), 0.07);
}

}  // namespace
}  // namespace sotto
