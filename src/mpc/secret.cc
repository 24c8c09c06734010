#include "mpc/secret.h"

#include <sodium.h>
#include <sys/mman.h>

#include <new>

namespace sotto {
namespace {

constexpr std::size_t kLargePage = std::size_t{2} << 20U;

// Matrices are read at the memory's full rate only when a page fault in the TLB is rare.
std::align_val_t AlignmentOf(std::size_t bytes) {
  return std::align_val_t{bytes >= 2 * kLargePage ? kLargePage : 64};
}

}  // namespace

void* AllocateSecret(std::size_t bytes) {
  void* memory = ::operator new(bytes, AlignmentOf(bytes));
#ifdef MADV_HUGEPAGE
  if (bytes >= 2 * kLargePage) madvise(memory, bytes / kLargePage * kLargePage, MADV_HUGEPAGE);
#endif
  return memory;
}

void FreeSecret(void* memory, std::size_t bytes) noexcept {
  sodium_memzero(memory, bytes);
  ::operator delete(memory, AlignmentOf(bytes));
}

}  // namespace sotto
