#include "privasp/pieces.h"

#include <gtest/gtest.h>

#include <numeric>

namespace sotto {
namespace {

SecretBytes Counting(std::size_t size) {
  SecretBytes bytes(size);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  return bytes;
}

std::optional<SecretBytes> Joined(PieceJoiner& joiner, const SecretBytes& message) {
  for (std::size_t at = 0;;) {
    const PieceMessage piece = CutPiece(message, at);
    auto whole = joiner.Add(PieceMessage::Parse(piece.Serialise()));
    at += piece.bytes.size();
    if (at == message.size()) return whole;
    EXPECT_FALSE(whole.has_value()) << at;
  }
}

TEST(Pieces, MakeTheMessageAgainOneAfterTheOther) {
  PieceJoiner joiner;
  for (const std::size_t size : {kLongestPiece + 1, 2 * kLongestPiece, 5 * kLongestPiece - 3}) {
    EXPECT_EQ(Joined(joiner, Counting(size)), Counting(size)) << size;
  }
}

TEST(Pieces, ThatDoNotFollowEachOtherAreRefused) {
  const SecretBytes message = Counting(3 * kLongestPiece), longer = Counting(4 * kLongestPiece);
  const PieceMessage first = CutPiece(message, 0), second = CutPiece(message, kLongestPiece);
  const auto refuses = [](const std::vector<PieceMessage>& before, const PieceMessage& piece) {
    PieceJoiner joiner;
    for (const PieceMessage& one : before) joiner.Add(one);
    EXPECT_THROW(joiner.Add(piece), Error);
  };
  refuses({}, second);                                                     // not from the beginning
  refuses({first}, first);                                                 // twice
  refuses({first}, CutPiece(message, 2 * kLongestPiece));                  // one is missing
  refuses({first}, CutPiece(longer, kLongestPiece));                       // of another message
  refuses({}, CutPiece(Counting(kLongestPiece), 0));                       // needs no pieces
  refuses({first, second, CutPiece(message, 2 * kLongestPiece)}, second);  // behind the end
}

TEST(Pieces, OutsideTheirMessageAreNoMessages) {
  const auto parse = [](const PieceMessage& piece) { PieceMessage::Parse(piece.Serialise()); };
  PieceMessage piece{kLongestPiece + 8, kLongestPiece, Counting(8)};
  EXPECT_NO_THROW(parse(piece));
  piece.bytes.push_back(0);
  EXPECT_THROW(parse(piece), Error);
  piece.at = ~std::uint64_t{0};
  EXPECT_THROW(parse(piece), Error);
  EXPECT_THROW(parse({kLongestPiece + 8, 0, {}}), Error);
  EXPECT_THROW(parse({2 * kLongestPiece, 0, Counting(kLongestPiece + 1)}), Error);
  EXPECT_THROW(parse({kLongestBetweenServers + 1, 0, Counting(8)}), Error);
}

}  // namespace
}  // namespace sotto
