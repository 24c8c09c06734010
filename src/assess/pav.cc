#include "assess/pav.h"

#include <algorithm>
#include <cmath>

namespace sotto {
namespace {

// A block while pooling: counts with Laplace's additions, and the data levels it spans.
struct Pool {
  std::size_t first = 0;
  std::size_t end = 0;  // first == end: an added block without data
  double tar = 0.0;
  double non = 0.0;
  double added = 0.0;  // of each class, by Laplace's rule
  bool HasData() const { return first < end; }
};

void Push(std::vector<Pool>& pools, Pool pool) {
  // Equal posteriors are pooled too, so that blocks rise strictly. The products are exact: counts
  // are whole numbers below 2^26 for up to 67 million trials.
  while (!pools.empty() && pools.back().tar * pool.non >= pool.tar * pools.back().non) {
    const Pool& before = pools.back();
    if (before.HasData()) {
      if (!pool.HasData()) pool.end = before.end;
      pool.first = before.first;
    }
    pool.tar += before.tar;
    pool.non += before.non;
    pool.added += before.added;
    pools.pop_back();
  }
  pools.push_back(pool);
}

}  // namespace

Pav FitPav(const ScoreLevels& data, PavRule rule) {
  const std::size_t n = data.levels.size();
  std::vector<Pool> pools;
  if (rule == PavRule::kLaplace) pools.push_back({0, 0, 1.0, 1.0, 1.0});
  for (std::size_t i = 0; i < n; ++i) {
    const Level& level = data.levels[i];
    if (level.tar + level.non > 0.0) Push(pools, {i, i + 1, level.tar, level.non, 0.0});
  }
  if (rule == PavRule::kLaplace) Push(pools, {n, n, 1.0, 1.0, 1.0});

  Pav pav;
  pav.n_tar = data.n_tar;
  pav.n_non = data.n_non;
  const double log_prior_odds = std::log(data.n_tar) - std::log(data.n_non);
  for (const Pool& pool : pools) {
    if (!pool.HasData()) continue;
    PavBlock block;
    block.low = data.levels[pool.first].score;
    block.high = data.levels[pool.end - 1].score;
    block.tar = pool.tar - pool.added;
    block.non = pool.non - pool.added;
    block.posterior = pool.tar / (pool.tar + pool.non);
    block.llr = std::log(pool.tar) - std::log(pool.non) - log_prior_odds;
    pav.blocks.push_back(block);
  }
  return pav;
}

std::vector<double> PavLlrs(const Pav& pav, std::span<const double> scores) {
  std::vector<double> llrs;
  llrs.reserve(scores.size());
  const auto& blocks = pav.blocks;
  for (const double score : scores) {
    const auto block = std::lower_bound(blocks.begin(), blocks.end(), score,
                                        [](const PavBlock& b, double s) { return b.high < s; });
    if (block == blocks.end()) {
      llrs.push_back(blocks.back().llr);
    } else if (score >= block->low || block == blocks.begin()) {
      llrs.push_back(block->llr);
    } else {
      const PavBlock& before = *(block - 1);
      const double share = (score - before.high) / (block->low - before.high);
      const double rise = block->llr - before.llr;
      // Next to an infinite LLR there is nothing to interpolate: stay with the finite side.
      if (std::isinf(rise) || std::isnan(share)) {
        llrs.push_back(std::isinf(block->llr) ? before.llr : block->llr);
      } else {
        llrs.push_back(before.llr + share * rise);
      }
    }
  }
  return llrs;
}

std::vector<double> PavLlrs(std::span<const double> scores, std::span<const std::uint8_t> is_target,
                            PavRule rule) {
  return PavLlrs(FitPav(MakeLevels(scores, is_target), rule), scores);
}

}  // namespace sotto
