#include "speaker/gender_aae.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <string>

#include "base/error.h"
#include "base/testing.h"
#include "dp/falsify_testing.h"
#include "dp/mechanisms.h"
#include "speaker/hider_testing.h"
#include "speaker/hiders.h"
#include "speaker/scoring.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;
using testing::AttributeVoices;
using testing::FalsifyDp;
using testing::FalsifyOptions;
using testing::GivenValues;
using testing::NeighbourPair;

// --- the claim of differential privacy ----------------------------------------------------------

constexpr Index kLatent = 16;
constexpr double kC = 1.0, kEps = 0.9;
constexpr float kGain = 2.0F;    // of the encoder
constexpr float kSlope = 0.01F;  // of the decoder: tanh is a line there

// All but one coordinate of the voiceprint times kGain; then the decoder's line, and a last
// coordinate that tells how long the whole was. Nothing is squashed: who has the output knows the
// latent vector.
AutoencoderWeights Transparent() {
  AutoencoderWeights w;
  w.encoder = MatrixXf::Identity(kLatent, kLatent + 1);
  w.encoder_bias = Eigen::VectorXf::Constant(kLatent, 2.0F);  // no ReLU cuts anything off
  w.scale = Eigen::VectorXf::Constant(kLatent, kGain);
  w.shift = Eigen::VectorXf::Constant(kLatent, -2.0F * kGain);
  w.decoder = kSlope * MatrixXf::Identity(kLatent + 1, kLatent);
  w.decoder_bias = Eigen::VectorXf::Zero(kLatent + 1);
  w.decoder_bias[kLatent] = kSlope;
  w.bound = kC;
  return w;
}

HiderHeader Header() {
  HiderHeader header;
  header.method = "gender-aae";
  header.attributes = {{"gender", {"F", "M"}}};
  return header;
}

// The latent vector that a voiceprint of length 1 was decoded from: post-processing, which whoever
// has the voiceprint may do.
std::vector<double> Undecode(const Eigen::VectorXf& out) {
  const double length = std::tanh(static_cast<double>(kSlope)) / static_cast<double>(out[kLatent]);
  std::vector<double> y;
  for (Index i = 0; i < kLatent; ++i) {
    y.push_back(std::atanh(static_cast<double>(out[i]) * length) / static_cast<double>(kSlope));
  }
  return y;
}

Eigen::VectorXf Voiceprint(std::span<const double> first) {
  Eigen::VectorXf x = Eigen::VectorXf::Zero(kLatent + 1);
  for (Index i = 0; i < kLatent; ++i) x[i] = static_cast<float>(first[static_cast<std::size_t>(i)]);
  return x.normalized();
}

// Far outside the clip, in the directions in which mistakes show.
std::vector<NeighbourPair> Opposites() {
  std::vector<double> one(kLatent, 0.0), other = one;
  one[0] = 1.0;
  other[0] = -1.0;
  return {{std::vector<double>(kLatent, 0.25), std::vector<double>(kLatent, -0.25), kEps},
          {one, other, kEps}};
}

FalsifyOptions Few() {
  FalsifyOptions options;
  options.samples = 16000;
  return options;
}

// The real thing: HideAttributes, each release for another speaker.
testing::TestedMechanism Released(const Hider& hider) {
  const Key key = Key::ForExperiment(ExperimentKey(1));
  return [&hider, key](std::span<const double> input, BitSource& bits) {
    EmbeddingSet set;
    set.ids = {"u"};
    set.speakers = {std::to_string(bits.Next64())};
    set.vectors = Voiceprint(input);
    HideOptions options;
    options.eps = kEps;
    return Undecode(HideAttributes(hider, set, {}, options, key).set.vectors.col(0));
  };
}

TEST(GenderAaeDp, WhatIsReleasedKeepsItsEpsilon) {
  const AutoencoderHider hider(Header(), AdversarialAutoencoder(Transparent()));
  const auto result = FalsifyDp(Released(hider), Opposites(), Few());
  EXPECT_FALSE(result.rejected) << result.event;
  // The test would see it: half of what is spent is proven.
  EXPECT_GT(result.eps_lower, 0.5 * kEps);
}

// A model whose encoder does not clip: the release does.
class Unclipped : public AutoencoderHider {
 public:
  using AutoencoderHider::AutoencoderHider;
  MatrixXf Latent(const Eigen::Ref<const MatrixXf>& x, const Categories&) const override {
    return kGain * x.topRows(kLatent);
  }
};

TEST(GenderAaeDp, AModelThatDoesNotClipIsClippedByTheRelease) {
  const Unclipped hider(Header(), AdversarialAutoencoder(Transparent()));
  const auto result = FalsifyDp(Released(hider), Opposites(), Few());
  EXPECT_FALSE(result.rejected) << result.event;
  EXPECT_GT(result.eps_lower, 0.5 * kEps);
}

