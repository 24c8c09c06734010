// From the hash of a feature to the row of its weights: open addressing with steps of one.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace sotto {

class FeatureIndex {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFU;

  FeatureIndex() = default;
  // The row of features[i] is i; none stands there twice.
  explicit FeatureIndex(std::span<const std::uint32_t> features)
      : slots_(std::bit_ceil(2 * features.size() + 1)) {
    for (std::uint32_t row = 0; row < features.size(); ++row) {
      std::size_t at = Home(features[row]);
      while (slots_[at].row != kNone) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = {features[row], row};
    }
  }

  std::uint32_t Find(std::uint32_t feature) const {
    if (slots_.empty()) return kNone;
    for (std::size_t at = Home(feature);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].row == kNone || slots_[at].feature == feature) return slots_[at].row;
    }
  }

 private:
  struct Slot {
    std::uint32_t feature = 0, row = kNone;
  };
  std::size_t Home(std::uint32_t feature) const {
    return (feature * 0x9E3779B9U ^ feature >> 15U) & (slots_.size() - 1);
  }

  std::vector<Slot> slots_;
};

}  // namespace sotto
