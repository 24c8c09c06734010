#include "assess/levels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "base/error.h"

namespace sotto {
namespace {

constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
constexpr int kDigitBits = 11;  // six passes; 2048 counters stay in the first-level cache
constexpr int kPasses = 6;
constexpr std::size_t kBuckets = std::size_t{1} << kDigitBits;

// Maps doubles to integers of the same order: negative numbers are complemented, others get the
// sign bit. Adding 0.0 turns −0 into +0.
std::uint64_t ToKey(double score) {
  const auto bits = std::bit_cast<std::uint64_t>(score + 0.0);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

double FromKey(std::uint64_t key) {
  return std::bit_cast<double>((key & kSign) != 0 ? key & ~kSign : ~key);
}

void RefuseNan(std::span<const double> scores, const char* what) {
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (std::isnan(scores[i])) throw Error(fmt::format("{} score {} is NaN", what, i + 1));
  }
}

// The levels of two sorted lists.
ScoreLevels Merge(const std::vector<double>& tar, const std::vector<double>& non) {
  ScoreLevels result;
  result.n_tar = static_cast<double>(tar.size());
  result.n_non = static_cast<double>(non.size());
  result.levels.reserve(tar.size() + non.size());
  std::size_t t = 0;
  std::size_t n = 0;
  while (t < tar.size() || n < non.size()) {
    const bool from_tar = n == non.size() || (t < tar.size() && tar[t] <= non[n]);
    const double score = from_tar ? tar[t] : non[n];
    const std::size_t t0 = t;
    const std::size_t n0 = n;
    while (t < tar.size() && tar[t] == score) ++t;
    while (n < non.size() && non[n] == score) ++n;
    result.levels.push_back({score, static_cast<double>(t - t0), static_cast<double>(n - n0)});
  }
  return result;
}

ScoreLevels FromParts(std::vector<double> tar, std::vector<double> non) {
  if (tar.empty() || non.empty()) {
    throw Error(fmt::format("{} target and {} non-target scores: both classes need at least one",
                            tar.size(), non.size()));
  }
  RefuseNan(tar, "target");
  RefuseNan(non, "non-target");
  SortScores(tar);
  SortScores(non);
  return Merge(tar, non);
}

}  // namespace

void SortScores(std::vector<double>& scores) {
  const std::size_t n = scores.size();
  if (n < kBuckets) {
    for (double& score : scores) score += 0.0;
    std::sort(scores.begin(), scores.end());
    return;
  }
  std::vector<std::uint64_t> keys(n);
  std::vector<std::uint64_t> other(n);
  std::vector<std::array<std::size_t, kBuckets>> counts(kPasses);
  for (std::size_t i = 0; i < n; ++i) {
    keys[i] = ToKey(scores[i]);
    for (int p = 0; p < kPasses; ++p) {
      ++counts[p][(keys[i] >> (p * kDigitBits)) & (kBuckets - 1)];
    }
  }
  for (int p = 0; p < kPasses; ++p) {
    auto& count = counts[p];
    // Scores rounded to few digits share many bits: a digit that never changes needs no pass.
    if (std::find(count.begin(), count.end(), n) != count.end()) continue;
    std::size_t begin = 0;
    for (std::size_t& c : count) {
      const std::size_t size = c;
      c = begin;
      begin += size;
    }
    for (const std::uint64_t key : keys) {
      other[count[(key >> (p * kDigitBits)) & (kBuckets - 1)]++] = key;
    }
    keys.swap(other);
  }
  for (std::size_t i = 0; i < n; ++i) scores[i] = FromKey(keys[i]);
}

ScoreLevels MakeLevels(std::span<const double> tar, std::span<const double> non) {
  return FromParts({tar.begin(), tar.end()}, {non.begin(), non.end()});
}

ScoreLevels MakeLevels(std::span<const double> scores, std::span<const std::uint8_t> is_target) {
  std::vector<double> tar;
  std::vector<double> non;
  const auto n_tar = static_cast<std::size_t>(
      std::count_if(is_target.begin(), is_target.end(), [](std::uint8_t t) { return t != 0; }));
  tar.reserve(n_tar);
  non.reserve(scores.size() - n_tar);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    (is_target[i] != 0 ? tar : non).push_back(scores[i]);
  }
  return FromParts(std::move(tar), std::move(non));
}

}  // namespace sotto
