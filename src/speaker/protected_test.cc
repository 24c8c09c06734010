// Protected embeddings: voice-indistinguishability holds exactly and is verified; pool pseudonyms.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/testing.h"
#include "dp/falsify_testing.h"
#include "dp/mechanisms.h"
#include "speaker/pool_pseudonyms.h"
#include "speaker/protect_embeddings.h"
#include "speaker/voice_indistinguishability.h"
#include "speaker/voices_testing.h"

namespace sotto {
namespace {

using testing::FalsifyDp;
using testing::NeighbourPair;
using testing::Voices;

const Key kKey = Key::ForExperiment(ExperimentKey(1));

TEST(AngularDistance, IsAccurateAtSmallAnglesAndAMetric) {
  Eigen::MatrixXf x(2, 4);
  x << 1, 1, 0, -2, 0, 1e-4F, 3, 0;
  const Eigen::MatrixXd d = AngularDistances(x, x);
  EXPECT_EQ(d(0, 0), 0.0);
  EXPECT_NEAR(d(0, 1), std::atan(static_cast<double>(1e-4F)) / M_PI, 1e-15);
  EXPECT_NEAR(d(0, 2), 0.5, 1e-15);
  EXPECT_NEAR(d(0, 3), 1.0, 1e-15);
  const EmbeddingSet set = Voices("v", 12, 1, 5);
  const Eigen::MatrixXd e = AngularDistances(set.vectors, set.vectors);
  for (int i = 0; i < 12; ++i) {
    for (int j = 0; j < 12; ++j) {
      for (int k = 0; k < 12; ++k) EXPECT_LE(e(i, j), e(i, k) + e(k, j) + 1e-15);
    }
  }
  EXPECT_THROW(AngularDistances(Eigen::MatrixXf::Zero(3, 1), x.topRows(2)), std::exception);
}

// One candidate at the input x, ten at its opposite x': here the exponent eps would spend nearly
// 2·eps.
std::vector<double> WorstCase(std::span<const double> input) {
  std::vector<double> distances(11, input[0] == 0.0 ? 1.0 : 0.0);
  distances[0] = input[0];
  return distances;
}

TEST(VoiceInd, PassesFalsificationAndAnExponentNotHalvedDoesNot) {
  for (const double factor : {1.0, 2.0}) {  // exponent c = factor·eps/2
    const double eps = 1.0;
    const VoiceIndMechanism mechanism(factor * eps);
    const std::vector<NeighbourPair> pairs = {{{0.0}, {1.0}, eps}};
    const auto result = FalsifyDp(
        [&](std::span<const double> input, BitSource& bits) {
          Budget budget;
          return std::vector{
              static_cast<double>(mechanism.Release(WorstCase(input), budget, bits))};
        },
        pairs);
    EXPECT_EQ(result.rejected, factor == 2.0) << factor << ": " << result.eps_lower;
  }
}

TEST(VoiceInd, TheCheckSeesTheWholeMatrix) {
  Eigen::MatrixXd between(2, 2);
  between << 0, 1, 1, 0;
  Eigen::MatrixXd to_candidates(2, 11);
  for (int j = 0; j < 11; ++j) {
    to_candidates(0, j) = j == 0 ? 0.0 : 1.0;
    to_candidates(1, j) = j == 0 ? 1.0 : 0.0;
  }
  const VoiceIndCheck good = CheckVoiceInd(VoiceIndMechanism(1.0), between, to_candidates, 1);
  EXPECT_TRUE(good.holds);
  // ln ratio at the lonely candidate: c + ln((10 + e^-c)/(1 + 10·e^-c)) with c = 1/2.
  const double c = 0.5;
  EXPECT_NEAR(good.largest_ratio, c + std::log((10.0 + std::exp(-c)) / (1.0 + 10.0 * std::exp(-c))),
              1e-9);
  // Distances that are no metric break the bound, and the check says so.
  between << 0, 0.1, 0.1, 0;
  const VoiceIndCheck bad = CheckVoiceInd(VoiceIndMechanism(1.0), between, to_candidates, 1);
  EXPECT_FALSE(bad.holds);
  // Nothing is drawn then: ReleaseVoiceInd asks before the first draw.
  EXPECT_NO_THROW(RequireBound(good));
  EXPECT_THROW(RequireBound(bad), Error);
}

TEST(VoiceInd, DrawsWithTheProbabilitiesOfTheFormula) {
  testing::SeededBits bits(4);
  const VoiceIndMechanism mechanism(6.0);
  const std::vector<double> distances = {0.0, 0.25, 0.5, 1.0};
  const Eigen::VectorXd logs = mechanism.LogProbabilities(distances);
  std::vector<double> counts(4, 0.0);
  Budget budget;
  for (int i = 0; i < 50000; ++i) counts[mechanism.Release(distances, budget, bits)] += 2e-5;
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR(counts[static_cast<std::size_t>(i)], std::exp(logs[i]), 0.01);
    EXPECT_NEAR(logs[i] - logs[0], -3.0 * distances[static_cast<std::size_t>(i)], 1e-11);
  }
}

TEST(VoiceInd, ReleasesOneVoicePerSpeakerAndCountsDrawsPerUtterance) {
  const EmbeddingSet source = Voices("s", 6, 4, 1);
  const EmbeddingSet pool = Voices("p", 40, 1, 2);
  VoiceIndOptions options;
  options.eps = 2.0;
  const VoiceIndRelease release = ReleaseVoiceInd(source, pool, options, kKey);
  EXPECT_TRUE(release.measured.check.holds);
  EXPECT_LE(release.measured.check.largest_ratio, 1.0);
  EXPECT_EQ(release.measured.check.inputs, 46U);
  EXPECT_EQ(release.set.ids, source.ids);
  for (const auto& [speaker, places] : source.BySpeaker()) {
    for (const std::size_t place : places) {
      EXPECT_EQ(release.drawn[place], release.drawn[places.front()]);
    }
  }
  EXPECT_NEAR(release.budget.SequentialEpsilon(0.0), 2.0, 1e-12);
  // The same key and input draw the same; another context draws anew.
  EXPECT_EQ(ReleaseVoiceInd(source, pool, options, kKey).drawn, release.drawn);
  options.context = "second release";
  EXPECT_NE(ReleaseVoiceInd(source, pool, options, kKey).drawn, release.drawn);
  options.per = ProtectPer::kUtterance;
  const VoiceIndRelease each = ReleaseVoiceInd(source, pool, options, kKey);
  EXPECT_EQ(each.draws_most, 4U);
  EXPECT_NEAR(each.budget.SequentialEpsilon(0.0), 8.0, 1e-12);
}

TEST(VoiceInd, RefusesCandidatesThatAreProtectedUnlessOnlyTheAssignmentIsMeant) {
  const EmbeddingSet source = Voices("s", 5, 2, 1);
  VoiceIndOptions options;
  options.eps = 1.0;
  EXPECT_THROW(ReleaseVoiceInd(source, source, options, kKey), Error);
  // The same vectors under other names are the same people.
  EmbeddingSet renamed = Voices("s", 5, 2, 1);
  for (std::string& name : renamed.speakers) name.insert(0, "q");
  EXPECT_THROW(ReleaseVoiceInd(source, renamed, options, kKey), Error);
  options.assignment_only = true;
  EXPECT_EQ(ReleaseVoiceInd(source, source, options, kKey).measured.overlapping, 5U);
  options.eps = 0.0;
  EXPECT_THROW(ReleaseVoiceInd(source, Voices("p", 5, 1, 2), options, kKey), Error);
}

TEST(Pool, SizesFollowTheCardAndContradictionsAreErrors) {
  const EmbeddingSet source = Voices("s", 3, 2, 1);
  const EmbeddingSet pool = Voices("p", 40, 1, 2);
  PoolOptions options;
  const PoolRelease release = ReleasePool(source, pool, options, kKey);
  EXPECT_EQ(release.measured.candidates_least, 20U);  // one gender of 40
  EXPECT_EQ(release.measured.n, 10U);
  EXPECT_EQ(release.measured.n_star, 5U);
  EXPECT_FALSE(options.DependsOnSource());
  options.n = 21;
  EXPECT_THROW(ReleasePool(source, pool, options, kKey), Error);
  options.n = 10;
  options.n_star = 11;
  EXPECT_THROW(ReleasePool(source, pool, options, kKey), Error);
}

TEST(Pool, RegionsAreWhatTheyAreCalled) {
  const EmbeddingSet source = Voices("s", 8, 2, 1);
  const EmbeddingSet pool = Voices("p", 100, 1, 2);
  const auto mean_cosine = [&](const char* region) {
    PoolOptions options;
    options.region = ProgramPoolRegions().Find(region);
    const PoolRelease release = ReleasePool(source, pool, options, kKey);
    const auto a = MakeModels(source, ModelOf::kSpeaker, Averaging::kPlain);
    const auto b = MakeModels(release.set, ModelOf::kSpeaker, Averaging::kPlain);
    return static_cast<double>(CosineScores(a.vectors, b.vectors).diagonal().mean());
  };
  const double random = mean_cosine("random");
  EXPECT_LT(mean_cosine("farthest"), random - 0.2);
  EXPECT_GT(mean_cosine("nearest"), random + 0.2);
  for (const char* region : {"dense", "sparse"}) {
    EXPECT_LT(std::abs(mean_cosine(region)), 0.45) << region;  // not drawn by the source
  }
}

// The members of a pseudonym made of one voice: which genders were taken.
std::set<Gender> GendersTaken(const EmbeddingSet& source, const EmbeddingSet& pool,
                              TargetGender gender, Gender of) {
  PoolOptions options;
  options.gender = gender;
  options.n = 1;
  options.n_star = 1;
  const PoolRelease release = ReleasePool(source, pool, options, kKey);
  const auto scores = CosineScores(pool.vectors, release.set.vectors);
  std::set<Gender> taken;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source.genders.at(source.speakers[i]) != of) continue;
    Eigen::Index nearest = 0;
    scores.col(static_cast<Eigen::Index>(i)).maxCoeff(&nearest);
    taken.insert(pool.genders.at(pool.speakers[static_cast<std::size_t>(nearest)]));
  }
  return taken;
}

