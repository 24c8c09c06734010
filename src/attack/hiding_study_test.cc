#include "attack/hiding_study.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/entry_values.h"
#include "base/error.h"
#include "base/testing.h"
#include "dp/allows.h"
#include "speaker/voices_testing.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;
using testing::Voices;

// Shrinks what is too long in L1, and can be noised all over.
class ClippedHider : public Hider {
 public:
  explicit ClippedHider(Index dimension)
      : Hider({"clipped", {}, {{"gender", {"F", "M"}}}, "by hand"}, dimension) {}
  MatrixXf Latent(const Eigen::Ref<const MatrixXf>& x,
                  const Categories& /*unused*/) const override {
    MatrixXf z = x;
    for (auto column : z.colwise()) column /= std::max(1.0F, column.lpNorm<1>());
    return z;
  }
  Index NoisyRows() const override { return Dimension(); }
  double L1Bound() const override { return 1.0; }

 protected:
  void Store(TensorFile& file) const override { file.metadata["x"] = "clipped"; }
};

// Takes the women's shift off those who say that they are women.
class AskingHider : public Hider {
 public:
  AskingHider(Index dimension, float shift)
      : Hider({"asking", {}, {{"gender", {"F", "M"}}}, "by hand"}, dimension), shift_(shift) {}
  bool AsksForCategories() const override { return true; }
  MatrixXf Latent(const Eigen::Ref<const MatrixXf>& x,
                  const Categories& categories) const override {
    MatrixXf z = x;
    for (Index i = 0; i < z.cols(); ++i) z(0, i) -= categories(0, i) == 0 ? shift_ : 0.0F;
    return z;
  }

 protected:
  void Store(TensorFile& file) const override { file.metadata["x"] = "asking"; }

 private:
  float shift_;
};

// Keeps the last rows.
class ShortHider : public Hider {
 public:
  ShortHider(Index dimension, Index kept)
      : Hider({"short", {}, {{"gender", {"F", "M"}}}, "by hand"}, dimension), kept_(kept) {}
  MatrixXf Latent(const Eigen::Ref<const MatrixXf>& x,
                  const Categories& /*unused*/) const override {
    return x.bottomRows(kept_);
  }

 protected:
  void Store(TensorFile& file) const override { file.metadata["x"] = "short"; }

 private:
  Index kept_;
};

// The first two coordinates can be noised.
class PartlyNoisedHider : public ClippedHider {
 public:
  using ClippedHider::ClippedHider;
  Index NoisyRows() const override { return 2; }
};

constexpr Index kDimension = 8;
constexpr float kShift = 0.5F;  // of women, on vectors of length 1

// Vectors of length about 1, so that HideAttributes changes little about the shift.
EmbeddingSet Gendered(const std::string& prefix, int speakers, std::uint64_t seed) {
  EmbeddingSet set = Voices(prefix, speakers, 4, seed, kDimension);
  SeededRng rng(seed + 100);
  for (std::size_t i = 0; i < set.size(); ++i) {
    auto x = set.vectors.col(static_cast<Index>(i));
    for (float& value : x) value += 0.7F * static_cast<float>(rng.Gaussian());
    x[0] = 0.0F;
    x.normalize();
    if (set.genders.at(set.speakers[i]) == Gender::kFemale)
      x[0] = kShift / std::sqrt(1.0F - kShift * kShift);
    x.normalize();
    if (i % 4 == 3) set.ids[i] = set.ids[i - 1] + "#1";
  }
  return set;
}

struct HidingStudyTest : public ::testing::Test {
  HidingStudyTest() {
    voices.test = Gendered("t", 16, 1);
    voices.attack = Gendered("b", 16, 2);
    EmbeddingSet both = voices.attack;
    both.genders.insert(voices.test.genders.begin(), voices.test.genders.end());
    voices.labels = GenderLabels(both, "test");
    voices.folders = {"one", "two"};
    for (std::size_t i = 0; i < voices.test.size(); ++i) {
      voices.folder_of.push_back(i < voices.test.size() / 2 ? 0 : 1);
    }
    options.attack.intervals.resamples = 20;
    options.attack.classifier.trees = 20;
    options.attack.classifier.epochs = 10;
    options.attack.assignments = 1;
  }

  HidingStudy Run(const std::vector<StudiedDefence>& defences) const {
    return StudyHiding(voices, defences, options, Key::ForExperiment(ExperimentKey(1)));
  }
  static StudiedDefence Defence(std::shared_ptr<const Hider> hider,
                                std::optional<double> eps = {}) {
    StudiedDefence defence;
    defence.name = hider->Header().method;
    defence.hider = std::move(hider);
    defence.eps = eps;
    return defence;
  }

