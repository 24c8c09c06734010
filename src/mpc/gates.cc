#include "mpc/gates.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "mpc/draws.h"

namespace sotto {
namespace {

RingVector Expanded(const Seed& seed, std::size_t count, std::uint64_t stream = 0) {
  RingVector values(count);
  ExpandSeed(seed, stream, values);
  return values;
}

void CheckLength(const char* what, std::size_t found, std::size_t wanted) {
  if (found == wanted) return;
  throw Error(fmt::format("mpc: {} has {} values; {} expected", what, found, wanted));
}

}  // namespace

Shares Split(std::span<const std::uint64_t> secret) {
  Shares shares = {Expanded(FreshSeed(), secret.size()), RingVector(secret.begin(), secret.end())};
  SubtractFrom(shares[1], shares[0]);
  return shares;
}

RingVector Open(std::span<const std::uint64_t> first, std::span<const std::uint64_t> second) {
  CheckLength("the second share", second.size(), first.size());
  RingVector sum(first.begin(), first.end());
  AddTo(sum, second);
  return sum;
}

RingMatrix ExpandMatrix(const Seed& seed, std::size_t rows, std::size_t columns) {
  RingMatrix matrix{rows, columns, RingVector(rows * columns)};
  ExpandSeed(seed, 0, matrix.values);
  return matrix;
}

RingMatrix HideMatrix(RingMatrix share, const Seed& mask) {
  SubtractFrom(share.values, Expanded(mask, share.values.size()));
  return share;
}

SharedMatrix FinishMatrix(bool second, RingMatrix own_hidden, const RingMatrix& peer_hidden,
                          const Seed& mask) {
  CheckLength("the peer's hidden matrix", peer_hidden.values.size(), own_hidden.values.size());
  SharedMatrix matrix{std::move(own_hidden), {}};
  AddTo(matrix.opened.values, peer_hidden.values);
  matrix.share = ExpandMatrix(mask, matrix.opened.rows, matrix.opened.columns);
  if (!second) AddTo(matrix.share.values, matrix.opened.values);
  return matrix;
}

RingVector InputMask(const std::array<Seed, 2>& masks, std::size_t count) {
  RingVector mask = Expanded(masks[0], count);
  AddTo(mask, Expanded(masks[1], count));
  return mask;
}

std::array<LinearHalf, 2> DealLinearFrom(const LinearDraw& draw,
                                         std::span<const std::uint64_t> masked) {
  std::array<LinearHalf, 2> halves;
  for (std::size_t p = 0; p < 2; ++p) halves[p].input_mask = draw.input_masks[p];
  halves[0].product = Expanded(draw.product_share, masked.size());
  halves[1].product.assign(masked.begin(), masked.end());
  SubtractFrom(halves[1].product, halves[0].product);
  return halves;
}

std::array<LinearHalf, 2> DealLinear(const std::array<Seed, 2>& matrix_masks, std::size_t rows,
                                     std::size_t columns) {
  RingMatrix mask = ExpandMatrix(matrix_masks[0], rows, columns);
  AddTo(mask.values, Expanded(matrix_masks[1], mask.values.size()));
  const LinearDraw draw = LinearDraw::Fresh();
  RingVector masked(rows);
  Multiply(mask, InputMask(draw.input_masks, columns), 1, masked);
  return DealLinearFrom(draw, masked);
}

RingVector HideInput(std::span<const std::uint64_t> x, const std::array<Seed, 2>& masks) {
  RingVector hidden(x.begin(), x.end());
  SubtractFrom(hidden, InputMask(masks, x.size()));
  return hidden;
}

RingVector PrepareLinear(const SharedMatrix& matrix, const LinearHalf& half) {
  CheckLength("the dealt product", half.product.size(), matrix.opened.rows);
  RingVector prepared(matrix.opened.rows);
  Multiply(matrix.opened, Expanded(half.input_mask, matrix.opened.columns), 1, prepared);
  AddTo(prepared, half.product);
  return prepared;
}

RingVector ApplyLinear(const SharedMatrix& matrix, std::span<const std::uint64_t> hidden_input,
                       std::span<const std::uint64_t> prepared) {
  CheckLength("the hidden input", hidden_input.size(), matrix.share.columns);
  RingVector share(matrix.share.rows);
  Multiply(matrix.share, hidden_input, 1, share);
  AddTo(share, prepared);
  return share;
}

GateDraw GateDraw::Fresh(std::size_t count) {
  return {{Expanded(FreshSeed(), count), Expanded(FreshSeed(), count)},
          FreshSeed(),
          {FreshSeed(), FreshSeed()},
          FreshSeed()};
}

std::array<GateHalf, 2> DealGateFrom(const GateDraw& draw, Gate gate, unsigned bits,
                                     std::span<const std::uint64_t> weights) {
  const std::size_t count = draw.mask[0].size(), values = ValuesOf(gate) * count;
  const RingVector r = Open(draw.mask[0], draw.mask[1]);
  const std::uint64_t below = (std::uint64_t{1} << bits) - 1;
  RingVector alpha(count), payload(values), flipped(values), beta(values);
  for (std::size_t i = 0; i < count; ++i) {
    alpha[i] = r[i] & below;
    const std::uint64_t s = 1 ^ ((r[i] >> bits) & 1U);
    const std::uint64_t weight = weights.empty() ? 0 : weights[i];
    const std::uint64_t p[4] = {1, r[i], weight, r[i] * weight};
    for (std::size_t k = 0; k < ValuesOf(gate); ++k) {
      payload[k * count + i] = p[k];
      flipped[k * count + i] = s * p[k];
      beta[k * count + i] = p[k] - 2 * s * p[k];
    }
  }
  auto keys = MakeDcfKeys({bits, ValuesOf(gate), count}, alpha, beta, draw.roots, draw.cipher);
  std::array<GateHalf, 2> halves;
  halves[0] = {gate, draw.mask[0], Expanded(draw.shares, values, 0),
               Expanded(draw.shares, values, 1), std::move(keys[0])};
  SubtractFrom(payload, halves[0].payload);
  SubtractFrom(flipped, halves[0].flipped);
  halves[1] = {gate, draw.mask[1], std::move(payload), std::move(flipped), std::move(keys[1])};
  return halves;
}

std::array<GateHalf, 2> DealGate(Gate gate, unsigned bits, std::size_t count,
                                 std::span<const std::uint64_t> weights) {
  if (bits < 1 || bits > 62) {
    throw Error(fmt::format("mpc: a gate on {} bits; 1 to 62 allowed", bits));
  }
  if (gate == Gate::kWeightedRelu) CheckLength("the gate's weights", weights.size(), count);
  return DealGateFrom(GateDraw::Fresh(count), gate, bits, weights);
}

RingVector HideShare(const GateHalf& half, std::span<const std::uint64_t> share) {
  CheckLength("a share", share.size(), half.mask.size());
  return Open(half.mask, share);
}

// With u = ẑ mod 2^(bits+1) and m its highest bit, z ≥ 0 is m ⊕ c ⊕ s for c = 1{u' < r'}, since the
// highest bit of u − r is m ⊕ (that of r) ⊕ c (borrow). So d·p = m·p + (1 − 2m)·q for q = (c ⊕
// s)·p.
RingVector SelectShares(const GateHalf& half, std::span<const std::uint64_t> opened) {
  const std::size_t count = half.mask.size(), values = half.payload.size();
  CheckLength("the opened vector", opened.size(), count);
  const unsigned bits = half.keys.shape.bits;
  RingVector low(opened.begin(), opened.end()), shares(values);
  for (std::uint64_t& u : low) u &= (std::uint64_t{1} << bits) - 1;
  EvaluateDcf(half.keys, low, shares);
  for (std::size_t at = 0; at < values; at += count) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t q = shares[at + i] + half.flipped[at + i];
      const std::uint64_t m = 0 - ((opened[i] >> bits) & 1U);  // all bits or none
      shares[at + i] = (m & (half.payload[at + i] - q - q)) + q;
    }
  }
  return shares;
}

RingVector ReluShares(const GateHalf& half, std::span<const std::uint64_t> opened) {
  RingVector shares = SelectShares(half, opened);
  const std::size_t count = half.mask.size();
  for (std::size_t i = 0; i < count; ++i) {
    shares[i] = opened[i] * shares[i] - shares[count + i];
  }
  shares.resize(count);
  return shares;
}

}  // namespace sotto