// The same parts with one mistake: `before` the noise of this scale, and `after` it.
testing::TestedMechanism Mistaken(
    const std::function<Eigen::VectorXd(const Eigen::VectorXd&)>& before, double scale,
    const std::function<Eigen::VectorXd(const Eigen::VectorXd&)>& after) {
  return [=](std::span<const double> input, BitSource& bits) {
    const AdversarialAutoencoder net(Transparent());
    Eigen::VectorXd y =
        before(static_cast<double>(kGain) * Voiceprint(input).head(kLatent).cast<double>());
    Budget budget;
    const std::vector<double> drawn =
        LaplaceMechanism(1.0, scale, static_cast<std::size_t>(kLatent))
            .Release({y.data(), static_cast<std::size_t>(kLatent)}, budget, bits);
    y = after(Eigen::Map<const Eigen::VectorXd>(drawn.data(), kLatent));
    return Undecode(net.Decode(y.cast<float>()).col(0).normalized());
  };
}

Eigen::VectorXd Same(const Eigen::VectorXd& z) { return z; }
Eigen::VectorXd ClipByL1(const Eigen::VectorXd& z) { return z / std::max(1.0, z.lpNorm<1>() / kC); }
Eigen::VectorXd ClipByL2(const Eigen::VectorXd& z) { return z / std::max(1.0, z.norm() / kC); }

TEST(GenderAaeDp, TheTestPassesTheRightPartsAndRejectsEachMistake) {
  EXPECT_FALSE(FalsifyDp(Mistaken(ClipByL1, 2.0 * kC / kEps, Same), Opposites(), Few()).rejected);
  // Noise for a sensitivity of C.
  EXPECT_TRUE(FalsifyDp(Mistaken(ClipByL1, kC / kEps, Same), Opposites(), Few()).rejected);
  // A clip by the wrong norm: sixteen equal coordinates have four times its L1 norm.
  EXPECT_TRUE(FalsifyDp(Mistaken(ClipByL2, 2.0 * kC / kEps, Same), Opposites(), Few()).rejected);
  // A clip that comes too late.
  EXPECT_TRUE(FalsifyDp(Mistaken(Same, 2.0 * kC / kEps, ClipByL1), Opposites(), Few()).rejected);
}

// --- the method ---------------------------------------------------------------------------------

std::map<std::string, std::string> Quick() {
  return {{"eps-train", "30"}, {"epochs", "40"}, {"latent", "16"}};
}

std::unique_ptr<Hider> Fit(HiderData data, const std::map<std::string, std::string>& given) {
  const auto method = ProgramHiders().Find("gender-aae");
  data.x.colwise().normalize();
  return method->Fit(std::move(data), GivenValues(*method, given));
}

TEST(GenderAae, FitsAnyDimensionAndSeveralAttributes) {
  const auto hider = Fit(AttributeVoices(60, 9, 1, 0.8F, true), Quick());
  EXPECT_EQ(hider->Dimension(), 9);
  EXPECT_EQ(hider->NoisyRows(), 16);
  EXPECT_GT(hider->L1Bound(), 0.0);
  EXPECT_FALSE(hider->AsksForCategories());
  EXPECT_EQ(hider->Header().method, "gender-aae");
  EXPECT_EQ(hider->Header().attributes.size(), 2U);
  const std::string& training = hider->Header().training;
  for (const char* part : {"180 voiceprints of 60 speakers", "eps-train 30", "of 40", "seed 1",
                           "12 speakers held out"}) {
    EXPECT_NE(training.find(part), std::string::npos) << part << ": " << training;
  }
}

TEST(GenderAae, AFileIsReadAsItWasWritten) {
  HiderData data = AttributeVoices(20, 9, 1);
  const auto hider = Fit(data, Quick());
  const auto read =
      ParseHider(ParseTensorFile(SerialiseTensorFile(hider->File(), StoredAs::kFloat32), "model"));
  EXPECT_EQ(read->Header().training, hider->Header().training);
  EXPECT_EQ(read->L1Bound(), hider->L1Bound());
  const MatrixXf x = UnitLength(data.x);
  EXPECT_EQ(HideWithoutNoise(*read, x, {}), HideWithoutNoise(*hider, x, {}));
}

TEST(GenderAae, ATrainingThatGoesOnEndsAsOneThatWasNotCutOff) {
  testing::TemporaryFolder folder;
  const HiderData data = AttributeVoices(40, 9, 1);
  auto values = Quick();
  const std::string whole = Fingerprint(Fit(data, values)->File());
  values["epochs"] = "15";
  values["checkpoint"] = (folder / "state").string();
  const std::string part = Fingerprint(Fit(data, values)->File());
  values["epochs"] = "40";
  values["resume"] = values["checkpoint"];
  EXPECT_EQ(Fingerprint(Fit(data, values)->File()), whole);
  values["adversary-weight"] = "2";
  EXPECT_THROW(Fit(data, values), Error);
  values = Quick();
  values["epochs"] = "15";
  EXPECT_EQ(Fingerprint(Fit(data, values)->File()), part);
}

