// OpenBLAS and a limit on the address space (ulimit -v). Whoever multiplies matrices gets a buffer
// of 128 MiB from it, and where that cannot be mapped it asks again for ever: the program would
// spin without a word. So the program answers its calls of mmap() itself, and says what is wrong.
// Before that, as it is loaded, OpenBLAS starts a thread for every core, each with its stack and
// its buffer, and ends the program where one cannot be had; under a limit the program starts
// itself again with one thread, which is all it uses (nn/eigen_backend.h).
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>

// Sanitizers answer mmap() themselves, and need more address space than any limit leaves.
#if defined(__SANITIZE_ADDRESS__)
#define SOTTO_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SOTTO_SANITIZED
#endif
#endif

#if defined(EIGEN_USE_BLAS) && defined(__LP64__) && !defined(SOTTO_SANITIZED)

namespace {

[[noreturn]] void RunOut(std::string_view what) {
  for (const std::string_view part :
       {std::string_view("sotto: out of memory: "), what,
        std::string_view(" (fewer --jobs need less; see ulimit -v where it is set)\n")}) {
    const ssize_t ignored = ::write(STDERR_FILENO, part.data(), part.size());
    static_cast<void>(ignored);
  }
  ::_exit(1);
}

}  // namespace

// malloc() and thread stacks do not pass here; of the libraries in use, OpenBLAS alone maps so much
// memory that is no file.
extern "C" void* mmap(void* address, std::size_t length, int protection, int flags, int file,
                      off_t offset) noexcept {
  constexpr std::size_t kBuffer = std::size_t{16} << 20;
  const long made = ::syscall(SYS_mmap, address, length, protection, flags, file, offset);
  if (made == -1 && errno == ENOMEM && (flags & MAP_ANONYMOUS) != 0 && length >= kBuffer) {
    RunOut("no 128 MiB left for matrix products");
  }
  return reinterpret_cast<void*>(made);  // NOLINT(performance-no-int-to-ptr): what the call returns
}

namespace {

constexpr char kOneThread[] = "OPENBLAS_NUM_THREADS=1";

void StartWithOneThread(int /*argc*/, char** argv, char** environment) {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  // The libraries are mapped by now; what they and main() take before anything can be caught must
  // be there too.
  constexpr std::size_t kRoom = std::size_t{32} << 20;
  const long probe = ::syscall(SYS_mmap, nullptr, kRoom, PROT_NONE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (probe == -1) RunOut("no room to start");
  ::syscall(SYS_munmap, probe, kRoom);
  std::size_t count = 0;
  for (; environment[count] != nullptr; ++count) {
    if (std::strncmp(environment[count], kOneThread, sizeof kOneThread - 2) == 0) return;
  }
  // Nothing is set up yet, malloc() included: the list lies on the stack.
  auto** extended = static_cast<char**>(__builtin_alloca((count + 2) * sizeof(char*)));
  std::memcpy(extended, environment, count * sizeof(char*));
  extended[count] = const_cast<char*>(kOneThread);
  extended[count + 1] = nullptr;
  ::execve("/proc/self/exe", argv, extended);  // on failure things are as they were
}

// Called before the libraries the program needs are set up.
__attribute__((section(".preinit_array"), used)) void (*const kStart)(int, char**,
                                                                      char**) = StartWithOneThread;

}  // namespace

#endif