TEST(Pool, GenderIsSameOtherOrDrawn) {
  const EmbeddingSet source = Voices("s", 40, 1, 1);
  const EmbeddingSet pool = Voices("p", 60, 1, 2);
  EXPECT_EQ(GendersTaken(source, pool, TargetGender::kSame, Gender::kFemale),
            (std::set<Gender>{Gender::kFemale}));
  EXPECT_EQ(GendersTaken(source, pool, TargetGender::kOther, Gender::kFemale),
            (std::set<Gender>{Gender::kMale}));
  EXPECT_EQ(GendersTaken(source, pool, TargetGender::kRandom, Gender::kFemale).size(), 2U);
  EmbeddingSet unlabelled = pool;
  unlabelled.genders.erase("p3");
  PoolOptions options;
  options.gender = TargetGender::kSame;
  EXPECT_THROW(ReleasePool(source, unlabelled, options, kKey), Error);
}

// The trap of baseline B1: the farthest region gives its source away, the random one does not.
TEST(Pool, TheFarthestRegionIsFoundOutAndTheRandomOneIsNot) {
  const EmbeddingSet source = Voices("s", 100, 1, 3, 192);
  const EmbeddingSet pool = Voices("p", 261, 1, 4, 192);
  const auto found = [&](const char* region) {
    PoolOptions options;
    options.region = ProgramPoolRegions().Find(region);
    const PoolRelease release = ReleasePool(source, pool, options, kKey);
    const auto scores = CosineScores(source.vectors, release.set.vectors);
    int hits = 0;
    for (Eigen::Index i = 0; i < scores.cols(); ++i) {
      Eigen::Index lowest = 0;
      scores.col(i).minCoeff(&lowest);
      hits += lowest == i ? 1 : 0;
    }
    return hits;
  };
  EXPECT_GT(found("farthest"), 85);
  EXPECT_LT(found("random"), 8);
}

