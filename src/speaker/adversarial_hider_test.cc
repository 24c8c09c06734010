#include "speaker/adversarial_hider.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

#include "base/error.h"
#include "base/progress.h"
#include "speaker/adversarial_loss.h"
#include "speaker/hider_data.h"
#include "speaker/hider_testing.h"
#include "speaker/hiders.h"
#include "speaker/linear_hiders.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::MatrixXf;
using Eigen::VectorXd;
using Eigen::VectorXf;

// --- gradients ----------------------------------------------------------------------------------

MatrixXd Drawn(Index rows, Index columns, std::uint64_t seed) {
  SeededRng rng(seed);
  MatrixXd m(rows, columns);
  for (double& value : m.reshaped()) value = rng.Gaussian();
  return m;
}

// The largest difference between `gradient` and central differences of `loss` by each of `values`.
double Disagreement(Eigen::Map<VectorXd> values, const VectorXd& gradient,
                    const std::function<double()>& loss) {
  constexpr double kStep = 1e-6;
  double worst = 0.0;
  for (Index i = 0; i < values.size(); ++i) {
    const double before = values[i];
    values[i] = before + kStep;
    const double above = loss();
    values[i] = before - kStep;
    const double below = loss();
    values[i] = before;
    worst = std::max(worst, std::abs((above - below) / (2.0 * kStep) - gradient[i]));
  }
  return worst;
}

Discriminator<double> SomeNet(Index inputs, Index categories) {
  return {Drawn(7, inputs, 11), Drawn(7, 1, 12), Drawn(categories, 7, 13),
          Drawn(categories, 1, 14)};
}

TEST(AdversarialLoss, OfSpeakersHasTheGradientOfDifferences) {
  MatrixXd raw = Drawn(5, 10, 1);
  // Speaker 3 has no prototype, speaker 2 nothing but one.
  const std::vector<int> speaker = {0, 0, 0, 1, 1, 2, 3, 4, 4, 4};
  const std::vector<std::uint8_t> enrols = {1, 0, 1, 1, 0, 1, 0, 0, 1, 0};
  const auto loss = [&] {
    MatrixXd unused;
    return SpeakerLoss<double>(ToUnit<double>(raw).y, speaker, enrols, 6.0, unused);
  };
  const UnitColumns<double> unit = ToUnit<double>(raw);
  MatrixXd slope;
  SpeakerLoss<double>(unit.y, speaker, enrols, 6.0, slope);
  const MatrixXd gradient = BackThroughUnit<double>(unit, slope);
  EXPECT_LT(Disagreement({raw.data(), raw.size()}, gradient.reshaped(), loss), 1e-7);
  EXPECT_GT(gradient.norm(), 0.1);
  EXPECT_EQ(gradient.col(6).norm(), 0.0);
}

TEST(AdversarialLoss, OfSpeakersIsThatOfTheSoftmaxOverPrototypes) {
  // Two speakers at right angles, the tested voiceprint of each on its prototype.
  MatrixXd y(2, 4);
  y << 1, 1, 0, 0, 0, 0, 1, 1;
  MatrixXd slope;
  EXPECT_NEAR(SpeakerLoss<double>(y, {0, 0, 1, 1}, {1, 0, 1, 0}, 3.0, slope),
              std::log1p(std::exp(-3.0)), 1e-12);
}

TEST(AdversarialLoss, OfAttackersHasTheGradientOfDifferences) {
  const MatrixXd input = Drawn(4, 6, 2);
  const std::vector<int> truth = {0, 2, 1, 1, 0, 2};
  VectorXd weights(6);
  weights << 0.3, 0.1, 0.2, 0.0, 0.25, 0.15;
  Discriminator<double> net = SomeNet(4, 3), gradient;
  AttackerLoss<double>(net, input, truth, weights, &gradient);
  auto values = net.Arrays(), slopes = gradient.Arrays();
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_LT(
        Disagreement(values[i], slopes[i],
                     [&] { return AttackerLoss<double>(net, input, truth, weights, nullptr); }),
        1e-7);
    EXPECT_GT(slopes[i].norm(), 1e-3);
  }
}

TEST(AdversarialLoss, OfConfusionHasTheGradientOfDifferencesAndIsZeroOfANetThatKnowsNothing) {
  MatrixXd input = Drawn(4, 6, 3);
  VectorXd weights(6);
  weights << 0.3, 0.1, 0.2, 0.0, 0.25, 0.15;
  Discriminator<double> net = SomeNet(4, 3);
  MatrixXd slope, unused;
  const double loss = ConfusionLoss<double>(net, input, weights, slope);
  EXPECT_GT(loss, 0.01);
  EXPECT_LT(Disagreement({input.data(), input.size()}, slope.reshaped(),
                         [&] { return ConfusionLoss<double>(net, input, weights, unused); }),
            1e-7);
  net.second.setZero();
  net.second_bias.setZero();
  EXPECT_NEAR(ConfusionLoss<double>(net, input, weights, slope), 0.0, 1e-12);
  EXPECT_EQ(slope.norm(), 0.0);
}

// --- speakers held out --------------------------------------------------------------------------

