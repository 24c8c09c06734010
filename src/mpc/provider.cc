#include <utility>

#include "base/random.h"
#include "mpc/parties.h"

namespace sotto {
namespace {

// Two's complement is Z_2^64.
template <class Range>
RingVector ToRing(const Range& values) {
  RingVector ring;
  ring.reserve(values.size());
  for (const std::int64_t value : values) ring.push_back(static_cast<std::uint64_t>(value));
  return ring;
}

}  // namespace

Provider::Provider(IntegerNet net, Scenario scenario) : net_(std::move(net)) {
  CheckRanges(net_);
  card_ = {{}, scenario, net_.inputs, net_.units, net_.x_max, net_.decision_only};
  SecureRandomBytes(card_.id);
}

std::uint64_t Provider::FoldedBias() const {
  return static_cast<std::uint64_t>(net_.b_out - (net_.decision_only ? net_.threshold : 0));
}

PublicModelMessage Provider::PublicModel() const {
  // CheckRanges: every |w1| is below 2^15.
  return {card_, {net_.w1.begin(), net_.w1.end()}, ToRing(net_.b1), ToRing(net_.w2), FoldedBias()};
}

std::array<ModelShareMessage, 2> Provider::ShareModel() const {
  Shares w1 = Split(ToRing(net_.w1)), b1 = Split(ToRing(net_.b1)), w2 = Split(ToRing(net_.w2));
  const std::uint64_t bias[] = {FoldedBias()};
  const Shares b_out = Split(bias);
  std::array<ModelShareMessage, 2> shares;
  for (std::size_t p = 0; p < 2; ++p) {
    shares[p] = {card_, std::move(w1[p]), std::move(b1[p]), std::move(w2[p]), b_out[p][0]};
  }
  return shares;
}

}  // namespace sotto
