#include "dp/bits.h"

#include <bit>
#include <cstring>

namespace sotto {

std::uint64_t BitSource::Below(std::uint64_t n) {
  if (n <= 1) return 0;
  const int unused = std::countl_zero(n - 1);
  while (true) {
    const std::uint64_t draw = Next64() >> unused;
    if (draw < n) return draw;
  }
}

Uint128 BitSource::Below128(Uint128 n) {
  const auto high = static_cast<std::uint64_t>((n - 1) >> 64);
  if (high == 0) {
    const auto low = static_cast<std::uint64_t>(n - 1);
    return low == ~std::uint64_t{0} ? Next64() : Below(low + 1);
  }
  const int unused = std::countl_zero(high);
  while (true) {
    const Uint128 top = Next64() >> unused;
    const Uint128 draw = (top << 64) | Next64();
    if (draw < n) return draw;
  }
}

SecureBits::~SecureBits() {
  for (volatile std::uint64_t& word : words_) word = 0;
}

std::uint64_t SecureBits::Next64() {
  if (next_ == words_.size()) {
    SecureRandomBytes({reinterpret_cast<std::uint8_t*>(words_.data()), sizeof words_});
    next_ = 0;
  }
  const std::uint64_t word = words_[next_];
  words_[next_++] = 0;
  return word;
}

KeyedBits::KeyedBits(const Key& key, std::initializer_list<std::string_view> fields)
    : stream_(key.Derive(fields)) {}

std::uint64_t KeyedBits::Next64() {
  if (next_ == 4) {
    std::array<char, 8> counter{};
    std::memcpy(counter.data(), &counter_, sizeof counter_);
    ++counter_;
    block_ = stream_.Hash({std::string_view(counter.data(), counter.size())});
    next_ = 0;
  }
  std::uint64_t word = 0;
  std::memcpy(&word, block_.data() + 8 * next_++, sizeof word);
  return word;
}

}  // namespace sotto