// Voiceprints of length 1. Women differ from men in the mean of coordinate 0 by `shift`, and vary
// `stretch` times as much in coordinates 1 and 2, which no linear erasure takes out.
HiderData Voices(int speakers, int dimension, std::uint64_t seed, float shift, float stretch) {
  HiderData data = testing::AttributeVoices(speakers, dimension, seed, shift);
  for (Index i = 0; i < data.x.cols(); ++i) {
    if (data.categories(0, i) == 0) data.x.col(i).segment(1, 2) *= stretch;
  }
  data.x.colwise().normalize();
  return data;
}

AffineMap Identity(Index d) { return {MatrixXf::Identity(d, d), VectorXf::Zero(d)}; }

// The last of the speakers, who come after `first`.
std::set<int> SpeakersFrom(const HiderData& data, int first) {
  std::set<int> chosen;
  for (const int speaker : data.speaker) {
    if (speaker >= first) chosen.insert(speaker);
  }
  return chosen;
}

TEST(HeldOut, IsAFifthOfTheSpeakersOfEachCell) {
  HiderData data = Voices(120, 6, 1, 0.5F, 1.0F);
  for (std::size_t i = 0; i < data.domain.size(); ++i) data.domain[i] = data.speaker[i] < 40;
  const HeldOut held(data, 3);
  std::map<std::pair<int, int>, std::set<int>> left;
  for (const Index i : held.Left()) {
    const auto at = static_cast<std::size_t>(i);
    left[{data.domain[at], data.categories(0, i)}].insert(data.speaker[at]);
  }
  EXPECT_EQ((left[{1, 0}].size()), 16U);  // of 20
  EXPECT_EQ((left[{1, 1}].size()), 16U);
  EXPECT_EQ((left[{0, 0}].size()), 32U);  // of 40
  EXPECT_EQ((left[{0, 1}].size()), 32U);
}

TEST(HeldOut, MeasuresWhatIsThereAndNothingElse) {
  const HiderData told = Voices(240, 8, 1, 1.5F, 1.0F), mute = Voices(240, 8, 2, 0.0F, 1.0F);
  const HeldOutFigures seen = HeldOut(told, 1).Measure({Identity(8)});
  EXPECT_GT(seen.informed, 0.9);
  EXPECT_GT(seen.in_domain, 0.9);
  EXPECT_LT(seen.eer, 0.2);
  const HeldOutFigures unseen = HeldOut(mute, 1).Measure({Identity(8)});
  EXPECT_LT(unseen.BestAuc(), 0.7);  // 24 against 24 speakers: a deviation of 0.08
  // A map by category that tells nothing but the category.
  AffineMap women{MatrixXf::Zero(8, 8), VectorXf::Unit(8, 0)},
      men{MatrixXf::Zero(8, 8), VectorXf::Unit(8, 1)};
  const HeldOutFigures labels = HeldOut(mute, 1).Measure({women, men});
  EXPECT_DOUBLE_EQ(labels.BestAuc(), 1.0);
  // Cosines of all pairs of a speaker are 1, as are those of 23 of 47 pairs with others: the line
  // from (0, 23/47) to (1, 0) meets the diagonal at 23/70.
  EXPECT_NEAR(labels.eer, 23.0 / 70.0, 1e-9);
}

// --- training -----------------------------------------------------------------------------------

FineTuneOptions Quick() {
  FineTuneOptions options = AdversarialOptions{}.training;
  options.steps = 1000;
  options.check_every = 100;
  options.speakers = 60;
  options.hidden = 32;
  return options;
}

TEST(Adversarial, TrainingHidesFromAttackersOnUnseenSpeakersWhatErasureLeaves) {
  const HiderData data = Voices(400, 10, 5, 0.8F, 4.0F);
  const std::set<int> test = SpeakersFrom(data, 300);
  std::vector<Index> places;
  for (Index i = 0; i < data.x.cols(); ++i) {
    if (!test.contains(data.speaker[static_cast<std::size_t>(i)])) places.push_back(i);
  }
  const HiderData known = PartOf(data, places);
  const AffineMap erased =
      FitLeace(known.x.cast<double>(), OneHot(known.categories, known.header.attributes),
               HiderWeights(known));
  AdversarialOptions options;
  options.dimension = 10;
  options.training = Quick();
  options.training.steps = 3000;
  const AffineHider hider = FitAdversarial(known, options);
  EXPECT_FALSE(hider.AsksForCategories());
  const HeldOut unseen(data, test, 1);
  const HeldOutFigures before = unseen.Measure({erased}), after = unseen.Measure(hider.Maps());
  EXPECT_GT(before.BestAuc(), 0.95);
  EXPECT_LT(after.BestAuc(), 0.8) << hider.Header().training;
  EXPECT_LT(after.eer, 2.0 * before.eer);
}

