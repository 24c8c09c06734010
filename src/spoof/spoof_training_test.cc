#include "spoof/spoof_training.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "assess/tandem.h"
#include "base/error.h"
#include "base/testing.h"
#include "spoof/testing.h"

namespace sotto {
namespace {

using testing::TemporaryFolder;

SpoofTrainingOptions Quick() {
  SpoofTrainingOptions options;
  options.units = 8;
  options.epochs = 6;
  options.batch = 8;
  options.learning_rate = 1e-3;
  options.hold_out_every = 3;
  return options;
}

class SpoofTraining : public ::testing::Test {
 protected:
  void SetUp() override { testing::MakeSpoofCorpora(folder_ / "real", folder_ / "fake"); }
  SpoofCorpora Corpora() const { return ListSpoofCorpora({folder_ / "real"}, {folder_ / "fake"}); }

  const TemporaryFolder folder_;
};

TEST_F(SpoofTraining, ANetTellsTheseVoicesApartAndItsIntegersAgree) {
  const TrainedSpoof trained = TrainSpoof(Corpora(), Quick());
  EXPECT_EQ(trained.utterances, 32U);  // 4 of 6 genuine voices and 4 of 6 spoofing ones
  EXPECT_EQ(trained.held_out.rows.size(), 16U);
  EXPECT_EQ(trained.compared, 48U);
  EXPECT_EQ(trained.flipped, 0U);
  EXPECT_LT(trained.largest_difference, 0.05);
  const auto figures = MeasureSpoof(trained.held_out, {.resamples = 20});
  ASSERT_TRUE(figures.has_value());
  EXPECT_EQ(figures->figures[0].name, "cm_eer");
  EXPECT_EQ(figures->figures[0].value, 0.0);
  EXPECT_EQ(figures->figures[1].name, "cm_eer engine0");
  EXPECT_EQ(figures->figures[1].attacker, "engine0");
  EXPECT_EQ(trained.losses.size(), 6U);
  // What the net hears has no leading silence and one level: told these alone, nets guess.
  for (const SpoofControl& control : trained.controls) {
    EXPECT_NEAR(control.eer_heard, 0.5, 0.15) << control.name;
  }
}

TEST_F(SpoofTraining, TheSameSeedGivesTheSameFile) {
  const std::string once = SerialiseSpoofModel(TrainSpoof(Corpora(), Quick()).model);
  SpoofTrainingOptions options = Quick();
  options.jobs = 3;
  EXPECT_EQ(once, SerialiseSpoofModel(TrainSpoof(Corpora(), options).model));
  options.seed = 2;
  EXPECT_NE(once, SerialiseSpoofModel(TrainSpoof(Corpora(), options).model));
}

// Steps so large that any bound that can be broken is.
TEST_F(SpoofTraining, BoundsHoldWhateverTheTrainingDoes) {
  SpoofTrainingOptions options = Quick();
  options.learning_rate = 1.0;
  options.x_max = 16.0;
  options.decision_only = true;
  const IntegerNet net = TrainSpoof(Corpora(), options).model.net;
  EXPECT_NO_THROW(CheckRanges(net));
  EXPECT_TRUE(net.decision_only);
  std::int64_t largest = 0;
  for (std::uint32_t i = 0; i < net.units; ++i) {
    std::int64_t norm = 0;
    for (std::uint32_t j = 0; j < net.inputs; ++j) norm += std::abs(net.w1[i * net.inputs + j]);
    largest = std::max(largest, net.x_max * norm + std::abs(net.b1[i]));
  }
  EXPECT_LT(largest, std::int64_t{1} << 35);
  EXPECT_GT(largest, std::int64_t{1} << 34);  // the projection was at work
}

TEST_F(SpoofTraining, AWholeAttackIsHeldOut) {
  SpoofTrainingOptions options = Quick();
  options.held_out_attack = "engine1";
  const TrainedSpoof trained = TrainSpoof(Corpora(), options);
  const auto& rows = trained.held_out.rows;
  EXPECT_EQ(std::count_if(rows.begin(), rows.end(),
                          [](const SpoofRow& row) { return row.attack == "engine1"; }),
            12);
  options.held_out_attack = "engine7";
  EXPECT_THROW(TrainSpoof(Corpora(), options), Error);
}

TEST_F(SpoofTraining, UnlabelledSpeechAndOneClassAreRefused) {
  EXPECT_THROW(TrainSpoof(ListSpoofCorpora({folder_ / "real"}, {}, {folder_ / "fake"}), Quick()),
               Error);
  EXPECT_THROW(TrainSpoof(ListSpoofCorpora({folder_ / "real"}, {}), Quick()), Error);
  EXPECT_THROW(ListSpoofCorpora({folder_ / "real"}, {folder_ / "real"}), Error);
  EXPECT_THROW(ListSpoofCorpora({}, {}), Error);
}

TEST_F(SpoofTraining, ScoresAreColumnsThatTandemReads) {
  const SpoofScores scores = ScoreCorpora(testing::SmallSpoofModel(), Corpora(), 2);
  EXPECT_EQ(scores.Refused(), 0U);
  TandemScores tandem;
  ReadCmScores(FormatSpoofScores(scores), "scores", tandem);
  EXPECT_EQ(tandem.cm_bona.size(), 24U);
  ASSERT_EQ(tandem.attacks.size(), 2U);
  EXPECT_EQ(tandem.attacks.at("engine0").cm.size(), 12U);
  EXPECT_NEAR(tandem.cm_bona[0], scores.rows[0].score, 1e-6);
}

TEST_F(SpoofTraining, BadRecordingsAreRefusedOneByOneAndTheRestIsScored) {
  const std::filesystem::path bad = folder_ / "bad";
  const std::vector<float> vowel = testing::SyntheticVowel(1.0, 16000);
  testing::WriteWav(bad / "a_good.wav", vowel);
  testing::WriteAny(bad / "b_stereo.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16, 16000, 2, vowel);
  testing::WriteWav(bad / "c_rate.wav", vowel, 44100);
  testing::WriteWav(bad / "d_silent.wav", std::vector<float>(16000));
  testing::WriteWav(bad / "e_short.wav", std::vector<float>(vowel.begin(), vowel.begin() + 300));
  WriteFileAtomically(bad / "f_text.wav", "no sound");
  std::vector<float> broken = vowel;
  broken[7] = std::numeric_limits<float>::quiet_NaN();
  testing::WriteAny(bad / "g_nan.wav", SF_FORMAT_WAV | SF_FORMAT_FLOAT, 16000, 1, broken);
  testing::WriteWav(bad / "h_empty.wav", {});
  const SpoofScores scores =
      ScoreCorpora(testing::SmallSpoofModel(), ListSpoofCorpora({}, {}, {bad}), 2);
  ASSERT_EQ(scores.rows.size(), 8U);
  EXPECT_EQ(scores.Refused(), 7U);
  EXPECT_EQ(scores.rows[0].refused, "");
  EXPECT_EQ(scores.rows[1].refused, "2 channels: one is wanted");
  EXPECT_EQ(scores.rows[2].refused, "44100 Hz: 16000 is wanted");
  EXPECT_EQ(scores.rows[3].refused, "silent: no sample differs from 0");
  EXPECT_EQ(scores.rows[4].refused, "less than a frame (30 ms) of speech");
  const std::string table = FormatSpoofScores(scores);
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 2);  // the header and the good one
  EXPECT_FALSE(MeasureSpoof(scores, {}).has_value());
}

}  // namespace
}  // namespace sotto
