// Pseudo-embeddings from a public pool: step 2 of the VoicePrivacy baseline B1 (Fang et al. 2019;
// Srivastava et al. 2020, "Design choices for x-vector based speaker anonymization"). A region of N
// pool voices is chosen, and a random N* of them are averaged.
//
// Farthest and nearest regions depend on the source and give it away: the voice with the lowest
// (highest) similarity to the pseudonym is the source in most cases (found among 200
// speakers in 97 %). They are here to reproduce B1. The default region is random, and random, dense
// and sparse draw without looking at the source.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/definition_table.h"
#include "base/random.h"
#include "speaker/embeddings.h"
#include "speaker/scoring.h"
#include "speaker/voice_indistinguishability.h"

namespace sotto {

// Whether the choice of a voice from a pool looked at the source (Srivastava et al. 2022, pools;
// Han et al. 2020, voice-indistinguishability): who knows the rule ranks the enrolled by it,
// whatever the sound says.
enum class PoolRule {
  kIndependent,  // drawn without a look at the source, or no target voice at all
  kFarthest,     // far from the source: the lowest similarity to the pseudonym is the source's
  kNearest,      // near it, for certain or more likely: the highest
};

struct PoolRuleRecord {
  PoolRule rule = PoolRule::kIndependent;
  std::string text;  // "region farthest", "target voice-ind, eps 4", "target generated"
};

class BitSource;

// What a region of the pool is chosen from for one source.
struct PoolView {
  std::vector<std::size_t> candidates;  // places in the pool
  std::size_t n = 0;                    // voices of the region
  const Eigen::MatrixXf& within;        // similarities in the pool, where it goes by density
  Eigen::VectorXf to_source;            // of the pool to the source, where it looks at that
};

// A way to choose a region; a table like those of methods and of target rules.
class PoolRegion : public TableEntry {
 public:
  using TableEntry::TableEntry;
  virtual PoolRule Rule() const { return PoolRule::kIndependent; }
  virtual bool GoesByDensity() const { return false; }
  // All candidates or fewer, the n of the region first.
  virtual std::vector<std::size_t> Choose(PoolView view, BitSource& bits) const = 0;
};

class PoolRegions : public DefinitionTable<PoolRegion> {
 public:
  PoolRegions() : DefinitionTable("region") {}
};
// random (the default): N at random. farthest, nearest: the N least (most) similar to the source.
// dense, sparse: a random voice of the tenth with the closest (farthest) neighbours, and its N
// nearest.
const PoolRegions& ProgramPoolRegions();

struct PoolOptions {
  std::shared_ptr<const PoolRegion> region = ProgramPoolRegions().All().front();
  // kRandom: drawn, whatever the source's; without labels in the pool, all candidates.
  TargetGender gender = TargetGender::kRandom;
  ProtectPer per = ProtectPer::kSpeaker;
  std::optional<std::size_t> n;       // default min(200, half the candidates)
  std::optional<std::size_t> n_star;  // default N/2, at least 1
  std::string context;

  bool DependsOnSource() const;  // whether the choice looks at the source: its voice or its gender
};

// Of the draws that were made, which may follow the sources' genders: not for the release.
struct PoolMeasured {
  std::size_t candidates_least = 0;  // over the units, after the choice of gender
  std::size_t n = 0, n_star = 0;     // of the smallest candidate list
};

struct PoolRelease {
  EmbeddingSet set;
  PoolMeasured measured;
};

// Similarity is PLDA's LLR with `plda`, else cosine. Throws Error for N* > N, N > candidates,
// missing genders (with counts) where same or other is asked for, other dimensions.
PoolRelease ReleasePool(const EmbeddingSet& source, const EmbeddingSet& pool,
                        const PoolOptions& options, const Key& key,
                        const PldaBackend* plda = nullptr);

}  // namespace sotto
