#include "attack/hiding_utility.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

#include "assess/verification.h"
#include "base/error.h"
#include "base/random.h"
#include "speaker/voices_testing.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;
using testing::Voices;

const std::vector<std::string> kGenders = {"F", "M"};

struct HidingTrialsTest : public ::testing::Test {
  HidingTrialsTest() {
    SeededRng rng(7);
    for (Index i = 0; i < set.vectors.size(); ++i) {
      set.vectors.data()[i] += 0.8F * static_cast<float>(rng.Gaussian());
    }
    for (std::size_t i = 0; i < set.size(); ++i) {
      category.push_back(set.genders.at(set.speakers[i]) == Gender::kFemale ? 0 : 1);
      if (i % 5 != 4) places.push_back(i);  // every fifth takes no part
    }
    MatrixXf other = set.vectors;
    for (Index i = 0; i < other.size(); ++i) {
      other.data()[i] += 0.5F * static_cast<float>(rng.Gaussian());
    }
    sides = {set.vectors, other, {}};
  }

  HidingUtility Measure(int resamples = 0) const {
    IntervalOptions options;
    options.resamples = resamples;
    return HidingTrials(set, category, kGenders, places).Measure(sides, options);
  }

  // The EER of pairs that are taken, by plain loops.
  double PairsEer(const std::function<bool(std::size_t, std::size_t)>& takes,
                  const std::function<float(std::size_t, std::size_t)>& score) const {
    std::vector<double> tar, non;
    for (const std::size_t i : places) {
      for (const std::size_t j : places) {
        if (i >= j || !takes(i, j)) continue;
        (set.speakers[i] == set.speakers[j] ? tar : non).push_back(score(i, j));
      }
    }
    return EerInterpolated(MakeLevels(tar, non));
  }
  float Cosine(const MatrixXf& login, std::size_t i, std::size_t j) const {
    const auto a = sides.enrolment.col(static_cast<Index>(i));
    const auto b = login.col(static_cast<Index>(j));
    return a.dot(b) / (a.norm() * b.norm());
  }

  EmbeddingSet set = Voices("s", 12, 5, 1, 6);
  std::vector<int> category;
  std::vector<std::size_t> places;
  ProtectedSides sides;
};

TEST_F(HidingTrialsTest, PairsAreThoseOfPlainLoops) {
  const auto score = [this](std::size_t i, std::size_t j) { return Cosine(sides.login, i, j); };
  const HidingUtility found = Measure();
  EXPECT_NEAR(found.pairs.value, PairsEer([](auto, auto) { return true; }, score), 1e-6);
  EXPECT_GT(found.pairs.value, 0.05);
  const auto alike = [this](std::size_t i, std::size_t j) { return category[i] == category[j]; };
  EXPECT_NEAR(found.same_category.value, PairsEer(alike, score), 1e-6);
  for (int c = 0; c < 2; ++c) {
    const auto own = [&](std::size_t i, std::size_t j) {
      return category[i] == c && category[j] == c;
    };
    EXPECT_NEAR(found.by_category[static_cast<std::size_t>(c)].value, PairsEer(own, score), 1e-6);
  }
  EXPECT_EQ(found.n_tar, 12U * 6U);
  EXPECT_EQ(found.n_tar + found.n_non, 48U * 47U / 2U);
  EXPECT_TRUE(std::isnan(found.declared_other.value));
}

TEST_F(HidingTrialsTest, TemplatesAreMeansOfEverySecondUtterance) {
  std::map<std::string, std::vector<std::size_t>> own;
  for (const std::size_t i : places) own[set.speakers[i]].push_back(i);
  std::vector<double> tar, non;
  for (const auto& [speaker, utterances] : own) {
    Eigen::VectorXf mean = Eigen::VectorXf::Zero(set.Dimension());
    for (std::size_t k = 0; k < utterances.size(); k += 2) {
      mean += sides.enrolment.col(static_cast<Index>(utterances[k])).normalized();
    }
    for (const auto& [other, tried] : own) {
      for (std::size_t k = 1; k < tried.size(); k += 2) {
        const auto login = sides.login.col(static_cast<Index>(tried[k]));
        (other == speaker ? tar : non).push_back(mean.normalized().dot(login.normalized()));
      }
    }
  }
  EXPECT_NEAR(Measure().templates.value, EerInterpolated(MakeLevels(tar, non)), 1e-6);
}

TEST_F(HidingTrialsTest, ImpostorsDeclareWhatBringsThemClosest) {
  sides.declared = {sides.enrolment * 0.5F, sides.login.rowwise().reverse()};
  const auto score = [this](std::size_t i, std::size_t j) {
    if (set.speakers[i] == set.speakers[j]) return Cosine(sides.login, i, j);
    return std::max(Cosine(sides.declared[0], i, j), Cosine(sides.declared[1], i, j));
  };
  const HidingUtility found = Measure();
  EXPECT_NEAR(found.declared_other.value, PairsEer([](auto, auto) { return true; }, score), 1e-6);
  EXPECT_GT(found.declared_other.value, found.pairs.value);
}

TEST_F(HidingTrialsTest, RatiosArePaired) {
  const HidingUtility before = Measure(200);
  const ProtectedSides first = sides;
  SeededRng rng(3);
  for (Index i = 0; i < sides.login.size(); ++i) {
    sides.login.data()[i] += 0.3F * static_cast<float>(rng.Gaussian());
  }
  const HidingUtility after = Measure(200);
  const Resampled same = PairedRatio(before.pairs, before.pairs, 0.95);
  EXPECT_EQ(same.value, 1.0);
  EXPECT_EQ(same.interval->low, 1.0);
  EXPECT_EQ(same.interval->high, 1.0);
  const Resampled ratio = PairedRatio(before.pairs, after.pairs, 0.95);
  EXPECT_EQ(ratio.value, after.pairs.value / before.pairs.value);
  // Narrower than what two intervals side by side would allow.
  EXPECT_LT(ratio.interval->high, after.pairs.interval->high / before.pairs.interval->low);
  EXPECT_GT(ratio.interval->low, after.pairs.interval->low / before.pairs.interval->high);
}

// Men get logins that have nothing to do with them.
TEST_F(HidingTrialsTest, UnfairnessShows) {
  sides.enrolment = sides.login = Voices("s", 12, 5, 1, 6).vectors;  // told apart well
  const HidingUtility fair = Measure(50);
  SeededRng rng(5);
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (category[i] == 0) continue;
    for (Index k = 0; k < set.Dimension(); ++k) {
      sides.login(k, static_cast<Index>(i)) = static_cast<float>(rng.Gaussian());
    }
  }
  const HidingUtility unfair = Measure(50);
  EXPECT_NEAR(unfair.by_category[1].value, 0.5, 0.1);
  EXPECT_EQ(unfair.by_category[0].value, fair.by_category[0].value);
  EXPECT_GT(unfair.garbe.value, fair.garbe.value + 0.1);
  EXPECT_LT(unfair.fdr, fair.fdr - 0.1);
  EXPECT_LT(unfair.au_fdr, fair.au_fdr - 0.1);
  ASSERT_TRUE(fair.garbe.interval.has_value());
}

TEST_F(HidingTrialsTest, NeedSpeakersToTellApart) {
  EXPECT_THROW(HidingTrials(set, category, kGenders, {0, 1, 2}), Error);   // one speaker
  EXPECT_THROW(HidingTrials(set, category, kGenders, {0, 5, 10}), Error);  // one voiceprint each
}

}  // namespace
}  // namespace sotto