TEST(GenderAae, WhichEpochIsKeptIsAskedOfHeldOutSpeakers) {
  const HiderData data = AttributeVoices(100, 9, 1, 0.8F);
  auto values = Quick();
  values["eps-train"] = "inf";
  values["epochs"] = "500";
  const std::string best = Fit(data, values)->Header().training;
  values["keep"] = "last";
  const std::string last = Fit(data, values)->Header().training;
  EXPECT_NE(last.find("epoch 500 of 500"), std::string::npos) << last;
  const auto off_chance = [](const std::string& text) {
    return std::stod(text.substr(text.find("|2 AUC - 1| ") + 12));
  };
  EXPECT_LE(off_chance(best), 0.2) << best;
  EXPECT_LE(off_chance(best), off_chance(last) + 1e-9);
  // Where nobody can be held out, the last epoch is.
  const std::string few = Fit(AttributeVoices(8, 9, 1), Quick())->Header().training;
  EXPECT_NE(few.find("epoch 40 of 40"), std::string::npos) << few;
  EXPECT_EQ(few.find("held out"), std::string::npos) << few;
}

TEST(GenderAae, EachReleaseReportsItsEpsilon) {
  const auto hider = Fit(AttributeVoices(20, 9, 1), Quick());
  EmbeddingSet set;
  set.vectors = AttributeVoices(2, 9, 5).x;
  set.ids = {"a1", "a2", "a3", "b1", "b2", "b3"};
  set.speakers = {"a", "a", "a", "b", "b", "b"};
  const Key key = Key::ForExperiment(ExperimentKey(3));
  HideOptions options;
  options.eps = 4.0;
  const HideRelease once = HideAttributes(*hider, set, {}, options, key);
  EXPECT_EQ(once.draws_most, 1U);
  EXPECT_NEAR(once.budget.SequentialEpsilon(0.0), 4.0, 1e-9);
  EXPECT_EQ(once.set.vectors.col(0), once.set.vectors.col(2));
  EXPECT_NE(once.set.vectors.col(0), once.set.vectors.col(3));
  EXPECT_EQ(once.set.vectors, HideAttributes(*hider, set, {}, options, key).set.vectors);
  options.per = ProtectPer::kUtterance;
  const HideRelease thrice = HideAttributes(*hider, set, {}, options, key);
  EXPECT_EQ(thrice.draws_most, 3U);
  EXPECT_NEAR(thrice.budget.SequentialEpsilon(0.0), 12.0, 1e-9);
  EXPECT_NE(thrice.set.vectors.col(0), thrice.set.vectors.col(2));
}

TEST(GenderAae, WhatCannotBeFittedIsRefused) {
  const auto refused = [](const HiderData& data, const std::map<std::string, std::string>& given) {
    try {
      Fit(data, given);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const HiderData data = AttributeVoices(20, 9, 1);
  EXPECT_NE(refused(data, {}).find("needs --eps-train"), std::string::npos);
  for (const char* eps : {"0", "-1", "nan", "x"}) {
    EXPECT_NE(refused(data, {{"eps-train", eps}}), "") << eps;
  }
  EXPECT_NE(refused(data, {{"eps-train", "15"}, {"adversary-weight", "-1"}}), "");
  HiderData one = data;
  one.categories.setZero();
  EXPECT_NE(refused(one, Quick()), "");
}

TEST(GenderAae, DamagedFilesAreRefused) {
  const TensorFile file = Fit(AttributeVoices(20, 9, 1), Quick())->File();
  const std::string bytes = SerialiseTensorFile(file, StoredAs::kFloat32);
  EXPECT_NO_THROW(ParseHider(ParseTensorFile(bytes, "model")));
  EXPECT_THROW(ParseHider(ParseTensorFile(bytes.substr(0, bytes.size() / 2), "model")), Error);
  for (const auto& [name, tensor] : file.tensors) {
    TensorFile less = file;
    less.tensors.erase(name);
    EXPECT_THROW(ParseHider(less), Error) << name;
  }
  for (const auto& [key, value] : file.metadata) {
    TensorFile other = file;
    other.metadata[key] = "{}";
    EXPECT_THROW(ParseHider(other), Error) << key;
    other.metadata.erase(key);
    EXPECT_THROW(ParseHider(other), Error) << key;
  }
}

}  // namespace
}  // namespace sotto
