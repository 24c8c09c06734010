// Small hash tables for the readers: names to numbers, and pairs of numbers to numbers.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sotto {

inline std::uint64_t MixBits(std::uint64_t x) {  // the finaliser of SplitMix64
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

// 0, 1, 2 … for names in the order they are first seen. Reading ids is most of the time of reading
// trials, hence open addressing and a hash that takes eight bytes at a time.
class Interner {
 public:
  std::uint32_t Add(std::string_view name) {
    // Trial lists come sorted by enrolment: the last name is often the next.
    if (!names_.empty() && name == names_[last_]) return last_;
    if ((names_.size() + 1) * 2 > slots_.size()) Grow();
    std::uint64_t slot = Hash(name) & (slots_.size() - 1);
    while (slots_[slot] != 0) {
      if (names_[slots_[slot] - 1] == name) return last_ = slots_[slot] - 1;
      slot = (slot + 1) & (slots_.size() - 1);
    }
    names_.emplace_back(name);
    slots_[slot] = static_cast<std::uint32_t>(names_.size());
    return last_ = slots_[slot] - 1;
  }
  const std::string& Name(std::uint32_t number) const { return names_[number]; }
  std::vector<std::string> TakeNames() { return std::move(names_); }

 private:
  static std::uint64_t Hash(std::string_view name) {
    std::uint64_t hash = name.size();
    while (name.size() >= 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, name.data(), 8);
      hash = MixBits(hash ^ word);
      name.remove_prefix(8);
    }
    std::uint64_t word = 0;
    std::memcpy(&word, name.data(), name.size());
    return MixBits(hash ^ word);
  }
  void Grow() {
    slots_.assign(slots_.empty() ? 64 : slots_.size() * 2, 0);
    for (std::uint32_t i = 0; i < names_.size(); ++i) {
      std::uint64_t slot = Hash(names_[i]) & (slots_.size() - 1);
      while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = i + 1;
    }
  }
  std::vector<std::string> names_;
  std::vector<std::uint32_t> slots_;  // number + 1, 0 is free
  std::uint32_t last_ = 0;
};

// Finds rows by their pair of numbers. The columns stay with the caller and must outlive the map,
// so that a slot is four bytes: ten million pairs take 67 MB. At most 2^32 − 2 rows.
class PairMap {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  PairMap(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) : a_(a), b_(b) {
    std::size_t size = 64;
    while (size < a.size() + a.size() / 2) size *= 2;
    slots_.assign(size, kNone);
  }
  // An earlier row with the same pair, or kNone after adding this one.
  std::uint32_t Insert(std::uint32_t row) {
    std::uint32_t& slot = Slot(a_[row], b_[row]);
    if (slot == kNone) {
      slot = row;
      return kNone;
    }
    return slot;
  }
  // The first row with this pair, or kNone.
  std::uint32_t Find(std::uint32_t a, std::uint32_t b) { return Slot(a, b); }

 private:
  std::uint32_t& Slot(std::uint32_t a, std::uint32_t b) {
    std::uint64_t slot = MixBits((std::uint64_t{a} << 32) | b) & (slots_.size() - 1);
    while (slots_[slot] != kNone && (a_[slots_[slot]] != a || b_[slots_[slot]] != b)) {
      slot = (slot + 1) & (slots_.size() - 1);
    }
    return slots_[slot];
  }
  const std::vector<std::uint32_t>& a_;
  const std::vector<std::uint32_t>& b_;
  std::vector<std::uint32_t> slots_;
};

}  // namespace sotto