  HidingVoices voices;
  HidingStudyOptions options;
};

double Best(const std::vector<AttackerAuc>& attackers) { return BestOf(attackers).auc; }

TEST_F(HidingStudyTest, ReadsTheGenderAndMissesItWhereItIsGone) {
  const HidingStudy study = Run({Defence(std::make_shared<AskingHider>(kDimension, kShift))});
  ASSERT_EQ(study.rows.size(), 2U);
  EXPECT_EQ(study.attack_speakers, 16U);
  const HidingRow &clean = study.rows[0], &hidden = study.rows[1];
  ASSERT_EQ(clean.parts.size(), 3U);
  EXPECT_EQ(clean.parts[0].name, "all");
  EXPECT_EQ(clean.parts[2].name, "two");
  EXPECT_EQ(clean.parts[0].speakers, 16U);
  EXPECT_EQ(clean.parts[0].voiceprints, 64U);
  EXPECT_EQ(clean.parts[0].utterances, 48U);  // without crops
  EXPECT_EQ(clean.parts[1].utterances, 24U);
  EXPECT_GT(Best(clean.parts[0].privacy.uninformed), 0.99);
  EXPECT_GT(Best(clean.parts[0].privacy.in_domain), 0.99);
  // Means are equal then; the first coordinate is 0 for everybody.
  for (const AttackerAuc& one : hidden.parts[0].privacy.informed) {
    EXPECT_NEAR(one.auc.value, 0.5, 0.25) << Name(one.classifier);
  }
  // Impostors who say what is not true do not sound like anybody.
  EXPECT_TRUE(hidden.asks_for_categories);
  EXPECT_TRUE(std::isfinite(hidden.parts[0].utility.declared_other.value));
  EXPECT_TRUE(std::isnan(clean.parts[0].utility.declared_other.value));
  EXPECT_EQ(clean.parts[0].pairs_ratio.value, 1.0);
}

TEST_F(HidingStudyTest, NoiseIsDrawnForEachSideAndHidesEverythingAtSmallEpsilons) {
  const auto hider = std::make_shared<ClippedHider>(kDimension);
  const HidingStudy study = Run({Defence(hider), Defence(hider, 1e6), Defence(hider, 0.1)});
  const HidingRow &plain = study.rows[1], &little = study.rows[2], &much = study.rows[3];
  EXPECT_EQ(plain.auc_ceiling, 1.0);
  EXPECT_EQ(much.auc_ceiling, AucCeiling(0.1, 0.0));
  EXPECT_TRUE(much.all_noised);
  EXPECT_NEAR(little.parts[0].utility.pairs.value, plain.parts[0].utility.pairs.value, 0.01);
  EXPECT_NEAR(much.parts[0].utility.pairs.value, 0.5, 0.12);
  EXPECT_NEAR(much.parts[0].utility.templates.value, 0.5, 0.2);
  for (const AttackerAuc& one : much.parts[0].privacy.in_domain) {
    EXPECT_NEAR(one.auc.value, 0.5, 0.25) << Name(one.classifier);
  }
}

// One draw for enrolment and logins is a mark by which a speaker is known.
TEST_F(HidingStudyTest, AMemoisedDrawServesBothSides) {
  const auto hider = std::make_shared<PartlyNoisedHider>(kDimension);
  EXPECT_FALSE(NoisesAll(*hider));
  EXPECT_TRUE(NoisesAll(ClippedHider(kDimension)));
  StudiedDefence memoised = Defence(hider, 1.0);
  memoised.per = ProtectPer::kSpeaker;
  const HidingStudy study = Run({Defence(hider, 1.0), memoised});
  const HidingRow &fresh = study.rows[1], &kept = study.rows[2];
  EXPECT_FALSE(kept.all_noised);
  EXPECT_LT(kept.parts[0].utility.pairs.value, 0.5 * fresh.parts[0].utility.pairs.value);
}

TEST_F(HidingStudyTest, CleanAttackersCannotReadOtherDimensions) {
  StudiedDefence point = Defence(std::make_shared<ShortHider>(kDimension, 3));
  point.only_curve = true;
  const HidingStudy study =
      Run({Defence(std::make_shared<ShortHider>(kDimension, kDimension - 1)), point});
  const HidingPart &shortened = study.rows[1].parts[0], &curve = study.rows[2].parts[0];
  EXPECT_TRUE(shortened.privacy.uninformed.empty());
  EXPECT_EQ(shortened.privacy.informed.size(), 5U);
  EXPECT_EQ(shortened.privacy.in_domain.size(), 5U);
  EXPECT_EQ(study.rows[1].dimension, kDimension - 1);
  EXPECT_TRUE(curve.privacy.in_domain.empty());
  EXPECT_TRUE(std::isnan(curve.utility.same_category.value));
  EXPECT_GT(curve.utility.pairs.value, shortened.utility.pairs.value);
}

