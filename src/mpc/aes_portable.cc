#include "mpc/aes_portable.h"

#include <sodium.h>

#include <cstring>
#include <utility>

namespace sotto {
namespace {

using Word = std::uint64_t;
using Planes = std::array<Word, 8>;

void SubBytes(Planes& p) {
  const Word x0 = p[7], x1 = p[6], x2 = p[5], x3 = p[4], x4 = p[3], x5 = p[2], x6 = p[1], x7 = p[0];
  // The linear layer before: 23 gates.
  const Word y14 = x3 ^ x5, y13 = x0 ^ x6, y9 = x0 ^ x3, y8 = x0 ^ x5, t0 = x1 ^ x2, y1 = t0 ^ x7;
  const Word y4 = y1 ^ x3, y12 = y13 ^ y14, y2 = y1 ^ x0, y5 = y1 ^ x6, y3 = y5 ^ y8, t1 = x4 ^ y12;
  const Word y15 = t1 ^ x5, y20 = t1 ^ x1, y6 = y15 ^ x7, y10 = y15 ^ t0, y11 = y20 ^ y9;
  const Word y7 = x7 ^ y11, y17 = y10 ^ y11, y19 = y10 ^ y8, y16 = t0 ^ y11, y21 = y13 ^ y16;
  const Word y18 = x0 ^ y16;
  // Inversion in GF(2^8).
  const Word t2 = y12 & y15, t4 = (y3 & y6) ^ t2, t6 = (y4 & x7) ^ t2, t7 = y13 & y16;
  const Word t9 = (y5 & y1) ^ t7, t11 = (y2 & y7) ^ t7, t12 = y9 & y11, t14 = (y14 & y17) ^ t12;
  const Word t16 = (y8 & y10) ^ t12, t21 = t4 ^ t14 ^ y20, t22 = t6 ^ t16 ^ y19;
  const Word t23 = t9 ^ t14 ^ y21, t24 = t11 ^ t16 ^ y18, t25 = t21 ^ t22, t26 = t21 & t23;
  const Word t27 = t24 ^ t26, t29 = (t25 & t27) ^ t22, t30 = t23 ^ t24, t31 = t22 ^ t26;
  const Word t33 = (t31 & t30) ^ t24, t34 = t23 ^ t33, t35 = t27 ^ t33, t36 = t24 & t35;
  const Word t37 = t36 ^ t34, t38 = t27 ^ t36, t40 = t25 ^ (t29 & t38), t41 = t40 ^ t37;
  const Word t42 = t29 ^ t33, t43 = t29 ^ t40, t44 = t33 ^ t37, t45 = t42 ^ t41;
  const Word z0 = t44 & y15, z1 = t37 & y6, z2 = t33 & x7, z3 = t43 & y16, z4 = t40 & y1;
  const Word z5 = t29 & y7, z6 = t42 & y11, z7 = t45 & y17, z8 = t41 & y10, z9 = t44 & y12;
  const Word z10 = t37 & y3, z11 = t33 & y4, z12 = t43 & y13, z13 = t40 & y5, z14 = t29 & y2;
  const Word z15 = t42 & y9, z16 = t45 & y14, z17 = t41 & y8;
  // The linear layer after: 30 gates.
  const Word t46 = z15 ^ z16, t47 = z10 ^ z11, t48 = z5 ^ z13, t49 = z9 ^ z10, t50 = z2 ^ z12;
  const Word t51 = z2 ^ z5, t52 = z7 ^ z8, t53 = z0 ^ z3, t54 = z6 ^ z7, t55 = z16 ^ z17;
  const Word t56 = z12 ^ t48, t57 = t50 ^ t53, t58 = z4 ^ t46, t59 = z3 ^ t54, t60 = t46 ^ t57;
  const Word t61 = z14 ^ t57, t62 = t52 ^ t58, t63 = t49 ^ t58, t64 = z4 ^ t59, t65 = t61 ^ t62;
  const Word t66 = z1 ^ t63, t67 = t64 ^ t65, s3 = t53 ^ t66;
  p = {t48 ^ ~t60, t56 ^ ~t62, t47 ^ t65, t51 ^ t66, s3, t55 ^ ~t67, t64 ^ ~s3, t59 ^ t63};
}

// Byte 4c + r of a block is row r of column c: row r turns by r columns.
void ShiftRows(Planes& p) {
  for (Word& x : p) {
    const Word row1 = x & 0x2222222222222222U, row2 = x & 0x4444444444444444U;
    const Word row3 = x & 0x8888888888888888U;
    x = (x & 0x1111111111111111U) | ((row1 >> 4U) & 0x0222022202220222U) |
        ((row1 & 0x0002000200020002U) << 12U) | ((row2 >> 8U) & 0x0044004400440044U) |
        ((row2 & 0x0044004400440044U) << 8U) | ((row3 >> 12U) & 0x0008000800080008U) |
        ((row3 & 0x0888088808880888U) << 4U);
  }
}

// 2(a_r + a_r+1) + a_r+1 + a_r+2 + a_r+3 in each column.
void MixColumns(Planes& p) {
  Planes next{}, pair{};
  for (int b = 0; b < 8; ++b) {
    next[b] = ((p[b] >> 1U) & 0x7777777777777777U) | ((p[b] & 0x1111111111111111U) << 3U);
    pair[b] = p[b] ^ next[b];
  }
  const auto two_on = [](Word x) {
    return ((x >> 2U) & 0x3333333333333333U) | ((x & 0x3333333333333333U) << 2U);
  };
  for (int b = 0; b < 8; ++b) p[b] = next[b] ^ two_on(pair[b]) ^ pair[(b + 7) % 8];
  for (const int b : {1, 3, 4}) p[b] ^= pair[7];
}

// Turns an 8 × 8 matrix of bits (Warren, Hacker's Delight, 7-3).
Word TransposeBits(Word x) {
  Word t = (x ^ (x >> 7U)) & 0x00AA00AA00AA00AAU;
  x ^= t ^ (t << 7U);
  t = (x ^ (x >> 14U)) & 0x0000CCCC0000CCCCU;
  x ^= t ^ (t << 14U);
  t = (x ^ (x >> 28U)) & 0x00000000F0F0F0F0U;
  return x ^ t ^ (t << 28U);
}

// 64 bytes to bit planes and, since it is its own inverse, back.
Planes Turn(const Planes& words) {
  Planes planes{};
  for (unsigned j = 0; j < 8; ++j) {
    const Word turned = TransposeBits(words[j]);
    for (unsigned b = 0; b < 8; ++b) planes[b] |= ((turned >> (8 * b)) & 0xFFU) << (8 * j);
  }
  return planes;
}

Planes TurnBack(const Planes& planes) {
  Planes words{};
  for (unsigned j = 0; j < 8; ++j) {
    Word turned = 0;
    for (unsigned b = 0; b < 8; ++b) turned |= ((planes[b] >> (8 * j)) & 0xFFU) << (8 * b);
    words[j] = TransposeBits(turned);
  }
  return words;
}

void AddKey(Planes& p, const Planes& key) {
  for (int b = 0; b < 8; ++b) p[b] ^= key[b];
}

}  // namespace

BitslicedAes::BitslicedAes(const AesKey& key) {
  for (std::size_t r = 0; r < rounds_.size(); ++r) {
    Planes words{};
    for (std::size_t j = 0; j < 8; ++j) {
      std::memcpy(&words[j], key.rounds.data() + 16 * r + 8 * (j % 2), 8);
    }
    rounds_[r] = Turn(words);
  }
}

BitslicedAes::~BitslicedAes() { sodium_memzero(rounds_.data(), sizeof(rounds_)); }

void BitslicedAes::Encrypt(const std::uint8_t* in, std::size_t n, std::uint8_t* out) const {
  for (std::size_t done = 0; done < n; done += 4) {
    const std::size_t bytes = 16 * (n - done < 4 ? n - done : 4);
    Planes state{};
    std::memcpy(state.data(), in + 16 * done, bytes);
    state = Turn(state);
    AddKey(state, rounds_[0]);
    for (int r = 1; r < 10; ++r) {
      SubBytes(state);
      ShiftRows(state);
      MixColumns(state);
      AddKey(state, rounds_[r]);
    }
    SubBytes(state);
    ShiftRows(state);
    AddKey(state, rounds_[10]);
    state = TurnBack(state);
    std::memcpy(out + 16 * done, state.data(), bytes);
  }
}

std::uint32_t SubWord(std::uint32_t word) {
  Planes state{word};
  state = Turn(state);
  SubBytes(state);
  return static_cast<std::uint32_t>(TurnBack(state)[0]);
}

}  // namespace sotto