TEST(Pool, PerUtteranceDrawsAnewForEachOne) {
  const EmbeddingSet source = Voices("s", 3, 5, 1);
  const EmbeddingSet pool = Voices("p", 40, 1, 2);
  PoolOptions options;
  const auto one = ReleasePool(source, pool, options, kKey).set.vectors;
  EXPECT_TRUE(one.col(0).isApprox(one.col(4)));
  options.per = ProtectPer::kUtterance;
  const auto each = ReleasePool(source, pool, options, kKey).set.vectors;
  EXPECT_FALSE(each.col(0).isApprox(each.col(4)));
}

TEST(ProtectEmbeddings, WritesTheFolderAndItsRunRecord) {
  const testing::TemporaryFolder folder;
  WriteEmbeddings(Voices("s", 4, 3, 1), folder / "in");
  WriteEmbeddings(Voices("p", 30, 2, 2), folder / "pool");
  ProtectOptions options;
  options.in = folder / "in";
  options.out = folder / "out";
  VoiceIndProtection by{folder / "pool", {}};
  by.options.eps = 30.0;
  options.by = by;
  const ProtectReport report = ProtectEmbeddings(options, "test");
  EXPECT_EQ(report.notes.size(), 2U);  // epsilon above 20, and genders are copied
  const auto record = nlohmann::json::parse(ReadTextFile(folder / "out/sotto-run.json"));
  EXPECT_EQ(record["voice_ind"]["exponent"].get<double>(), 15.0);
  EXPECT_EQ(record["voice_ind"]["candidates"].get<int>(), 30);
  const EmbeddingSet out = ReadEmbeddings(folder / "out");
  EXPECT_EQ(out.size(), 12U);
  EXPECT_THROW(ProtectEmbeddings(options, "test"), Error);  // OUT is there already
  options.out = folder / "second";
  by.pool.clear();
  options.by = by;
  EXPECT_THROW(ProtectEmbeddings(options, "test"), Error);
  EXPECT_FALSE(std::filesystem::exists(folder / "second"));
  by.options.assignment_only = true;
  options.by = by;
  ProtectEmbeddings(options, "test");
  const auto second = nlohmann::json::parse(ReadTextFile(folder / "second/sotto-run.json"));
  EXPECT_NE(second["voice_ind"]["guarantee"]["protects"].get<std::string>().find("assignment"),
            std::string::npos);
}

