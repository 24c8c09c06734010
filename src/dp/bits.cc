#include "dp/bits.h"

#include <sodium.h>

#include <bit>
#include <cstring>
#include <span>

namespace sotto {
namespace {

// The ChaCha20 stream of this key and nonce.
void Expand(const std::array<std::uint8_t, 32>& key, std::uint64_t nonce,
            std::span<std::uint64_t> words) {
  static_assert(crypto_stream_chacha20_KEYBYTES == 32 && crypto_stream_chacha20_NONCEBYTES == 8);
  std::array<std::uint8_t, 8> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>(nonce >> (8 * i));
  }
  crypto_stream_chacha20(reinterpret_cast<std::uint8_t*>(words.data()), words.size_bytes(),
                         bytes.data(), key.data());
}

}  // namespace

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

SecureBits::~SecureBits() { sodium_memzero(words_.data(), sizeof words_); }

std::uint64_t SecureBits::Next64() {
  if (next_ == words_.size()) {
    std::array<std::uint8_t, 32> key{};
    SecureRandomBytes(key);
    Expand(key, 0, words_);
    sodium_memzero(key.data(), key.size());
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

KeyedStreamBits::KeyedStreamBits(const Key& key, std::initializer_list<std::string_view> fields) {
  // KeyedBits has the hash of the fields for a key. Hashed once more, under a name, it is another.
  auto digest = key.Hash(fields);
  constexpr std::string_view kName = "sotto keyed stream 1";
  crypto_generichash(stream_.data(), stream_.size(),
                     reinterpret_cast<const std::uint8_t*>(kName.data()), kName.size(),
                     digest.data(), digest.size());
  sodium_memzero(digest.data(), digest.size());
}

KeyedStreamBits::~KeyedStreamBits() {
  sodium_memzero(stream_.data(), stream_.size());
  sodium_memzero(words_.data(), sizeof words_);
}

std::uint64_t KeyedStreamBits::Next64() {
  if (next_ == words_.size()) {
    Expand(stream_, block_++, words_);
    next_ = 0;
  }
  return words_[next_++];
}

}  // namespace sotto
