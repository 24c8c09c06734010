#include "mpc/secret.h"

#include <sodium.h>
#include <sys/mman.h>

#include <new>

namespace sotto {
namespace {

constexpr std::size_t kLargePage = std::size_t{2} << 20U;

// What is longer than half a large page begins at one and fills it: matrices and keys are read at
// the memory's full rate only where the TLB seldom misses.
bool IsLarge(std::size_t bytes) { return bytes >= kLargePage / 2; }
std::align_val_t AlignmentOf(std::size_t bytes) {
  return std::align_val_t{IsLarge(bytes) ? kLargePage : 64};
}

}  // namespace

void* AllocateSecret(std::size_t bytes) {
  if (!IsLarge(bytes)) return ::operator new(bytes, AlignmentOf(bytes));
  const std::size_t whole = (bytes + kLargePage - 1) / kLargePage * kLargePage;
  void* memory = ::operator new(whole, AlignmentOf(bytes));
#ifdef MADV_HUGEPAGE
  madvise(memory, whole, MADV_HUGEPAGE);
#endif
  return memory;
}

void FreeSecret(void* memory, std::size_t bytes) noexcept {
  sodium_memzero(memory, bytes);
  ::operator delete(memory, AlignmentOf(bytes));
}

}  // namespace sotto
