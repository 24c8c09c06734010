#define HWY_WANT_AVX3_DL

#include "mpc/ring.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "mpc/ring.cc"
// Highway needs this order.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace sotto {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<std::uint64_t>;
using V = hn::Vec<D>;

HWY_INLINE V LoadWeights(D d, const std::uint64_t* w) { return hn::LoadU(d, w); }
HWY_INLINE V LoadWeights(D d, const std::int16_t* w) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(d, static_cast<std::uint64_t>(std::int64_t{*w}));
#else
  const hn::Rebind<std::int16_t, D> narrow;
  const hn::Rebind<std::int32_t, D> middle;
  const hn::Rebind<std::int64_t, D> wide;
  return hn::BitCast(d, hn::PromoteTo(wide, hn::PromoteTo(middle, hn::LoadU(narrow, w))));
#endif
}

// R rows of w with U vectors of x over `n` columns: R·U sums in registers, so that each weight and
// each x loaded serves several products. Adds to the sums of the columns before.
template <std::size_t R, std::size_t U, class T>
HWY_INLINE void Tile(const T* w, const std::uint64_t* x, std::size_t columns, std::size_t n,
                     std::size_t rows, std::uint64_t* out) {
  const D d;
  const std::size_t lanes = hn::Lanes(d), whole = n / lanes * lanes;
  V sums[R][U];
  for (auto& row : sums) {
    for (V& sum : row) sum = hn::Zero(d);
  }
  for (std::size_t j = 0; j < whole; j += lanes) {
    V xs[U];
    for (std::size_t u = 0; u < U; ++u) xs[u] = hn::LoadU(d, x + u * columns + j);
    for (std::size_t r = 0; r < R; ++r) {
      const T* at = w + r * columns + j;
      // A row comes from memory only when its weights serve few vectors.
      if constexpr (U == 1) __builtin_prefetch(at + 2048 / sizeof(T));
      const V weight = LoadWeights(d, at);
      for (std::size_t u = 0; u < U; ++u) sums[r][u] = hn::Add(sums[r][u], hn::Mul(weight, xs[u]));
    }
  }
  for (std::size_t r = 0; r < R; ++r) {
    for (std::size_t u = 0; u < U; ++u) {
      std::uint64_t sum = hn::GetLane(hn::SumOfLanes(d, sums[r][u]));
      for (std::size_t j = whole; j < n; ++j) {
        sum += static_cast<std::uint64_t>(std::int64_t(w[r * columns + j])) * x[u * columns + j];
      }
      out[u * rows + r] += sum;
    }
  }
}

template <std::size_t U, class T>
HWY_INLINE void Rows(const T* w, const std::uint64_t* x, std::size_t columns, std::size_t n,
                     std::size_t rows, std::size_t first, std::size_t end, std::uint64_t* out) {
  std::size_t i = first;
  for (; i + 6 <= end; i += 6) Tile<6, U>(w + i * columns, x, columns, n, rows, out + i);
  for (; i < end; ++i) Tile<1, U>(w + i * columns, x, columns, n, rows, out + i);
}

template <class T>
HWY_INLINE void MultiplyAll(const T* w, std::size_t rows, std::size_t columns,
                            const std::uint64_t* x, std::size_t batch, std::uint64_t* out) {
  std::fill_n(out, rows * batch, 0);
  if (batch < 4) {
    for (std::size_t u = 0; u < batch; ++u) {
      Rows<1>(w, x + u * columns, columns, columns, rows, 0, rows, out + u * rows);
    }
    return;
  }
  // 496 columns of 4 vectors stay in a first cache of 32 kB, of 60 rows in a second one, while the
  // others pass; 6 × 4 sums leave registers for what is loaded (of 32 with AVX-512).
  constexpr std::size_t kRows = 60, kColumns = 496;
  for (std::size_t i = 0; i < rows; i += kRows) {
    const std::size_t end = HWY_MIN(rows, i + kRows);
    for (std::size_t j = 0; j < columns; j += kColumns) {
      const std::size_t n = HWY_MIN(kColumns, columns - j);
      std::size_t u = 0;
      for (; u + 4 <= batch; u += 4) {
        Rows<4>(w + j, x + u * columns + j, columns, n, rows, i, end, out + u * rows);
      }
      for (; u < batch; ++u) {
        Rows<1>(w + j, x + u * columns + j, columns, n, rows, i, end, out + u * rows);
      }
    }
  }
}

void MultiplyRing(const std::uint64_t* w, std::size_t rows, std::size_t columns,
                  const std::uint64_t* x, std::size_t batch, std::uint64_t* out) {
  MultiplyAll(w, rows, columns, x, batch, out);
}

void MultiplyPublic(const std::int16_t* w, std::size_t rows, std::size_t columns,
                    const std::uint64_t* x, std::size_t batch, std::uint64_t* out) {
  MultiplyAll(w, rows, columns, x, batch, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace sotto
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sotto {

HWY_EXPORT(MultiplyRing);
HWY_EXPORT(MultiplyPublic);

void AddTo(std::span<std::uint64_t> y, std::span<const std::uint64_t> x) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += x[i];
}

void SubtractFrom(std::span<std::uint64_t> y, std::span<const std::uint64_t> x) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] -= x[i];
}

void Multiply(const RingMatrix& w, std::span<const std::uint64_t> x, std::size_t batch,
              std::span<std::uint64_t> out) {
  HWY_DYNAMIC_DISPATCH(MultiplyRing)
  (w.values.data(), w.rows, w.columns, x.data(), batch, out.data());
}

void Multiply(const PublicMatrix& w, std::span<const std::uint64_t> x, std::size_t batch,
              std::span<std::uint64_t> out) {
  HWY_DYNAMIC_DISPATCH(MultiplyPublic)
  (w.values.data(), w.rows, w.columns, x.data(), batch, out.data());
}

}  // namespace sotto
#endif  // HWY_ONCE
