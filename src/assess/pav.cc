#include "assess/pav.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sotto {
namespace {

// Appends a block and pools it with those before it while posteriors do not rise. Equal posteriors
// are pooled too, so that blocks rise strictly. The products are exact: counts are whole numbers
// below 2^26 for up to 67 million trials.
void Push(std::vector<PavBlock>& blocks, PavBlock block) {
  while (!blocks.empty() && blocks.back().tar * block.non >= block.tar * blocks.back().non) {
    block.low = blocks.back().low;
    block.tar += blocks.back().tar;
    block.non += blocks.back().non;
    blocks.pop_back();
  }
  blocks.push_back(block);
}

void SetLlrs(Pav& pav) {
  const double log_prior_odds = std::log(pav.n_tar) - std::log(pav.n_non);
  for (PavBlock& block : pav.blocks) {
    block.posterior = block.tar / (block.tar + block.non);
    block.llr = std::log(block.tar) - std::log(block.non) - log_prior_odds;
  }
}

}  // namespace

Pav FitPav(const ScoreLevels& data, PavRule rule) {
  Pav pav;
  pav.n_tar = data.n_tar;
  pav.n_non = data.n_non;
  for (const Level& level : data.levels) {
    if (level.tar + level.non == 0.0) continue;
    Push(pav.blocks, {level.score, level.score, level.tar, level.non, 0.0, 0.0});
  }
  SetLlrs(pav);
  return rule == PavRule::kLaplace ? WithLaplace(pav) : pav;
}

Pav WithLaplace(const Pav& plain) {
  // Pooling is associative: it may start from blocks that are pooled already.
  constexpr double kInf = std::numeric_limits<double>::infinity();
  Pav pav;
  pav.n_tar = plain.n_tar;
  pav.n_non = plain.n_non;
  Push(pav.blocks, {-kInf, -kInf, 1.0, 1.0, 0.0, 0.0});
  for (const PavBlock& block : plain.blocks) Push(pav.blocks, block);
  Push(pav.blocks, {kInf, kInf, 1.0, 1.0, 0.0, 0.0});
  SetLlrs(pav);

  // Take the additions away again, and their blocks where they hold nothing else.
  PavBlock& first = pav.blocks.front();
  first.low = plain.blocks.front().low;
  first.tar -= 1.0;
  first.non -= 1.0;
  PavBlock& last = pav.blocks.back();
  last.high = plain.blocks.back().high;
  last.tar -= 1.0;
  last.non -= 1.0;
  std::erase_if(pav.blocks, [](const PavBlock& b) { return b.tar + b.non == 0.0; });
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
