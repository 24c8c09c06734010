#include "speaker/pool_pseudonyms.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "base/error.h"
#include "dp/bits.h"

namespace sotto {
namespace {

// Similarities of pool voices (rows) to other vectors (columns).
Eigen::MatrixXf Similarities(const SpeakerModels& pool, const Eigen::MatrixXf& others,
                             const PldaBackend* plda) {
  return plda != nullptr ? plda->Scores(pool, others) : CosineScores(pool.vectors, others);
}

// `count` of `from`, without repetition, in random order.
std::vector<std::size_t> Draw(std::vector<std::size_t> from, std::size_t count, BitSource& bits) {
  for (std::size_t i = 0; i < count; ++i) {
    std::swap(from[i], from[i + bits.Below(from.size() - i)]);
  }
  from.resize(count);
  return from;
}

// Those with the highest similarity first.
std::vector<std::size_t> ByFallingSimilarity(std::vector<std::size_t> places,
                                             const Eigen::Ref<const Eigen::VectorXf>& similarity) {
  std::stable_sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
    return similarity[static_cast<Eigen::Index>(a)] > similarity[static_cast<Eigen::Index>(b)];
  });
  return places;
}

class RandomRegion : public PoolRegion {
 public:
  RandomRegion() : PoolRegion("random", "N at random") {}
  std::vector<std::size_t> Choose(PoolView view, BitSource& bits) const override {
    return Draw(std::move(view.candidates), view.n, bits);
  }
};

class RegionBySource : public PoolRegion {
 public:
  RegionBySource(const char* name, const char* help, PoolRule rule)
      : PoolRegion(name, help), rule_(rule) {}
  PoolRule Rule() const override { return rule_; }
  std::vector<std::size_t> Choose(PoolView view, BitSource& /*bits*/) const override {
    auto region = ByFallingSimilarity(std::move(view.candidates), view.to_source);
    if (rule_ == PoolRule::kFarthest) std::reverse(region.begin(), region.end());
    return region;
  }

 private:
  PoolRule rule_;
};

class RegionByDensity : public PoolRegion {
 public:
  RegionByDensity(const char* name, const char* help, bool dense)
      : PoolRegion(name, help), dense_(dense) {}
  bool GoesByDensity() const override { return true; }
  std::vector<std::size_t> Choose(PoolView view, BitSource& bits) const override {
    const auto centre = static_cast<Eigen::Index>(Centre(view, bits));
    return ByFallingSimilarity(std::move(view.candidates), view.within.col(centre));
  }

 private:
  // Drawn from the densest (sparsest) tenth of the candidates.
  std::size_t Centre(const PoolView& view, BitSource& bits) const {
    std::vector<std::pair<float, std::size_t>> density;
    for (const std::size_t i : view.candidates) {
      const auto column = static_cast<Eigen::Index>(i);
      const auto near = ByFallingSimilarity(view.candidates, view.within.col(column));
      float sum = 0.0F;
      for (std::size_t k = 0; k < view.n; ++k) {
        sum += view.within(static_cast<Eigen::Index>(near[k]), column);
      }
      density.emplace_back(sum, i);
    }
    std::sort(density.begin(), density.end());
    if (dense_) std::reverse(density.begin(), density.end());
    return density[bits.Below(std::max<std::size_t>(1, density.size() / 10))].second;
  }

  bool dense_;
};

struct Sizes {
  std::size_t n, n_star;
};

Sizes ChooseSizes(const PoolOptions& options, std::size_t candidates) {
  const std::size_t n =
      options.n.value_or(std::max<std::size_t>(1, std::min<std::size_t>(200, candidates / 2)));
  const std::size_t n_star = options.n_star.value_or(std::max<std::size_t>(1, n / 2));
  if (n == 0 || n > candidates) {
    throw Error(fmt::format("pool: N = {} of {} candidates; must be from 1 to their number", n,
                            candidates));
  }
  if (n_star == 0 || n_star > n) {
    throw Error(fmt::format("pool: N* = {} of N = {}; must be from 1 to N", n_star, n));
  }
  return {n, n_star};
}

class PoolDraws {
 public:
  PoolDraws(const EmbeddingSet& source, const EmbeddingSet& pool, const PoolOptions& options,
            const Key& key, const PldaBackend* plda)
      : source_(source), options_(options), key_(key), plda_(plda), pool_genders_(pool.genders) {
    if (source.Dimension() != pool.Dimension()) {
      throw Error(fmt::format("embeddings of {} dimensions, pool of {}: made by different encoders",
                              source.Dimension(), pool.Dimension()));
    }
    voices_ = MakeModels(pool, ModelOf::kSpeaker, Averaging::kPlain);
    labelled_ = pool.WithoutGender().empty();
    if (options.gender != TargetGender::kRandom) {
      RequireGenders(pool, "the pool");
      RequireGenders(source, "the source");
    }
    if (options.region->GoesByDensity()) within_ = Similarities(voices_, voices_.vectors, plda);
  }

