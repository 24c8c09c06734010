// What the program store_walk does with a store of material, step by step, so that a test knows
// what had been done when it ended.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "privasp/material_store.h"

namespace sotto::testing {

struct StoreStep {
  enum class Kind : std::uint8_t { kAdd, kClaim, kDrop, kDestroy };
  Kind kind = Kind::kAdd;
  std::uint8_t segment = 0;
  std::uint32_t first = 0, count = 0;  // pieces
};

inline const std::vector<StoreStep>& StoreSteps() {
  using Kind = StoreStep::Kind;
  static const std::vector<StoreStep> kSteps = {
      {Kind::kAdd, 1, 0, 7},   {Kind::kClaim, 1, 0, 1}, {Kind::kClaim, 1, 1, 2},
      {Kind::kAdd, 2, 0, 5},   {Kind::kClaim, 2, 2, 1},  // the two before it are burnt
      {Kind::kClaim, 1, 3, 4},                           // the last one
      {Kind::kAdd, 3, 0, 6},   {Kind::kDrop, 2},        {Kind::kClaim, 3, 0, 2},
      {Kind::kAdd, 2, 0, 4},  // an id that was there before
      {Kind::kClaim, 2, 0, 3}, {Kind::kClaim, 3, 2, 3}, {Kind::kClaim, 2, 3, 1},
      {Kind::kAdd, 4, 0, 3},   {Kind::kClaim, 4, 1, 1}, {Kind::kDestroy}};
  return kSteps;
}

inline constexpr ModelId kWalkModel = {1, 2, 3};
inline constexpr std::size_t kWalkCapacity = 20;

inline SegmentId WalkSegment(std::uint8_t segment) {
  SegmentId id{};
  id.fill(segment);
  return id;
}

// Piece `index` of the segment that the step `added` adds; short, so that a log of all that is
// written stays short.
inline SecretBytes WalkPiece(std::size_t added, std::uint32_t index) {
  const std::string text = "piece " + std::to_string(index) + " of step " + std::to_string(added) +
                           std::string(3 * index, '.');
  return {text.begin(), text.end()};
}

// Below the watched folder: the store, and an empty file for each step, made when it has returned.
inline std::string WalkStore(const std::string& folder) { return folder + "/store"; }
inline std::string WalkMark(const std::string& folder, std::size_t step) {
  return folder + "/done-" + std::to_string(step);
}

}  // namespace sotto::testing
