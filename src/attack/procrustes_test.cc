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
  EXPECT_NEAR(chance.chance_speaker, 4.0 / 80.0, 1e-12);
  EXPECT_NEAR(chance.chance_other, 3.0 / 79.0, 1e-12);
}

TEST(Procrustes, UnpairedUtterancesAreCounted) {
  const EmbeddingSet all = Voices(Gaussian(4, 12, 9));
  try {
    const EmbeddingInversion inversion(all, all.Select({0, 1, 2, 3, 4, 5, 6, 7, 8}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("3 only in the first"), std::string::npos);
  }
}

// Learned on the enrolment utterances of B1, tried on the trial utterances. Published with this
// data (deep-privacy/x-vector-procrustes): 25.48 % and 36.61 % of utterances find their speaker.
TEST(Procrustes, InvertsTheFieldsOwnAnonymiser) {
  SOTTO_NEEDS_SHARED("data/xvectors/b1");
  const auto xvectors = testing::SharedFolder() / "data/xvectors/b1";
  const auto read = [&](const std::string& name) { return ReadEmbeddings(xvectors / name); };
  const EmbeddingInversion inversion(read("enrolls"), read("enrolls_anon"));
  for (const std::string name : {"trials_f", "trials_m"}) {
    const InversionSuccess success = MeasureInversion(inversion, read(name), read(name + "_anon"));
    RecordProperty(
        name, fmt::format("utterance {:.4f} speaker {:.4f} other {:.4f}", success.top1_utterance,
                          success.top1_speaker, success.top1_other));
    EXPECT_GE(success.top1_speaker, 0.20) << name;
    EXPECT_GE(success.top1_other, 0.20) << name;
    EXPECT_LT(success.chance_speaker, 0.06);
  }
}

}  // namespace
}  // namespace sotto