  PoolRelease Run() {
    PoolRelease release;
    release.set = source_;
    release.measured.candidates_least = voices_.ids.size() + 1;
    const bool by_speaker = options_.per == ProtectPer::kSpeaker;
    const SpeakerModels units = MakeModels(
        source_, by_speaker ? ModelOf::kSpeaker : ModelOf::kUtterance, Averaging::kPlain);
    std::map<std::string, std::size_t> index;
    for (std::size_t i = 0; i < units.ids.size(); ++i) index[units.ids[i]] = i;
    if (options_.region->Rule() != PoolRule::kIndependent) {
      to_source_ = Similarities(voices_, units.vectors, plda_);
    }
    Eigen::MatrixXf pseudonyms(units.vectors.rows(), units.vectors.cols());
    std::vector<std::string> speaker_of(units.ids.size());
    for (std::size_t place = 0; place < source_.size(); ++place) {
      speaker_of[index.at(by_speaker ? source_.speakers[place] : source_.ids[place])] =
          source_.speakers[place];
    }
    for (std::size_t i = 0; i < units.ids.size(); ++i) {
      pseudonyms.col(static_cast<Eigen::Index>(i)) =
          Pseudonym(units.ids[i], speaker_of[i], static_cast<Eigen::Index>(i), release.measured);
    }
    for (std::size_t place = 0; place < source_.size(); ++place) {
      const std::string& unit = by_speaker ? source_.speakers[place] : source_.ids[place];
      release.set.vectors.col(static_cast<Eigen::Index>(place)) =
          pseudonyms.col(static_cast<Eigen::Index>(index.at(unit)));
    }
    return release;
  }

 private:
  std::vector<std::size_t> Candidates(const std::string& speaker, BitSource& bits) const {
    std::vector<std::size_t> all(voices_.ids.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    Gender wanted = Gender::kUnknown;
    if (options_.gender == TargetGender::kRandom) {
      if (!labelled_) return all;
      wanted = bits.Below(2) == 0 ? Gender::kFemale : Gender::kMale;
      const bool both = std::any_of(all.begin(), all.end(), [&](std::size_t i) {
        return pool_genders_.at(voices_.ids[i]) == wanted;
      });
      if (!both) return all;  // a pool of one gender
    } else {
      const Gender own = source_.genders.at(speaker);
      wanted = options_.gender == TargetGender::kSame ? own : OtherThan(own);
    }
    std::erase_if(all, [&](std::size_t i) { return pool_genders_.at(voices_.ids[i]) != wanted; });
    return all;
  }

  Eigen::VectorXf Pseudonym(const std::string& unit, const std::string& speaker,
                            Eigen::Index column, PoolMeasured& measured) const {
    KeyedBits bits(
        key_, {"sotto pool 1", options_.context, options_.region->Name(), Name(options_.gender),
               options_.per == ProtectPer::kSpeaker ? "speaker" : "utterance", unit});
    std::vector<std::size_t> candidates = Candidates(speaker, bits);
    const Sizes sizes = ChooseSizes(options_, candidates.size());
    if (candidates.size() < measured.candidates_least) {
      measured = {candidates.size(), sizes.n, sizes.n_star};
    }
    PoolView view{std::move(candidates), sizes.n, within_, {}};
    if (to_source_.cols() > 0) view.to_source = to_source_.col(column);
    std::vector<std::size_t> region = options_.region->Choose(std::move(view), bits);
    region.resize(sizes.n);
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(voices_.vectors.rows());
    for (const std::size_t i : Draw(std::move(region), sizes.n_star, bits)) {
      sum += voices_.vectors.col(static_cast<Eigen::Index>(i)).cast<double>();
    }
    return (sum / static_cast<double>(sizes.n_star)).cast<float>();
  }

  const EmbeddingSet& source_;
  const PoolOptions& options_;
  const Key& key_;
  const PldaBackend* plda_;
  std::map<std::string, Gender> pool_genders_;
  bool labelled_ = false;
  SpeakerModels voices_;
  Eigen::MatrixXf within_;     // among the pool's voices
  Eigen::MatrixXf to_source_;  // pool voices × units
};

}  // namespace

const PoolRegions& ProgramPoolRegions() {
  static const PoolRegions table = [] {
    PoolRegions regions;
    regions.Add(std::make_shared<const RandomRegion>());
    regions.Add(std::make_shared<const RegionBySource>(
        "farthest", "the N least similar to the source", PoolRule::kFarthest));
    regions.Add(std::make_shared<const RegionBySource>("nearest", "the N most similar to it",
                                                       PoolRule::kNearest));
    regions.Add(std::make_shared<const RegionByDensity>(
        "dense", "a voice with close neighbours, and its N nearest", true));
    regions.Add(std::make_shared<const RegionByDensity>(
        "sparse", "a voice with distant neighbours, and its N nearest", false));
    return regions;
  }();
  return table;
}

bool PoolOptions::DependsOnSource() const {
  return region->Rule() != PoolRule::kIndependent || gender != TargetGender::kRandom;
}

PoolRelease ReleasePool(const EmbeddingSet& source, const EmbeddingSet& pool,
                        const PoolOptions& options, const Key& key, const PldaBackend* plda) {
  return PoolDraws(source, pool, options, key, plda).Run();
}

}  // namespace sotto