TEST_F(HidingStudyTest, DoesNotDependOnTheNumberOfThreads) {
  const std::vector<StudiedDefence> defences = {
      Defence(std::make_shared<ClippedHider>(kDimension), 5.0)};
  const HidingStudy one = Run(defences);
  options.jobs = 4;
  const HidingStudy four = Run(defences);
  for (std::size_t r = 0; r < 2; ++r) {
    for (std::size_t p = 0; p < 3; ++p) {
      const HidingPart &a = one.rows[r].parts[p], &b = four.rows[r].parts[p];
      EXPECT_EQ(a.utility.pairs.resamples, b.utility.pairs.resamples);
      EXPECT_EQ(a.pairs_ratio.value, b.pairs_ratio.value);
      for (std::size_t k = 0; k < 5; ++k) {
        EXPECT_EQ(a.privacy.informed[k].auc.value, b.privacy.informed[k].auc.value);
        EXPECT_EQ(a.privacy.in_domain[k].auc.value, b.privacy.in_domain[k].auc.value);
      }
    }
  }
}

TEST_F(HidingStudyTest, RefusesModelsOfOtherVoiceprints) {
  EXPECT_THROW(Run({Defence(std::make_shared<ClippedHider>(kDimension + 1))}), Error);
  voices.encoder = {"ours", "1234"};
  EXPECT_NO_THROW(Run({Defence(std::make_shared<ClippedHider>(kDimension))}));
  voices.labels.name = "age";
  EXPECT_THROW(Run({Defence(std::make_shared<ClippedHider>(kDimension))}), Error);
}

HiderData FitData() {
  HiderData data;
  const EmbeddingSet set = Gendered("s", 8, 3);
  data.x = set.vectors;
  data.categories.resize(1, data.x.cols());
  for (std::size_t i = 0; i < set.size(); ++i) {
    data.categories(0, static_cast<Index>(i)) = i / 4 % 2 == 0 ? 0 : 1;
    data.speaker.push_back(static_cast<int>(i / 4));
    data.domain.push_back(0);
  }
  data.header.attributes = {{"gender", {"F", "M"}}};
  return data;
}

TEST(HidingDefences, AreUsedWithAndWithoutNoise) {
  DefencePlan plan;
  plan.methods = {"leace"};
  const HiderData data = FitData();
  const auto leace = PlanDefences(plan, data);
  ASSERT_EQ(leace.size(), 1U);
  EXPECT_EQ(leace[0].name, "leace");
  EXPECT_FALSE(leace[0].eps.has_value());
  plan.methods = {"nobody"};
  EXPECT_THROW(PlanDefences(plan, data), Error);
}

TEST(HidingDefences, AModelsTrainingTextIsReadAsThatOfAFile) {
  const testing::TemporaryFolder folder;
  const auto method = ProgramHiders().Find("gender-aae");
  EntryValues values(*method);
  values.Set("eps-train", "15");
  values.Set("epochs", "1");
  values.Set("latent", "4");
  const TensorFile whole = method->Fit(FitData(), values)->File();
  const std::string text = whole.metadata.at("sotto.hider");
  const std::string eps_train = "eps-train 15,";
  ASSERT_NE(text.find(eps_train), std::string::npos) << text;
  DefencePlan plan;
  plan.models = {folder / "model"};
  const auto trained_with = [&](const std::string& said) {
    TensorFile file = whole;
    file.metadata["sotto.hider"].replace(text.find(eps_train), eps_train.size(), said);
    WriteTensorFile(plan.models.front(), file, StoredAs::kFloat32);
    return PlanDefences(plan, {}).front().eps_train;
  };
  EXPECT_EQ(trained_with("eps-train 15,"), 15.0);
  EXPECT_EQ(trained_with("eps-train 2.5,"), 2.5);
  EXPECT_EQ(trained_with("eps-train inf,"), std::numeric_limits<double>::infinity());
  for (const char* damaged :
       {"", "eps-train", "eps-train ,", "eps-train x,", "eps-train 15x,", "eps-train 1e999,",
        "eps-train -1,", "eps-train 0,", "eps-train nan,"}) {
    EXPECT_EQ(trained_with(damaged), std::nullopt) << damaged;
  }
}

}  // namespace
}  // namespace sotto
