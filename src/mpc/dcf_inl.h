// The comparison functions of dcf.h for a group of eight, written once over `Ops`: vectors of the
// CPU (HwyOps) or plain words (PlainOps). A lane of 128 bits belongs to one comparison; what is a
// bit or a small number stands in its lower half.
#if defined(SOTTO_MPC_DCF_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SOTTO_MPC_DCF_INL_H
#undef SOTTO_MPC_DCF_INL_H
#else
#define SOTTO_MPC_DCF_INL_H
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "mpc/aes_inl.h"
#include "mpc/aes_portable.h"

HWY_BEFORE_NAMESPACE();
namespace sotto {
namespace HWY_NAMESPACE {

constexpr std::size_t kLane = 16;  // words of eight lanes

#if SOTTO_AES_TARGET
// G groups side by side.
template <std::size_t G>
class HwyOps {
 public:
  using D = hn::Repartition<std::uint64_t, AesTag>;
  using V = hn::Vec<D>;
  static constexpr std::size_t kGroups = G;
#if HWY_TARGET == HWY_AVX3_DL
  static constexpr std::size_t kOfGroup = 2;
#else
  static constexpr std::size_t kOfGroup = 8;
#endif
  static constexpr std::size_t kVectors = G * kOfGroup;
  struct Eight {
    V v[kVectors];
  };

  explicit HwyOps(const AesKey& key) : rounds_(key.rounds.data()) {}

  template <class F>
  static HWY_INLINE Eight Each(const F& f) {
    Eight r;
    for (std::size_t i = 0; i < kVectors; ++i) r.v[i] = f(i);
    return r;
  }
  // The words of the next group lie `stride` further.
  static HWY_INLINE Eight Load(const std::uint64_t* p, std::size_t stride = 0) {
    return Each([=](std::size_t i) HWY_ATTR { return hn::Load(D(), p + Offset(i, stride)); });
  }
  static HWY_INLINE void Store(const Eight& a, std::uint64_t* p, std::size_t stride = 0) {
    for (std::size_t i = 0; i < kVectors; ++i) hn::Store(a.v[i], D(), p + Offset(i, stride));
  }
  static HWY_INLINE Eight Xor(const Eight& a, const Eight& b) {
    return Each([&](std::size_t i) HWY_ATTR { return hn::Xor(a.v[i], b.v[i]); });
  }
  static HWY_INLINE Eight And(const Eight& a, const Eight& b) {
    return Each([&](std::size_t i) HWY_ATTR { return hn::And(a.v[i], b.v[i]); });
  }
  static HWY_INLINE Eight Add(const Eight& a, const Eight& b) {
    return Each([&](std::size_t i) HWY_ATTR { return hn::Add(a.v[i], b.v[i]); });
  }
  static HWY_INLINE Eight Sub(const Eight& a, const Eight& b) {
    return Each([&](std::size_t i) HWY_ATTR { return hn::Sub(a.v[i], b.v[i]); });
  }
  static HWY_INLINE Eight ShiftRight(const Eight& a, unsigned bits) {
    return Each([&](std::size_t i)
                    HWY_ATTR { return hn::ShiftRightSame(a.v[i], static_cast<int>(bits)); });
  }
  static HWY_INLINE Eight ShiftLeft(const Eight& a, unsigned bits) {
    return Each([&](std::size_t i)
                    HWY_ATTR { return hn::ShiftLeftSame(a.v[i], static_cast<int>(bits)); });
  }
  // `lower` in every lane.
  static HWY_INLINE Eight Constant(std::uint64_t lower) {
    alignas(16) const std::uint64_t words[2] = {lower, 0};
    return Each([&](std::size_t) HWY_ATTR { return hn::LoadDup128(D(), words); });
  }
  // All bits of a lane from bit 0 of `a`.
  static HWY_INLINE Eight Mask(const Eight& a) {
    return Each([&](std::size_t i) HWY_ATTR {
      const V bit = hn::And(a.v[i], hn::Set(D(), 1));
      return hn::Sub(hn::Zero(D()), hn::InterleaveLower(D(), bit, bit));
    });
  }
  // H of each, all at once as far as registers reach.
  template <std::size_t N>
  HWY_INLINE void Hash(Eight (&x)[N]) const {
    if constexpr (N * kVectors <= 12) {
      HashTogether(x);
    } else {
      for (Eight& one : x) HashTogether(reinterpret_cast<Eight(&)[1]>(one));
    }
  }

 private:
  static constexpr std::size_t Offset(std::size_t i, std::size_t stride) {
    return i / kOfGroup * stride + i % kOfGroup * kLane / kOfGroup;
  }

