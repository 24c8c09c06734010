#include "dp/bits.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace sotto {
namespace {

Key CountingKey() {
  std::string hex;
  for (const char* high : {"0", "1"}) {
    for (const char low : std::string("0123456789abcdef")) hex += std::string(high) + low;
  }
  return Key::FromHex(hex, "test");
}

// Both from other implementations of BLAKE2b and ChaCha20. What was drawn with a kept key must stay
// what it was.
TEST(KeyedBits, AreTheKeyedHashOfACounter) {
  KeyedBits bits(CountingKey(), {"latent", "speaker 7"});
  for (const std::uint64_t word : {0x690fbfaf6af83090U, 0xcd079208fd8f44e2U, 0x7274536fa499be56U,
                                   0xf77fe6006e02d641U, 0x03be46ccdba2b6bcU}) {
    EXPECT_EQ(bits.Next64(), word);
  }
}

TEST(KeyedStreamBits, AreTheStreamOfAHashedKey) {
  KeyedStreamBits bits(CountingKey(), {"latent", "speaker 7"});
  std::vector<std::uint64_t> words(65);
  for (std::uint64_t& word : words) word = bits.Next64();
  EXPECT_EQ(words[0], 0x447813750a96405fU);
  EXPECT_EQ(words[1], 0x4a03e9d06fb0a973U);
  EXPECT_EQ(words[63], 0x6933b5892c10cd86U);
  EXPECT_EQ(words[64], 0x8773509f824ab830U);  // the second block
}

TEST(SecureBits, NeverRepeatAWordWithinOrAcrossBlocksOrSources) {
  std::set<std::uint64_t> seen;
  SecureBits bits;
  SecureBits others;
  constexpr std::size_t kWords = 20000;  // two alike by chance: 4e-11
  std::size_t ones = 0;
  for (std::size_t i = 0; i < kWords; ++i) {
    for (BitSource* source : {static_cast<BitSource*>(&bits), static_cast<BitSource*>(&others)}) {
      const std::uint64_t word = source->Next64();
      seen.insert(word);
      ones += static_cast<std::size_t>(__builtin_popcountll(word));
    }
  }
  EXPECT_EQ(seen.size(), 2 * kWords);
  // 2.56 million fair bits have a deviation of 800.
  EXPECT_NEAR(static_cast<double>(ones), 64.0 * kWords, 6 * 800.0);
}

}  // namespace
}  // namespace sotto
