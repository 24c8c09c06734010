#include "speaker/speaker_batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "base/error.h"
#include "speaker/hider_testing.h"

namespace sotto {
namespace {

using Eigen::Index;

std::size_t Size(Index n) { return static_cast<std::size_t>(n); }

std::vector<Index> All(const HiderData& data) {
  std::vector<Index> places(data.speaker.size());
  std::iota(places.begin(), places.end(), Index{0});
  return places;
}

// 60 speakers of three voiceprints each, every tenth of them of a second corpus.
HiderData TwoCorpora() {
  HiderData data = testing::AttributeVoices(60, 4, 1);
  for (std::size_t i = 0; i < data.domain.size(); ++i) {
    data.domain[i] = data.speaker[i] / 2 % 10 == 0 ? 1 : 0;
  }
  return data;
}

TEST(SpeakerBatches, HoldAsManySpeakersOfEachCategoryAndCorporaInProportion) {
  const HiderData data = TwoCorpora();
  SpeakerBatches batches(data, All(data), 20, 2);
  SeededRng rng(1);
  std::set<Index> seen;
  for (int round = 0; round < 50; ++round) {
    const SpeakerBatch batch = batches.Next(rng);
    // 20 speakers: 9 of each gender in the large corpus, 1 of each in the small one.
    EXPECT_EQ(batch.of_group, (std::vector<Index>{20, 20}));
    ASSERT_EQ(batch.places.size(), 40U);
    std::map<std::pair<int, int>, std::set<int>> speakers;  // of each gender and corpus
    for (const Index i : batch.places) {
      speakers[{data.categories(0, i), data.domain[Size(i)]}].insert(data.speaker[Size(i)]);
    }
    for (int gender = 0; gender < 2; ++gender) {
      EXPECT_EQ((speakers[{gender, 0}].size()), 9U);
      EXPECT_EQ((speakers[{gender, 1}].size()), 1U);
    }
    EXPECT_EQ(std::set<Index>(batch.places.begin(), batch.places.end()).size(), 40U);
    seen.insert(batch.places.begin(), batch.places.end());
  }
  EXPECT_EQ(seen.size(), data.speaker.size());  // nobody is left out for good
}

TEST(SpeakerBatches, LieByCategoryAndNumberTheirSpeakersFromZero) {
  const HiderData data = TwoCorpora();
  SpeakerBatches batches(data, All(data), 12, 3);
  SeededRng rng(2);
  const SpeakerBatch batch = batches.Next(rng);
  ASSERT_EQ(batch.speaker.size(), batch.places.size());
  ASSERT_EQ(batch.enrols.size(), batch.places.size());
  std::map<int, int> of_number;
  std::map<int, std::vector<std::uint8_t>> enrols;
  for (std::size_t k = 0; k < batch.places.size(); ++k) {
    const Index i = batch.places[k];
    EXPECT_EQ(data.categories(0, i), std::cmp_less(k, batch.of_group[0]) ? 0 : 1);
    const int speaker = data.speaker[Size(i)];
    EXPECT_EQ(of_number.try_emplace(batch.speaker[k], speaker).first->second, speaker);
    enrols[batch.speaker[k]].push_back(batch.enrols[k]);
  }
  EXPECT_EQ(of_number.begin()->first, 0);
  EXPECT_EQ(of_number.rbegin()->first, static_cast<int>(of_number.size()) - 1);
  for (const auto& [number, one] : enrols) {
    EXPECT_EQ(one, (std::vector<std::uint8_t>{1, 0, 1})) << number;
  }
}

TEST(SpeakerBatches, AreOfThePlacesGivenAndRepeatWithTheirSeed) {
  const HiderData data = TwoCorpora();
  std::vector<Index> places = All(data);
  places.resize(places.size() / 2);
  const auto draw = [&](std::uint64_t seed) {
    SpeakerBatches batches(data, places, 1000, 4);  // all speakers, all voiceprints
    SeededRng rng(seed);
    batches.Next(rng);
    return batches.Next(rng).places;
  };
  std::vector<Index> drawn = draw(3);
  EXPECT_EQ(draw(3), drawn);
  EXPECT_NE(draw(4), drawn);
  std::sort(drawn.begin(), drawn.end());
  EXPECT_EQ(drawn, places);
}

TEST(SpeakerBatches, NeedASpeakerOfTwoVoiceprints) {
  const HiderData data = TwoCorpora();
  EXPECT_THROW(SpeakerBatches(data, {0, 3, 6, 9}, 20, 4), Error);
  EXPECT_NO_THROW(SpeakerBatches(data, {0, 1, 3, 6, 9}, 20, 4));
}

}  // namespace
}  // namespace sotto