  template <std::size_t N>
  HWY_INLINE void HashTogether(Eight (&x)[N]) const {
    AesVec y[N * kVectors];
    for (std::size_t i = 0; i < N * kVectors; ++i) {
      y[i] = hn::BitCast(AesTag(), x[i / kVectors].v[i % kVectors]);
    }
    EncryptVectors(rounds_, y);
    for (std::size_t i = 0; i < N * kVectors; ++i) {
      V& to = x[i / kVectors].v[i % kVectors];
      to = hn::Xor(to, hn::BitCast(D(), y[i]));
    }
  }

  const std::uint8_t* rounds_;
};
#endif

class PlainOps {
 public:
  static constexpr std::size_t kGroups = 1;
  struct Eight {
    std::uint64_t v[kLane];
  };

  explicit PlainOps(const AesKey& key) : aes_(key) {}

  template <class F>
  static Eight Each(const F& f) {
    Eight r;
    for (std::size_t i = 0; i < kLane; ++i) r.v[i] = f(i);
    return r;
  }
  static Eight Load(const std::uint64_t* p, std::size_t /*stride*/ = 0) {
    return Each([=](std::size_t i) { return p[i]; });
  }
  static void Store(const Eight& a, std::uint64_t* p, std::size_t /*stride*/ = 0) {
    for (std::size_t i = 0; i < kLane; ++i) p[i] = a.v[i];
  }
  static Eight Xor(const Eight& a, const Eight& b) {
    return Each([&](std::size_t i) { return a.v[i] ^ b.v[i]; });
  }
  static Eight And(const Eight& a, const Eight& b) {
    return Each([&](std::size_t i) { return a.v[i] & b.v[i]; });
  }
  static Eight Add(const Eight& a, const Eight& b) {
    return Each([&](std::size_t i) { return a.v[i] + b.v[i]; });
  }
  static Eight Sub(const Eight& a, const Eight& b) {
    return Each([&](std::size_t i) { return a.v[i] - b.v[i]; });
  }
  static Eight ShiftRight(const Eight& a, unsigned bits) {
    return Each([&](std::size_t i) { return a.v[i] >> bits; });
  }
  static Eight ShiftLeft(const Eight& a, unsigned bits) {
    return Each([&](std::size_t i) { return a.v[i] << bits; });
  }
  static Eight Constant(std::uint64_t lower) {
    return Each([=](std::size_t i) { return i % 2 == 0 ? lower : 0; });
  }
  static Eight Mask(const Eight& a) {
    return Each([&](std::size_t i) { return 0 - (a.v[i / 2 * 2] & 1U); });
  }
  template <std::size_t N>
  void Hash(Eight (&x)[N]) const {
    for (Eight& one : x) {
      Eight y;
      aes_.Encrypt(reinterpret_cast<const std::uint8_t*>(one.v), 8,
                   reinterpret_cast<std::uint8_t*>(y.v));
      one = Xor(one, y);
    }
  }

