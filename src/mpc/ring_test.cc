#include "mpc/ring.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace sotto {
namespace {

template <class Matrix>
void ExpectProductsOfTheDefinition(Matrix& w, std::size_t rows, std::size_t columns,
                                   std::size_t batch) {
  SeededRng rng(rows * 1000 + columns * 10 + batch);
  w.rows = rows;
  w.columns = columns;
  w.values.resize(rows * columns);
  for (auto& value : w.values) value = static_cast<std::decay_t<decltype(value)>>(rng());
  RingVector x(batch * columns), out(batch * rows, 5);
  for (std::uint64_t& value : x) value = rng();
  Multiply(w, x, batch, out);
  for (std::size_t u = 0; u < batch; ++u) {
    for (std::size_t i = 0; i < rows; ++i) {
      std::uint64_t sum = 0;
      for (std::size_t j = 0; j < columns; ++j) {
        const auto weight = static_cast<std::int64_t>(w.values[i * columns + j]);
        sum += static_cast<std::uint64_t>(weight) * x[u * columns + j];
      }
      ASSERT_EQ(out[u * rows + i], sum) << rows << " × " << columns << " at " << i << ", " << u;
    }
  }
}

TEST(Ring, ProductsAreThoseOfTheDefinition) {
  for (const std::size_t rows : {1, 3, 4, 67, 130}) {
    for (const std::size_t columns : {1, 7, 8, 30, 1000, 2970}) {
      for (const std::size_t batch : {1, 2, 4, 7}) {
        RingMatrix secret;
        ExpectProductsOfTheDefinition(secret, rows, columns, batch);
        PublicMatrix weights;
        ExpectProductsOfTheDefinition(weights, rows, columns, batch);
      }
    }
  }
}

}  // namespace
}  // namespace sotto
