#include "speaker/erase_noise.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "dp/budget.h"
#include "speaker/hider_testing.h"
#include "speaker/hiders.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;

HiderData TwoCorpora() {
  HiderData data = testing::AttributeVoices(120, 8, 5);
  for (Index i = 0; i < data.x.cols(); ++i) {
    const std::size_t at = static_cast<std::size_t>(i);
    data.domain[at] = data.speaker[at] % 4 < 2 ? 0 : 1;
    if (data.domain[at] == 1 && data.categories(0, i) == 0) data.x(3, i) += 0.7F;
  }
  data.x.colwise().normalize();
  return data;
}

EraseNoiseHider Fitted(const HiderData& data) {
  TransportOptions options;
  options.dimension = 8;
  options.erased = options.erased_shifts = 1;
  return FitEraseNoise(data, options, 1.0);
}

HideOptions Half(ProtectPer per = ProtectPer::kSpeaker) {
  HideOptions options;
  options.eps = 0.5;
  options.per = per;
  return options;
}

TEST(EraseNoise, ClipsWhatIsNoisedToTheMedianAndNothingElse) {
  const HiderData data = TwoCorpora();
  const EraseNoiseHider hider = Fitted(data);
  ASSERT_EQ(hider.NoisyRows(), 1);
  const MatrixXf z = hider.Latent(data.x, data.categories);
  EXPECT_EQ(z.rows(), 7);  // eight, less the shift
  EXPECT_LE(z.row(0).cwiseAbs().maxCoeff(), hider.L1Bound() * (1.0 + 1e-6));
  const auto clipped = (z.row(0).cwiseAbs().array() > 0.999 * hider.L1Bound()).count();
  EXPECT_NEAR(static_cast<double>(clipped) / static_cast<double>(z.cols()), 0.5, 0.02);
}

TEST(EraseNoise, IsNeverAppliedWithoutAnEpsilonAndCountsIt) {
  const HiderData data = TwoCorpora();
  const EraseNoiseHider hider = Fitted(data);
  EmbeddingSet set;
  for (Index i = 0; i < 6; ++i) {
    set.ids.push_back("u" + std::to_string(i));
    set.speakers.push_back(i < 3 ? "a" : "b");
  }
  set.vectors = data.x.leftCols(6);
  const Categories categories = data.categories.leftCols(6);
  const Key key = Key::ForExperiment(ExperimentKey(1));
  EXPECT_THROW(HideAttributes(hider, set, categories, {}, key), Error);
  const HideRelease once = HideAttributes(hider, set, categories, Half(), key);
  EXPECT_EQ(once.draws_most, 1U);
  EXPECT_DOUBLE_EQ(once.budget.SequentialEpsilon(0.0), 0.5);
  const HideRelease each =
      HideAttributes(hider, set, categories, Half(ProtectPer::kUtterance), key);
  EXPECT_EQ(each.draws_most, 3U);
  EXPECT_DOUBLE_EQ(each.budget.SequentialEpsilon(0.0), 1.5);
  // The same key and input give the same draw: a login repeated is no second release.
  EXPECT_TRUE(once.set.vectors == HideAttributes(hider, set, categories, Half(), key).set.vectors);
}

TEST(EraseNoise, WeighsTheNoisedCoordinateByWhatTheNoiseLeaves) {
  const HiderData data = TwoCorpora();
  const EraseNoiseHider hider = Fitted(data);
  MatrixXf z = MatrixXf::Ones(7, 1);
  const MatrixXf y = hider.FromLatent(z);
  // Noise of variance 8 C² on a signal below C²: less than a ninth is left.
  EXPECT_GT(y(0, 0), 0.0F);
  EXPECT_LT(y(0, 0), 1.0F / 9.0F);
  EXPECT_EQ(y(1, 0), 1.0F);
}

TEST(EraseNoise, IsTheSameAfterItsFileAndRefusesADamagedOne) {
  const HiderData data = TwoCorpora();
  const EraseNoiseHider hider = Fitted(data);
  TensorFile file = ParseTensorFile(SerialiseTensorFile(hider.File(), StoredAs::kFloat32), "file");
  const auto loaded = ParseHider(file);
  EXPECT_TRUE(loaded->NeedsEpsilon());
  EXPECT_TRUE(loaded->Latent(data.x, data.categories) == hider.Latent(data.x, data.categories));
  file.tensors["noise.bound"].values[0] = 0.0F;
  EXPECT_THROW(ParseHider(file), Error);
  file.tensors.erase("noise.bound");
  EXPECT_THROW(ParseHider(file), Error);
}

}  // namespace
}  // namespace sotto
