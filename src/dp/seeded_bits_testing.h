// For tests only: repeatable bits. Nothing outside a test may include this header.
#pragma once

#include "base/random.h"
#include "dp/bits.h"

namespace sotto::testing {

class SeededBits final : public BitSource {
 public:
  explicit SeededBits(std::uint64_t seed) : rng_(seed) {}
  std::uint64_t Next64() override { return rng_(); }

 private:
  SeededRng rng_;
};

}  // namespace sotto::testing
