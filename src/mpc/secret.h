// Memory for shares and keys: wiped when it is given back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sotto {

// `bytes` of memory at a multiple of 64, in large pages where it is long and the system has them.
void* AllocateSecret(std::size_t bytes);
// Overwrites and frees it.
void FreeSecret(void* memory, std::size_t bytes) noexcept;

template <class T>
struct SecretAllocator {
  using value_type = T;  // NOLINT(readability-identifier-naming): the standard's name
  SecretAllocator() = default;
  template <class U>
  explicit SecretAllocator(const SecretAllocator<U>&) {}
  T* allocate(std::size_t n) {  // NOLINT(readability-identifier-naming)
    return static_cast<T*>(AllocateSecret(n * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t n) noexcept {  // NOLINT(readability-identifier-naming)
    FreeSecret(memory, n * sizeof(T));
  }
  bool operator==(const SecretAllocator&) const { return true; }
};

// Elements of Z_2^64, and the bytes of messages that hold them.
using RingVector = std::vector<std::uint64_t, SecretAllocator<std::uint64_t>>;
using SecretBytes = std::vector<std::uint8_t, SecretAllocator<std::uint8_t>>;

}  // namespace sotto
