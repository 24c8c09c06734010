#include "privasp/pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sotto {

PieceMessage CutPiece(std::span<const std::uint8_t> message, std::size_t at) {
  const auto part = message.subspan(at, std::min(kLongestPiece, message.size() - at));
  return {message.size(), at, {part.begin(), part.end()}};
}

std::optional<SecretBytes> PieceJoiner::Add(const PieceMessage& piece) {
  if (message_.empty()) total_ = piece.total;
  if (piece.total <= kLongestPiece || piece.total != total_ || piece.at != message_.size()) {
    throw Error(fmt::format("a piece at {} of {} bytes, where {} of {} are here", piece.at,
                            piece.total, message_.size(), total_));
  }
  message_.insert(message_.end(), piece.bytes.begin(), piece.bytes.end());
  if (message_.size() < total_) return std::nullopt;
  return std::exchange(message_, {});
}

}  // namespace sotto
