#include "attack/procrustes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/QR>

#include "base/error.h"
#include "base/random.h"
#include "base/testing.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

MatrixXd Gaussian(Index rows, Index columns, std::uint64_t seed) {
  SeededRng rng(seed);
  MatrixXd m(rows, columns);
  for (Index j = 0; j < columns; ++j) {
    for (Index i = 0; i < rows; ++i) m(i, j) = rng.Gaussian();
  }
  return m;
}

TEST(Procrustes, FindsTheRotation) {
  const MatrixXd truth = Eigen::HouseholderQR<MatrixXd>(Gaussian(5, 5, 1)).householderQ();
  const MatrixXd from = Gaussian(5, 30, 2);
  EXPECT_LT((OrthogonalProcrustes(from, truth * from) - truth).norm(), 1e-10);
  const MatrixXd noisy = OrthogonalProcrustes(from, Gaussian(5, 30, 3));
  EXPECT_LT((noisy * noisy.transpose() - MatrixXd::Identity(5, 5)).norm(), 1e-10);
  EXPECT_THROW(OrthogonalProcrustes(from, Gaussian(5, 29, 3)), Error);
}

EmbeddingSet Voices(const MatrixXd& x) {
  EmbeddingSet set;
  set.vectors = x.cast<float>();
  for (Index i = 0; i < x.cols(); ++i) {
    set.ids.push_back(fmt::format("u{}", i));
    set.speakers.push_back(fmt::format("s{}", i / 4));
  }
  return set;
}

TEST(Procrustes, ARotatedReleaseIsUndoneAndARandomOneIsNot) {
  const MatrixXd rotation = Eigen::HouseholderQR<MatrixXd>(Gaussian(8, 8, 4)).householderQ();
  const MatrixXd train = Gaussian(8, 100, 5), test = Gaussian(8, 80, 6);
  const EmbeddingInversion inversion(Voices(train), Voices(rotation * train), {0});
  const InversionSuccess success =
      MeasureInversion(inversion, Voices(test), Voices(rotation * test));
  EXPECT_GT(success.top1_utterance, 0.95);
  const EmbeddingInversion nothing(Voices(train), Voices(Gaussian(8, 100, 7)), {0});
  const InversionSuccess chance =
      MeasureInversion(nothing, Voices(test), Voices(Gaussian(8, 80, 8)));
  EXPECT_LT(chance.top1_utterance, 0.1);
  EXPECT_NEAR(chance.chance_speaker, 3.0 / 79.0, 1e-12);
}

TEST(Procrustes, UnpairedUtterancesAreCounted) {
  const EmbeddingSet all = Voices(Gaussian(4, 12, 9));
  try {
    const EmbeddingInversion inversion(all, all.Select({0, 1, 2, 3, 4, 5, 6, 7, 8}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("3 of 12 original"), std::string::npos);
  }
}

// Learned on the enrolment utterances of B1, tried on the trial utterances.
TEST(Procrustes, InvertsTheFieldsOwnAnonymiser) {
  SOTTO_NEEDS_SHARED("data/xvectors");
  const auto xvectors = testing::SharedFolder() / "data/xvectors";
  for (const char* encoder : {"b1", "b1_retrained_encoder"}) {
    const auto read = [&](const char* name) { return ReadEmbeddings(xvectors / encoder / name); };
    const EmbeddingInversion inversion(read("enrolls"), read("enrolls_anon"));
    for (const char* gender : {"trials_f", "trials_m"}) {
      const InversionSuccess success =
          MeasureInversion(inversion, read(gender), read(fmt::format("{}_anon", gender).c_str()));
      fmt::print("{} {} utterance {:.3f} speaker {:.3f} (chance {:.3f}, {:.3f})\n", encoder, gender,
                 success.top1_utterance, success.top1_speaker, success.chance_utterance,
                 success.chance_speaker);
    }
  }
}

}  // namespace
}  // namespace sotto
