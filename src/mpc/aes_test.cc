#include "mpc/aes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"
#include "mpc/aes_portable.h"

namespace sotto {
namespace {

std::vector<std::uint8_t> FromHex(const std::string& hex) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

AesBlock BlockFromHex(const std::string& hex) {
  AesBlock block{};
  const auto bytes = FromHex(hex);
  std::copy(bytes.begin(), bytes.end(), block.begin());
  return block;
}

class AesPaths : public ::testing::TestWithParam<AesPath> {};
INSTANTIATE_TEST_SUITE_P(Both, AesPaths, ::testing::Values(AesPath::kAuto, AesPath::kPortable));

TEST_P(AesPaths, EncryptsTheExamplesOfFips197) {
  const struct {
    const char *key, *plain, *cipher;
  } examples[] = {{"2b7e151628aed2a6abf7158809cf4f3c", "3243f6a8885a308d313198a2e0370734",
                   "3925841d02dc09fbdc118597196a0b32"},
                  {"000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff",
                   "69c4e0d86a7b0430d8cdb78070b4c55a"}};
  for (const auto& example : examples) {
    AesBlock block = BlockFromHex(example.plain);
    EncryptBlocks(AesKey(BlockFromHex(example.key)), block.data(), 1, block.data(), GetParam());
    EXPECT_EQ(block, BlockFromHex(example.cipher));
  }
}

TEST_P(AesPaths, EncryptsTheBlocksOfSp80038A) {
  const AesKey key(BlockFromHex("2b7e151628aed2a6abf7158809cf4f3c"));
  const auto plain = FromHex(
      "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
      "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710");
  std::vector<std::uint8_t> out(plain.size());
  EncryptBlocks(key, plain.data(), 4, out.data(), GetParam());
  EXPECT_EQ(out, FromHex("3ad77bb40d7a3660a89ecaf32466ef97f5d3d58503b9699de785895a96fdbaaf"
                         "43b1cd7f598ece23881b00e3ed0306887b0c785e27e8ad3f8223207104725dd4"));
}

TEST_P(AesPaths, CountsAsSp80038A) {
  const AesKey key(BlockFromHex("2b7e151628aed2a6abf7158809cf4f3c"));
  std::vector<std::uint8_t> stream(64);
  AesCounterStream(key, BlockFromHex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"), stream, GetParam());
  const auto plain = FromHex(
      "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
      "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710");
  for (std::size_t i = 0; i < 64; ++i) stream[i] ^= plain[i];
  EXPECT_EQ(stream, FromHex("874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff"
                            "5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee"));
}

TEST(Aes, TheCircuitIsTheSBox) {
  // FIPS 197, 5.1.1: the inverse in GF(2^8), then the affine map.
  const auto times = [](unsigned a, unsigned b) {
    unsigned product = 0;
    for (; b != 0; b >>= 1U, a = (a << 1U) ^ ((a & 0x80U) != 0 ? 0x11BU : 0U)) {
      if ((b & 1U) != 0) product ^= a;
    }
    return product & 0xFFU;
  };
  for (unsigned x = 0; x < 256; ++x) {
    unsigned inverse = 0;
    for (unsigned y = 0; y < 256; ++y) {
      if (times(x, y) == 1) inverse = y;
    }
    unsigned expected = 0x63;
    for (unsigned k = 0; k < 5; ++k) expected ^= inverse << k ^ inverse >> (8 - k);
    EXPECT_EQ(SubWord(x * 0x01000100U) & 0xFFFFU, 0x63U | (expected & 0xFFU) << 8U) << x;
  }
}

TEST(Aes, BothPathsGiveTheSameBytesAtEveryLength) {
  if (!HasAesInstructions()) GTEST_SKIP() << "no AES instructions on this machine";
  SeededRng rng(1);
  Seed seed{};
  for (std::uint8_t& byte : seed) byte = static_cast<std::uint8_t>(rng());
  for (const std::size_t n : {0, 1, 2, 3, 7, 8, 31, 32, 33, 64, 255, 256, 257, 300, 1485}) {
    std::vector<std::uint64_t> fast(n), portable(n);
    ExpandSeed(seed, n, fast);
    ExpandSeed(seed, n, portable, AesPath::kPortable);
    EXPECT_EQ(fast, portable) << n;
  }
}

TEST(Aes, StreamsOfOneSeedDiffer) {
  const Seed seed = FreshSeed();
  std::vector<std::uint64_t> a(4), b(4);
  ExpandSeed(seed, 0, a);
  ExpandSeed(seed, 1, b);
  for (const std::uint64_t value : a) EXPECT_EQ(std::count(b.begin(), b.end(), value), 0);
}

}  // namespace
}  // namespace sotto