 private:
  BitslicedAes aes_;
};

// One group's keys: roots, D (bit by bit, level 0 highest: whether the control corrections of left
// and right differ), for each level the correction of the seeds (bit 0: that of the left control
// bit) and of the B blocks of values, and the correction of the leaves.
template <class Ops, std::size_t B>
HWY_INLINE void EvaluateStep(const Ops& ops, const std::uint64_t* key, std::size_t words,
                             unsigned bits, const std::uint64_t* x, std::uint64_t* out) {
  using Eight = typename Ops::Eight;
  const Eight one = Ops::Constant(1);
  Eight node = Ops::Load(key, words);
  const Eight path = Ops::Load(x, kLane);
  const Eight differ = Ops::And(path, Ops::Load(key + kLane, words));
  Eight sums[B];
  for (Eight& sum : sums) sum = Ops::Constant(0);
  const std::uint64_t* at = key + 2 * kLane;
  for (unsigned left = bits; left-- > 0; at += kLane * (1 + B)) {
    // The same place of the groups that are next: memory has some 500 ns to answer.
    for (std::size_t i = 0; i < kLane * (1 + B); i += 8) {
      for (std::size_t g = 0; g < Ops::kGroups; ++g) {
        __builtin_prefetch(at + (Ops::kGroups + g) * words + i);
      }
    }
    const Eight t = Ops::Mask(node);
    const Eight seed =
        Ops::Xor(node, Ops::Xor(Ops::And(node, one), Ops::And(Ops::ShiftRight(path, left), one)));
    Eight hashes[1 + B];
    hashes[0] = seed;
    for (std::size_t b = 1; b <= B; ++b) hashes[b] = Ops::Xor(seed, Ops::Constant(2 * b));
    ops.Hash(hashes);
    const Eight turn = Ops::And(Ops::ShiftRight(differ, left), one);
    node = Ops::Xor(hashes[0], Ops::And(t, Ops::Xor(Ops::Load(at, words), turn)));
    for (std::size_t b = 0; b < B; ++b) {
      const Eight correction = Ops::And(t, Ops::Load(at + kLane * (1 + b), words));
      sums[b] = Ops::Add(sums[b], Ops::Add(hashes[1 + b], correction));
    }
  }
  const Eight t = Ops::Mask(node);
  const Eight seed = Ops::Xor(node, Ops::And(node, one));
  Eight leaves[B];
  for (std::size_t b = 0; b < B; ++b) leaves[b] = Ops::Xor(seed, Ops::Constant(2 * b + 2));
  ops.Hash(leaves);
  for (std::size_t b = 0; b < B; ++b) {
    const Eight leaf = Ops::Add(leaves[b], Ops::And(t, Ops::Load(at + kLane * b, words)));
    Ops::Store(Ops::Add(sums[b], leaf), out + kLane * b, kLane * B);
  }
}

// a with its sign turned where the mask is set.
template <class Ops>
HWY_INLINE typename Ops::Eight TurnSign(const typename Ops::Eight& a,
                                        const typename Ops::Eight& mask) {
  return Ops::Sub(Ops::Xor(a, mask), mask);
}

// Writes both servers' keys of a group; key[p] holds server p's roots already.
template <class Ops, std::size_t B>
HWY_INLINE void MakeGroup(const Ops& ops, unsigned bits, const std::uint64_t* alpha,
                          const std::uint64_t* beta, std::uint64_t* const* key) {
  using Eight = typename Ops::Eight;
  const Eight one = Ops::Constant(1), zero = Ops::Constant(0);
  const Eight path = Ops::Load(alpha);
  Eight node[2] = {Ops::Load(key[0]), Ops::Load(key[1])};
  Eight differ = zero, value[B];  // value: the difference of the two sums along the path to α
  for (Eight& v : value) v = zero;
  std::size_t at = 2 * kLane;
  const auto store = [&](const Eight& a, std::size_t offset) HWY_ATTR {
    Ops::Store(a, key[0] + offset);
    Ops::Store(a, key[1] + offset);
  };
  for (unsigned left = bits; left-- > 0; at += kLane * (1 + B)) {
    const Eight bit = Ops::And(Ops::ShiftRight(path, left), one);
    Eight keep[2][1 + B], lose[2][1 + B], t[2];
    for (std::size_t p = 0; p < 2; ++p) {
      t[p] = Ops::Mask(node[p]);
      keep[p][0] = Ops::Xor(node[p], Ops::Xor(Ops::And(node[p], one), bit));
      lose[p][0] = Ops::Xor(keep[p][0], one);
      for (std::size_t b = 1; b <= B; ++b) {
        keep[p][b] = Ops::Xor(keep[p][0], Ops::Constant(2 * b));
        lose[p][b] = Ops::Xor(lose[p][0], Ops::Constant(2 * b));
      }
      ops.Hash(keep[p]);
      ops.Hash(lose[p]);
    }
    const Eight both = Ops::Xor(lose[0][0], lose[1][0]);
    const Eight turn_lose = Ops::And(both, one);
    const Eight turn_keep = Ops::Xor(Ops::And(Ops::Xor(keep[0][0], keep[1][0]), one), one);
    const Eight turn = Ops::Xor(turn_keep, turn_lose);
    const Eight correction = Ops::Xor(both, turn_lose);
    differ = Ops::Xor(differ, Ops::ShiftLeft(turn, left));
    store(Ops::Xor(correction, Ops::Xor(turn_keep, Ops::And(bit, turn))), at);
    for (std::size_t b = 0; b < B; ++b) {
      // Where the path turns right, all that is left of it lies below α.
      const Eight below = Ops::And(Ops::Mask(bit), Ops::Load(beta + kLane * b));
      const Eight gap =
          Ops::Add(Ops::Sub(Ops::Sub(lose[1][1 + b], lose[0][1 + b]), value[b]), below);
      store(TurnSign<Ops>(gap, t[1]), at + kLane * (1 + b));
      value[b] = Ops::Add(value[b], Ops::Add(gap, Ops::Sub(keep[0][1 + b], keep[1][1 + b])));
    }
    for (std::size_t p = 0; p < 2; ++p) {
      node[p] = Ops::Xor(keep[p][0], Ops::And(t[p], Ops::Xor(correction, turn_keep)));
    }
  }
  store(differ, kLane);
  Eight leaves[2][B];
  for (std::size_t p = 0; p < 2; ++p) {
    const Eight seed = Ops::Xor(node[p], Ops::And(node[p], one));
    for (std::size_t b = 0; b < B; ++b) leaves[p][b] = Ops::Xor(seed, Ops::Constant(2 * b + 2));
    ops.Hash(leaves[p]);
  }
  for (std::size_t b = 0; b < B; ++b) {
    const Eight gap = Ops::Sub(Ops::Sub(leaves[1][b], leaves[0][b]), value[b]);
    store(TurnSign<Ops>(gap, Ops::Mask(node[1])), at + kLane * b);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace sotto
HWY_AFTER_NAMESPACE();
#endif
