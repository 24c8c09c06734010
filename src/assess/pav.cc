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
  const auto& blocks = pav.blocks;
  std::vector<double> highs;
  highs.reserve(blocks.size());
  for (const PavBlock& block : blocks) highs.push_back(block.high);
  // Number of blocks that end below the score. Without branches on the data: scores come in no
  // order, and a mispredicted branch per step would cost most of the time.
  const auto blocks_below = [&highs](double score) {
    std::size_t base = 0;
    for (std::size_t n = highs.size(); n > 1;) {
      const std::size_t half = n / 2;
      base += highs[base + half - 1] < score ? half : 0;
      n -= half;
    }
    return base + (highs[base] < score ? 1 : 0);
  };
  std::vector<double> llrs;
  llrs.reserve(scores.size());
  for (const double score : scores) {
    const std::size_t below = blocks_below(score);
    if (below == blocks.size()) {
      llrs.push_back(blocks.back().llr);
      continue;
    }
    const PavBlock& block = blocks[below];
    if (below == 0 || score >= block.low) {
      llrs.push_back(block.llr);
      continue;
    }
    const PavBlock& before = blocks[below - 1];
    const double share = (score - before.high) / (block.low - before.high);
    const double rise = block.llr - before.llr;
    if (std::isfinite(rise) && !std::isnan(share)) {
      llrs.push_back(before.llr + share * rise);
    } else if (std::isinf(before.llr) && std::isinf(block.llr)) {
      llrs.push_back(0.0);
    } else {
      llrs.push_back(std::isinf(block.llr) ? before.llr : block.llr);
    }
  }
  return llrs;
}

std::vector<double> PavLlrs(std::span<const double> scores, std::span<const std::uint8_t> is_target,
                            PavRule rule) {
  return PavLlrs(FitPav(MakeLevels(scores, is_target), rule), scores);
}

}  // namespace sotto
