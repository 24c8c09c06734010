#include "mpc/integer_net.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <utility>

#include "base/error.h"

namespace sotto {
namespace {

constexpr std::uint32_t kMaxSize = 65536;  // of a layer
constexpr std::int64_t kWeightLimit = std::int64_t{4} << IntegerNet::kFractionBits;
constexpr std::int64_t kLayerLimit = std::int64_t{1} << IntegerNet::kLayerBits;
constexpr std::int64_t kScoreLimit = std::int64_t{1} << IntegerNet::kScoreBits;

void CheckSize(const char* field, std::size_t found, std::size_t wanted) {
  if (found == wanted) return;
  throw Error(fmt::format("integer net: {} has {} values; {} expected", field, found, wanted));
}

void CheckSizes(const IntegerNet& net) {
  for (const auto& [field, size] :
       {std::pair("inputs", net.inputs), std::pair("units", net.units)}) {
    if (size >= 1 && size <= kMaxSize) continue;
    throw Error(fmt::format("integer net: {} is {}; 1 to {} allowed", field, size, kMaxSize));
  }
  CheckSize("w1", net.w1.size(), std::size_t{net.inputs} * net.units);
  CheckSize("b1", net.b1.size(), net.units);
  CheckSize("w2", net.w2.size(), net.units);
  if (net.x_max < 1) {
    throw Error(fmt::format("integer net: x_max is {}; at least 1 expected", net.x_max));
  }
}

// |b| where that is below `limit`, which is at most 2^62.
std::int64_t Magnitude(const char* field, std::int64_t b, std::int64_t limit) {
  if (b > -limit && b < limit) return std::abs(b);
  throw Error(fmt::format("integer net: {} is {}; below {} in magnitude allowed", field, b, limit));
}

// The largest |W·x + b1| of one unit.
std::int64_t LargestSum(const IntegerNet& net, std::uint32_t unit) {
  std::int64_t norm = 0;
  for (const std::int32_t w :
       std::span(net.w1).subspan(std::size_t{unit} * net.inputs, net.inputs)) {
    norm += Magnitude("a weight of w1", w, kWeightLimit);
  }
  const std::int64_t largest = norm * net.x_max + Magnitude("b1", net.b1[unit], kLayerLimit);
  if (largest >= kLayerLimit) {
    throw Error(fmt::format("integer net: unit {} reaches {} (x_max·‖w‖₁ + |b1|); below {} allowed",
                            unit, largest, kLayerLimit));
  }
  return largest;
}

}  // namespace

std::int64_t Evaluate(const IntegerNet& net, std::span<const std::int32_t> x) {
  CheckSize("the input", x.size(), net.inputs);
  std::vector<std::int64_t> clipped(x.begin(), x.end());
  for (std::int64_t& value : clipped)
    value = std::clamp<std::int64_t>(value, -net.x_max, net.x_max);
  std::int64_t score = net.b_out;
  const std::int32_t* w = net.w1.data();
  for (std::uint32_t i = 0; i < net.units; ++i, w += net.inputs) {
    std::int64_t z = net.b1[i];
    for (std::uint32_t j = 0; j < net.inputs; ++j) z += w[j] * clipped[j];
    score += net.w2[i] * std::max<std::int64_t>(z, 0);
  }
  return score;
}

void CheckRanges(const IntegerNet& net) {
  CheckSizes(net);
  std::int64_t largest = Magnitude("b_out", net.b_out, kScoreLimit);
  largest += Magnitude("threshold", net.threshold, kScoreLimit);
  for (std::uint32_t i = 0; i < net.units; ++i) {
    const std::int64_t sum = std::max<std::int64_t>(LargestSum(net, i), 1);
    const std::int64_t weight = std::abs(std::int64_t{net.w2[i]});
    // Compared before the product, which could pass 2^63.
    if (largest >= kScoreLimit || weight > (kScoreLimit - 1 - largest) / sum) {
      throw Error(
          fmt::format("integer net: the score may reach {} or more at unit {}; below that "
                      "allowed (Σ |w2|·largest sum + |b_out| + |threshold|)",
                      kScoreLimit, i));
    }
    largest += weight * sum;
  }
  if (largest >= kScoreLimit) {
    throw Error(fmt::format("integer net: |b_out| + |threshold| is {}; below {} allowed", largest,
                            kScoreLimit));
  }
}

}  // namespace sotto