TEST(Adversarial, DependsOnDataAndSeedAlone) {
  const HiderData data = Voices(200, 10, 5, 0.8F, 4.0F);
  FineTuneOptions options = Quick();
  options.steps = 600;
  options.eer_price = 0.0;
  const FineTuned one = FineTune({Identity(10)}, data, options),
                  again = FineTune({Identity(10)}, data, options);
  ASSERT_GT(one.step, 0);
  EXPECT_TRUE(one.maps[0].matrix == again.maps[0].matrix);
  EXPECT_TRUE(one.maps[0].offset == again.maps[0].offset);
  options.seed = 2;
  EXPECT_FALSE(FineTune({Identity(10)}, data, options).maps[0].matrix == one.maps[0].matrix);
}

TEST(Adversarial, NothingWorseThanTheStartIsKept) {
  // Groups that do not differ: all that such haste can do is harm.
  const HiderData data = Voices(100, 6, 8, 0.0F, 1.0F);
  FineTuneOptions options = Quick();
  options.steps = 20;
  options.learning_rate = 3.0;
  options.eer_price = 10.0;
  const FineTuned tuned = FineTune({Identity(6)}, data, options);
  EXPECT_EQ(tuned.step, 0);
  EXPECT_TRUE(tuned.maps[0].matrix == Identity(6).matrix);
  EXPECT_NE(tuned.Text().find("step 0 of 20: fine-tuning found nothing better"), std::string::npos);
}

TEST(Adversarial, AnAnchorHoldsTheMapsWhereTheyWere) {
  const HiderData data = Voices(200, 10, 5, 0.8F, 4.0F);
  FineTuneOptions options = Quick();
  options.steps = 600;
  options.eer_price = 0.0;
  const auto moved = [&](double anchor) {
    options.anchor = anchor;
    const MatrixXf map = FineTune({Identity(10)}, data, options).maps[0].matrix;
    // The directions kept may be turned: what counts is the product.
    return (map.transpose() * map - Identity(10).matrix).norm();
  };
  const float free = moved(0.0), held = moved(1000.0);
  EXPECT_GT(free, 0.1F);
  EXPECT_LT(held, 0.1F * free);
}

TEST(Adversarial, StopsWhenItIsCalledOff) {
  const HiderData data = Voices(100, 6, 7, 0.5F, 3.0F);
  RunWatch watch;
  std::size_t steps = 0;
  watch.progress = [&steps](const RunProgress& now) { steps = now.done; };
  watch.cancelled = [&steps] { return steps >= 5; };
  const WatchScope scope(&watch);
  EXPECT_THROW(FineTune({Identity(6)}, data, Quick()), Cancelled);
  EXPECT_EQ(steps, 5U);
}

TEST(Adversarial, IsTheSameAfterItsFileAndSaysWhatItWasTrainedBy) {
  const HiderData data = Voices(60, 6, 3, 0.5F, 2.0F);
  const auto method = AdversarialMethod();
  const auto fitted =
      method->Fit(data, testing::GivenValues(*method, {{"train-steps", "30"}, {"seed", "4"}}));
  const auto loaded =
      ParseHider(ParseTensorFile(SerialiseTensorFile(fitted->File(), StoredAs::kFloat32), "file"));
  EXPECT_EQ(loaded->Header().method, "adversarial");
  EXPECT_NE(loaded->Header().training.find("seed 4; step "), std::string::npos);
  EXPECT_NE(loaded->Header().training.find(" of 30"), std::string::npos);
  EXPECT_TRUE(fitted->Latent(data.x, {}) == loaded->Latent(data.x, {}));
}

TEST(Adversarial, TransportIsFineTunedByCategory) {
  const HiderData data = Voices(120, 8, 3, 0.5F, 2.0F);
  const auto method = TransportMethod();
  const std::map<std::string, std::string> given = {
      {"dimension", "8"}, {"erased", "0"}, {"erased-shifts", "0"}};
  auto tuned = given;
  tuned["fine-tune"] = "30";
  const auto plain = method->Fit(data, testing::GivenValues(*method, given));
  const auto fitted = method->Fit(data, testing::GivenValues(*method, tuned));
  EXPECT_TRUE(fitted->AsksForCategories());
  EXPECT_EQ(fitted->Header().training.find(plain->Header().training), 0U);
  EXPECT_NE(fitted->Header().training.find("; fine-tuned, step "), std::string::npos);
  EXPECT_EQ(plain->Header().training.find("fine-tuned"), std::string::npos);
}

TEST(Adversarial, RefusesWhatItCannotBeTrainedOn) {
  const HiderData few = Voices(4, 6, 1, 0.5F, 1.0F);  // two women
  EXPECT_THROW(FineTune({Identity(6)}, few, Quick()), Error);
  const HiderData data = Voices(40, 6, 1, 0.5F, 1.0F);
  EXPECT_THROW(FineTune({Identity(6), Identity(6), Identity(6)}, data, Quick()), Error);
  EXPECT_THROW(FineTune({}, data, Quick()), Error);
  std::vector<Index> first;
  for (Index i = 0; i < data.x.cols(); i += 3) first.push_back(i);
  EXPECT_THROW(FineTune({Identity(6)}, PartOf(data, first), Quick()), Error);
  FineTuneOptions options = Quick();
  options.learning_rate = 0.0;
  EXPECT_THROW(FineTune({Identity(6)}, data, options), Error);
}

}  // namespace
}  // namespace sotto
