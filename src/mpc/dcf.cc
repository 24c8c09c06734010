// Vectors of 512 bits with AES instructions on them.
#define HWY_WANT_AVX3_DL

#include "mpc/dcf.h"

#include <array>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "mpc/dcf.cc"
// Highway needs this order.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "mpc/dcf_inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace sotto {
namespace HWY_NAMESPACE {

#if SOTTO_AES_TARGET
using TargetOps = HwyOps<1>;
#else
using TargetOps = PlainOps;
#endif
// With one block of payload two groups together keep the widest AES instructions busy: 8 at once.
#if HWY_TARGET == HWY_AVX3_DL
using PairOps = HwyOps<2>;
#else
using PairOps = TargetOps;
#endif

// Number i of a vector into lane i % 8 of its group; what is past the end is 0.
HWY_INLINE void Spread(const std::uint64_t* x, std::size_t n, std::uint64_t* lanes) {
  for (std::size_t i = 0; i < 8; ++i) lanes[2 * i] = i < n ? x[i] : 0;
}

// Group g and those that go with it, as many as Ops takes.
template <class Ops, std::size_t B>
HWY_INLINE void EvaluateFrom(const Ops& ops, const DcfKeys& keys, std::size_t words, std::size_t g,
                             const std::uint64_t* x, std::uint64_t* out) {
  constexpr std::size_t kAtOnce = 8 * Ops::kGroups;
  const DcfShape& shape = keys.shape;
  const std::size_t first = 8 * g, n = HWY_MIN(kAtOnce, shape.count - first);
  alignas(64) std::uint64_t lanes[Ops::kGroups * kLane] = {}, shares[Ops::kGroups * B * kLane];
  for (std::size_t i = 0; i < n; ++i) lanes[2 * i] = x[first + i];
  EvaluateStep<Ops, B>(ops, keys.words.data() + g * words, words, shape.bits, lanes, shares);
  for (std::size_t v = 0; v < shape.values; ++v) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t share = shares[(i / 8 * B + v / 2) * kLane + 2 * (i % 8) + v % 2];
      out[v * shape.count + first + i] = keys.second ? 0 - share : share;
    }
  }
}

template <class Many, class One, std::size_t B>
HWY_INLINE void EvaluateGroups(const AesKey& fixed, const DcfKeys& keys, const std::uint64_t* x,
                               std::uint64_t* out) {
  const Many many(fixed);
  const One one(fixed);
  const std::size_t groups = keys.shape.Groups(),
                    words = keys.words.size() / HWY_MAX(groups, std::size_t{1});
  std::size_t g = 0;
  for (; g + Many::kGroups <= groups; g += Many::kGroups) {
    EvaluateFrom<Many, B>(many, keys, words, g, x, out);
  }
  for (; g < groups; ++g) EvaluateFrom<One, B>(one, keys, words, g, x, out);
}

template <class Ops, std::size_t B>
HWY_INLINE void MakeGroups(const AesKey& fixed, const std::uint64_t* alpha,
                           const std::uint64_t* beta, std::array<DcfKeys, 2>& keys) {
  const Ops ops(fixed);
  const DcfShape& shape = keys[0].shape;
  const std::size_t words = shape.KeyWords() / HWY_MAX(shape.Groups(), std::size_t{1});
  alignas(64) std::uint64_t paths[kLane] = {}, payload[B * kLane] = {};
  for (std::size_t g = 0; g < shape.Groups(); ++g) {
    const std::size_t n = HWY_MIN(std::size_t{8}, shape.count - 8 * g);
    Spread(alpha + 8 * g, n, paths);
    for (std::size_t v = 0; v < shape.values; ++v) {
      Spread(beta + v * shape.count + 8 * g, n, payload + v / 2 * kLane + v % 2);
    }
    std::uint64_t* const key[2] = {keys[0].words.data() + g * words,
                                   keys[1].words.data() + g * words};
    MakeGroup<Ops, B>(ops, shape.bits, paths, payload, key);
  }
}

void Evaluate(const AesKey& fixed, const DcfKeys& keys, const std::uint64_t* x,
              std::uint64_t* out) {
  if (keys.shape.Blocks() == 1) {
    EvaluateGroups<PairOps, TargetOps, 1>(fixed, keys, x, out);
  } else {
    EvaluateGroups<TargetOps, TargetOps, 2>(fixed, keys, x, out);
  }
}

void Make(const AesKey& fixed, const std::uint64_t* alpha, const std::uint64_t* beta,
          std::array<DcfKeys, 2>& keys) {
  (keys[0].shape.Blocks() == 1 ? MakeGroups<TargetOps, 1> : MakeGroups<TargetOps, 2>)(fixed, alpha,
                                                                                      beta, keys);
}

#if HWY_TARGET == HWY_STATIC_TARGET
void EvaluatePortable(const AesKey& fixed, const DcfKeys& keys, const std::uint64_t* x,
                      std::uint64_t* out) {
  if (keys.shape.Blocks() == 1) {
    EvaluateGroups<PlainOps, PlainOps, 1>(fixed, keys, x, out);
  } else {
    EvaluateGroups<PlainOps, PlainOps, 2>(fixed, keys, x, out);
  }
}

void MakePortable(const AesKey& fixed, const std::uint64_t* alpha, const std::uint64_t* beta,
                  std::array<DcfKeys, 2>& keys) {
  (keys[0].shape.Blocks() == 1 ? MakeGroups<PlainOps, 1> : MakeGroups<PlainOps, 2>)(fixed, alpha,
                                                                                    beta, keys);
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace sotto
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sotto {
namespace {

HWY_EXPORT(Evaluate);
HWY_EXPORT(Make);

constexpr std::size_t kRootWords = 16;  // of a group

}  // namespace

std::array<DcfKeys, 2> MakeDcfKeys(const DcfShape& shape, std::span<const std::uint64_t> alpha,
                                   std::span<const std::uint64_t> beta,
                                   const std::array<Seed, 2>& roots, const AesBlock& cipher,
                                   AesPath path) {
  std::array<DcfKeys, 2> keys;
  RingVector random(shape.Groups() * kRootWords);
  for (std::size_t p = 0; p < 2; ++p) {
    keys[p] = {p == 1, cipher, shape, RingVector(shape.KeyWords())};
    ExpandSeed(roots[p], 0, random, path);
    for (std::size_t i = 0; i < random.size(); ++i) {
      // Bit 0 of a root is its control bit: 0 for the first server, 1 for the second.
      const std::uint64_t root = i % 2 == 0 ? (random[i] & ~std::uint64_t{1}) | p : random[i];
      keys[p].words[i / kRootWords * (shape.KeyWords() / shape.Groups()) + i % kRootWords] = root;
    }
  }
  const AesKey fixed(cipher);
  if (path == AesPath::kAuto) {
    HWY_DYNAMIC_DISPATCH(Make)(fixed, alpha.data(), beta.data(), keys);
  } else {
    HWY_STATIC_DISPATCH(MakePortable)(fixed, alpha.data(), beta.data(), keys);
  }
  return keys;
}

void EvaluateDcf(const DcfKeys& keys, std::span<const std::uint64_t> x,
                 std::span<std::uint64_t> out, AesPath path) {
  const AesKey fixed(keys.cipher);
  if (path == AesPath::kAuto) {
    HWY_DYNAMIC_DISPATCH(Evaluate)(fixed, keys, x.data(), out.data());
  } else {
    HWY_STATIC_DISPATCH(EvaluatePortable)(fixed, keys, x.data(), out.data());
  }
}

}  // namespace sotto
#endif  // HWY_ONCE