TEST(VoiceIndCurve, DistanceFallsWithEpsilonAndTheBoundHoldsEverywhere) {
  CurveOptions options;
  options.eps = {1.0, 50.0, 1000.0};
  options.n = {10, 80};
  options.repeats = 3;
  const auto curve = VoiceIndCurve(Voices("s", 10, 2, 1), Voices("p", 80, 1, 2), options, kKey);
  ASSERT_EQ(curve.size(), 6U);
  EXPECT_GT(curve[0].expected_distance, curve[1].expected_distance);
  EXPECT_GT(curve[1].expected_distance, curve[2].expected_distance);
  EXPECT_LT(curve[5].expected_distance, curve[2].expected_distance);  // more to choose from
  for (const CurvePoint& point : curve) {
    EXPECT_LE(point.largest_ratio, 1.0);
    EXPECT_EQ(point.tar.size(), 30U);
    EXPECT_EQ(point.non.size(), 270U);
  }
}

TEST(ProtectedXvectors, RealPoolOf1160SpeakersWithItsPlda) {
  SOTTO_NEEDS_SHARED("data/xvectors/b1_pool");
  const auto folder = testing::SharedFolder() / "data/xvectors/b1_pool";
  const EmbeddingSet pool = ReadPoolEmbeddings(folder);
  EXPECT_EQ(pool.size(), 1160U);
  EXPECT_TRUE(pool.WithoutGender().empty());
  std::vector<std::size_t> first(20);
  std::vector<std::size_t> rest;
  for (std::size_t i = 0; i < pool.size(); ++i) {
    if (i < 20) {
      first[i] = i;
    } else if (i % 4 == 0) {
      rest.push_back(i);
    }
  }
  const PldaBackend plda = ReadPldaBackend(folder);
  PoolOptions options;
  options.region = ProgramPoolRegions().Find("farthest");
  options.gender = TargetGender::kSame;
  const PoolRelease far = ReleasePool(pool.Select(first), pool.Select(rest), options, kKey, &plda);
  EXPECT_TRUE(far.set.vectors.allFinite());
  VoiceIndOptions ind;
  ind.eps = 5.0;
  const VoiceIndRelease release = ReleaseVoiceInd(pool.Select(first), pool.Select(rest), ind, kKey);
  EXPECT_TRUE(release.measured.check.holds);
  EXPECT_LE(release.measured.check.largest_ratio, 1.0);
  EXPECT_THROW(ReleaseVoiceInd(pool.Select(first), pool, ind, kKey), Error);
}

}  // namespace
}  // namespace sotto
