// Preloaded into the program under test (LD_PRELOAD): sees its file calls below one folder, tells
// of them, and kills or delays the program at a chosen one, or fills its disk (file_log.h). It
// stands in front of the functions of libc, so a call that libc makes by itself (inside fopen, say)
// is not seen: the tests rebuild the whole tree from what was told and compare
// (Disk.TheShimSeesEveryChange).
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>

#include "file_log.h"

namespace {

using sotto::testing::FileCall;
using sotto::testing::FileOperation;

std::string Setting(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// The function of this name that would have been called without the shim.
#define SOTTO_NEXT(name) \
  static const auto next = reinterpret_cast<decltype(&(name))>(::dlsym(RTLD_NEXT, #name))

class Shim {
 public:
  // Never destroyed: the program closes files until its very end.
  static Shim& Get() {
    static Shim& shim = *new Shim;
    return shim;
  }

  bool Watches(const std::string& path) const {
    return !root_.empty() && path.compare(0, root_.size(), root_) == 0 &&
           (path.size() == root_.size() || path[root_.size()] == '/');
  }

  // `path` as the system would find it, absolute.
  static std::string Absolute(int folder, const char* path) {
    if (path == nullptr) return {};
    std::string whole = path;
    if (path[0] != '/') {
      char base[4096];
      const std::string link = folder == AT_FDCWD ? std::string("/proc/self/cwd")
                                                  : "/proc/self/fd/" + std::to_string(folder);
      const ssize_t n = ::readlink(link.c_str(), base, sizeof base);
      if (n <= 0) return {};
      whole = std::string(base, static_cast<std::size_t>(n)) + "/" + whole;
    }
    whole = std::filesystem::path(whole).lexically_normal().string();
    while (whole.size() > 1 && whole.back() == '/') whole.pop_back();
    return whole;
  }

  // Counts a call; here the process may end or wait. `half` is called before a death, and before
  // the failure of a write. False: the call is to fail, with errno.
  template <class Half>
  bool Count(FileCall call, const Half& half) {
    bool pause = false, full = false;
    {
      const std::lock_guard lock(mutex_);
      pause = ++calls_ == pause_at_;
      if (call != FileCall::kLook && ++changes_ == kill_at_) {
        half();
        ::kill(::getpid(), SIGKILL);
        while (true) ::pause();
      }
      full = full_from_ > 0 && changes_ >= full_from_ &&
             (call == FileCall::kWrite || call == FileCall::kSync);
    }
    if (pause) Pause();
    if (!full) return true;
    half();
    errno = call == FileCall::kWrite ? ENOSPC : EIO;
    return false;
  }
  bool Count(FileCall call) {
    return Count(call, [] {});
  }

  // Here the process may wait.
  void BeforeRemoval(const std::string& path) {
    {
      const std::lock_guard lock(mutex_);
      if (path != pause_removal_) return;
      pause_removal_.clear();
    }
    Pause();
  }

  void Tell(const FileOperation& operation) {
    if (log_ < 0) return;
    std::string bytes;
    const auto number = [&](auto value) {
      bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    };
    number(operation.call);
    number(operation.handle);
    number(operation.offset);
    number(operation.flags);
    for (const std::string* text : {&operation.path, &operation.path2, &operation.data}) {
      number(static_cast<std::uint64_t>(text->size()));
      bytes += *text;
    }
    const std::lock_guard lock(mutex_);
    if (::syscall(SYS_write, log_, bytes.data(), bytes.size()) !=
        static_cast<ssize_t>(bytes.size())) {
      ::abort();
    }
  }

  // Held from a call to the telling of it, so that the log has the order of the calls.
  std::mutex& Order() { return order_; }

  std::uint32_t Remember(int fd) {
    const std::lock_guard lock(mutex_);
    return handles_[fd] = ++last_handle_;
  }
  void Forget(int fd) {
    const std::lock_guard lock(mutex_);
    handles_.erase(fd);
  }
  // 0: not a file that is watched.
  std::uint32_t Handle(int fd) {
    if (root_.empty()) return 0;
    const std::lock_guard lock(mutex_);
    const auto found = handles_.find(fd);
    return found == handles_.end() ? 0 : found->second;
  }

 private:
  Shim() {
    // Children of the program, such as the shell of a pipe, are left alone.
    if (std::string(program_invocation_short_name) != "sotto") return;
    root_ = Setting(sotto::testing::kShimRoot);
    kill_at_ = std::atoll(Setting(sotto::testing::kShimKill).c_str());
    full_from_ = std::atoll(Setting(sotto::testing::kShimFull).c_str());
    pause_at_ = std::atoll(Setting(sotto::testing::kShimPause).c_str());
    pause_removal_ = Setting(sotto::testing::kShimPauseRemoval);
    paused_ = Setting(sotto::testing::kShimPaused);
    go_ = Setting(sotto::testing::kShimGo);
    if (const std::string log = Setting(sotto::testing::kShimLog); !log.empty()) {
      log_ = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, log.c_str(),
                                        O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    }
  }

  void Pause() const {
    const long fd =
        ::syscall(SYS_openat, AT_FDCWD, paused_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ::syscall(SYS_close, fd);
    // A test that forgets to say go must not hang for ever.
    for (int i = 0; i < 20000; ++i) {
      if (::syscall(SYS_faccessat, AT_FDCWD, go_.c_str(), F_OK) == 0) return;
      ::usleep(1000);
    }
  }

  std::string root_, pause_removal_, paused_, go_;
  long long kill_at_ = 0, full_from_ = 0, pause_at_ = 0, calls_ = 0, changes_ = 0;
  int log_ = -1;
  std::map<int, std::uint32_t> handles_;
  std::uint32_t last_handle_ = 0;
  std::mutex mutex_, order_;
};

// A call on one or two paths: counted before, told of when it went well.
template <class Call>
int OnPaths(FileCall kind, const std::string& path, const std::string& path2, int flags,
            const Call& call) {
  Shim& shim = Shim::Get();
  if (!shim.Watches(path) && !shim.Watches(path2)) return call();
  shim.Count(kind);
  if (kind == FileCall::kUnlink || kind == FileCall::kRemoveFolder) shim.BeforeRemoval(path);
  const std::lock_guard order(shim.Order());
  const int result = call();
  const int error = errno;
  if (result == 0 || kind == FileCall::kLook) {
    shim.Tell({.call = kind, .flags = flags, .path = path, .path2 = path2});
  }
  errno = error;
  return result;
}

template <class Call>
int OnPath(FileCall kind, int folder, const char* path, const Call& call) {
  return OnPaths(kind, Shim::Absolute(folder, path), {}, 0, call);
}

template <class Call>
int OnOpen(int folder, const char* path, int flags, const Call& call) {
  Shim& shim = Shim::Get();
  const std::string absolute = Shim::Absolute(folder, path);
  if (!shim.Watches(absolute)) {
    const int fd = call();
    shim.Forget(fd);  // it may have been a watched one before
    return fd;
  }
  const bool nameless = (flags & O_TMPFILE) == O_TMPFILE;
  const FileCall kind = nameless ? FileCall::kOpenNameless : FileCall::kOpen;
  shim.Count((flags & (O_CREAT | O_TRUNC)) != 0 || nameless ? kind : FileCall::kLook);
  const std::lock_guard order(shim.Order());
  const int fd = call();
  const int error = errno;
  if (fd >= 0) {
    shim.Tell({.call = kind, .handle = shim.Remember(fd), .flags = flags, .path = absolute});
  } else {
    shim.Tell({.call = FileCall::kLook, .path = absolute});
  }
  errno = error;
  return fd;
}

// `half` makes the first half of the write; `data`: what would be written.
template <class Call, class Half>
ssize_t OnWrite(int fd, std::int64_t offset, const std::string& data, const Half& half,
                const Call& call) {
  Shim& shim = Shim::Get();
  const std::uint32_t handle = shim.Handle(fd);
  if (handle == 0) return call();
  if (offset < 0) {
    struct stat info {};
    const bool append = (::fcntl(fd, F_GETFL) & O_APPEND) != 0 && ::fstat(fd, &info) == 0;
    offset = append ? info.st_size : ::lseek(fd, 0, SEEK_CUR);
  }
  if (!shim.Count(FileCall::kWrite, half)) return -1;
  const std::lock_guard order(shim.Order());
  const ssize_t n = call();
  const int error = errno;
  if (n > 0) {
    shim.Tell({.call = FileCall::kWrite,
               .handle = handle,
               .offset = offset,
               .data = data.substr(0, static_cast<std::size_t>(n))});
  }
  errno = error;
  return n;
}

template <class Call>
int OnHandle(FileCall kind, int fd, std::int64_t offset, const Call& call) {
  Shim& shim = Shim::Get();
  const std::uint32_t handle = shim.Handle(fd);
  if (handle == 0) return call();
  if (!shim.Count(kind)) return -1;
  const std::lock_guard order(shim.Order());
  const int result = call();
  const int error = errno;
  if (result == 0) shim.Tell({.call = kind, .handle = handle, .offset = offset});
  errno = error;
  return result;
}

std::string Bytes(const void* data, std::size_t size) {
  return {static_cast<const char*>(data), size};
}

}  // namespace

#define SOTTO_MODE_ARGUMENT                                    \
  mode_t mode = 0;                                             \
  if ((flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))) != 0) { \
    va_list list;                                              \
    va_start(list, flags);                                     \
    mode = va_arg(list, mode_t);                               \
    va_end(list);                                              \
  }

extern "C" {

int open(const char* path, int flags, ...) {
  SOTTO_NEXT(open);
  SOTTO_MODE_ARGUMENT;
  return OnOpen(AT_FDCWD, path, flags, [&] { return next(path, flags, mode); });
}
int open64(const char* path, int flags, ...) {
  SOTTO_NEXT(open64);
  SOTTO_MODE_ARGUMENT;
  return OnOpen(AT_FDCWD, path, flags, [&] { return next(path, flags, mode); });
}
int openat(int folder, const char* path, int flags, ...) {
  SOTTO_NEXT(openat);
  SOTTO_MODE_ARGUMENT;
  return OnOpen(folder, path, flags, [&] { return next(folder, path, flags, mode); });
}
int openat64(int folder, const char* path, int flags, ...) {
  SOTTO_NEXT(openat64);
  SOTTO_MODE_ARGUMENT;
  return OnOpen(folder, path, flags, [&] { return next(folder, path, flags, mode); });
}
// What open and openat are called by where flags are not known to the compiler (_FORTIFY_SOURCE).
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): glibc's names
int __open_2(const char* path, int flags) { return open(path, flags); }
int __open64_2(const char* path, int flags) { return open64(path, flags); }
int __openat_2(int folder, const char* path, int flags) { return openat(folder, path, flags); }
int __openat64_2(int folder, const char* path, int flags) { return openat64(folder, path, flags); }
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

int creat(const char* path, mode_t mode) { return open(path, O_WRONLY | O_CREAT | O_TRUNC, mode); }
int creat64(const char* path, mode_t mode) { return creat(path, mode); }

int close(int fd) {
  SOTTO_NEXT(close);
  Shim::Get().Forget(fd);
  return next(fd);
}

ssize_t write(int fd, const void* data, size_t size) {
  SOTTO_NEXT(write);
  if (Shim::Get().Handle(fd) == 0) return next(fd, data, size);
  return OnWrite(
      fd, -1, Bytes(data, size), [&] { (void)!next(fd, data, size / 2); },
      [&] { return next(fd, data, size); });
}
ssize_t pwrite(int fd, const void* data, size_t size, off_t offset) {
  SOTTO_NEXT(pwrite);
  if (Shim::Get().Handle(fd) == 0) return next(fd, data, size, offset);
  return OnWrite(
      fd, offset, Bytes(data, size), [&] { (void)!next(fd, data, size / 2, offset); },
      [&] { return next(fd, data, size, offset); });
}
ssize_t pwrite64(int fd, const void* data, size_t size, off64_t offset) {
  return pwrite(fd, data, size, offset);
}
ssize_t writev(int fd, const struct iovec* parts, int count) {
  SOTTO_NEXT(writev);
  if (Shim::Get().Handle(fd) == 0) return next(fd, parts, count);
  std::string data;
  for (int i = 0; i < count; ++i) data += Bytes(parts[i].iov_base, parts[i].iov_len);
  return OnWrite(
      fd, -1, data, [&] { (void)!next(fd, parts, count / 2); },
      [&] { return next(fd, parts, count); });
}

int ftruncate(int fd, off_t length) noexcept {
  SOTTO_NEXT(ftruncate);
  return OnHandle(FileCall::kTruncate, fd, length, [&] { return next(fd, length); });
}
int truncate(const char* path, off_t length) noexcept {
  SOTTO_NEXT(truncate);
  Shim& shim = Shim::Get();
  const std::string absolute = Shim::Absolute(AT_FDCWD, path);
  if (!shim.Watches(absolute)) return next(path, length);
  shim.Count(FileCall::kTruncate);
  const std::lock_guard order(shim.Order());
  const int result = next(path, length);
  const int error = errno;
  if (result == 0) {
    shim.Tell({.call = FileCall::kTruncate, .offset = length, .path = absolute});
  }
  errno = error;
  return result;
}
int truncate64(const char* path, off64_t length) noexcept { return truncate(path, length); }
int ftruncate64(int fd, off64_t length) noexcept { return ftruncate(fd, length); }
int fsync(int fd) {
  SOTTO_NEXT(fsync);
  return OnHandle(FileCall::kSync, fd, 0, [&] { return next(fd); });
}
int fdatasync(int fd) {
  SOTTO_NEXT(fdatasync);
  return OnHandle(FileCall::kSync, fd, 0, [&] { return next(fd); });
}
int fchmod(int fd, mode_t mode) noexcept {
  SOTTO_NEXT(fchmod);
  return OnHandle(FileCall::kMode, fd, mode, [&] { return next(fd, mode); });
}
int flock(int fd, int operation) noexcept {
  SOTTO_NEXT(flock);
  return OnHandle(FileCall::kLook, fd, 0, [&] { return next(fd, operation); });
}

int rename(const char* from, const char* to) noexcept {
  SOTTO_NEXT(rename);
  return OnPaths(FileCall::kRename, Shim::Absolute(AT_FDCWD, from), Shim::Absolute(AT_FDCWD, to), 0,
                 [&] { return next(from, to); });
}
int renameat(int folder, const char* from, int folder2, const char* to) noexcept {
  SOTTO_NEXT(renameat);
  return OnPaths(FileCall::kRename, Shim::Absolute(folder, from), Shim::Absolute(folder2, to), 0,
                 [&] { return next(folder, from, folder2, to); });
}
int renameat2(int folder, const char* from, int folder2, const char* to,
              unsigned int flags) noexcept {
  SOTTO_NEXT(renameat2);
  return OnPaths(FileCall::kRename, Shim::Absolute(folder, from), Shim::Absolute(folder2, to),
                 static_cast<int>(flags), [&] { return next(folder, from, folder2, to, flags); });
}
int link(const char* from, const char* to) noexcept {
  SOTTO_NEXT(link);
  return OnPaths(FileCall::kLink, Shim::Absolute(AT_FDCWD, from), Shim::Absolute(AT_FDCWD, to), 0,
                 [&] { return next(from, to); });
}
int linkat(int folder, const char* from, int folder2, const char* to, int flags) noexcept {
  SOTTO_NEXT(linkat);
  const std::string to_path = Shim::Absolute(folder2, to);
  // A nameless file gets its name.
  int fd = (flags & AT_EMPTY_PATH) != 0 && from[0] == '\0' ? folder : -1;
  const char* const kOwn = "/proc/self/fd/";
  if (std::strncmp(from, kOwn, std::strlen(kOwn)) == 0) fd = std::atoi(from + std::strlen(kOwn));
  const std::uint32_t handle = fd >= 0 ? Shim::Get().Handle(fd) : 0;
  const auto call = [&] { return next(folder, from, folder2, to, flags); };
  if (handle == 0) {
    return OnPaths(FileCall::kLink, Shim::Absolute(folder, from), to_path, 0, call);
  }
  Shim::Get().Count(FileCall::kLink);
  const std::lock_guard order(Shim::Get().Order());
  const int result = call();
  const int error = errno;
  if (result == 0) {
    Shim::Get().Tell({.call = FileCall::kLink, .handle = handle, .path2 = to_path});
  }
  errno = error;
  return result;
}
int unlink(const char* path) noexcept {
  SOTTO_NEXT(unlink);
  return OnPath(FileCall::kUnlink, AT_FDCWD, path, [&] { return next(path); });
}
int unlinkat(int folder, const char* path, int flags) noexcept {
  SOTTO_NEXT(unlinkat);
  return OnPath((flags & AT_REMOVEDIR) != 0 ? FileCall::kRemoveFolder : FileCall::kUnlink, folder,
                path, [&] { return next(folder, path, flags); });
}
int rmdir(const char* path) noexcept {
  SOTTO_NEXT(rmdir);
  return OnPath(FileCall::kRemoveFolder, AT_FDCWD, path, [&] { return next(path); });
}
int remove(const char* path) noexcept {
  struct stat info {};
  return ::fstatat(AT_FDCWD, path, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode)
             ? rmdir(path)
             : unlink(path);
}
int mkdir(const char* path, mode_t mode) noexcept {
  SOTTO_NEXT(mkdir);
  return OnPath(FileCall::kMakeFolder, AT_FDCWD, path, [&] { return next(path, mode); });
}
int mkdirat(int folder, const char* path, mode_t mode) noexcept {
  SOTTO_NEXT(mkdirat);
  return OnPath(FileCall::kMakeFolder, folder, path, [&] { return next(folder, path, mode); });
}
int chmod(const char* path, mode_t mode) noexcept {
  SOTTO_NEXT(chmod);
  return OnPath(FileCall::kMode, AT_FDCWD, path, [&] { return next(path, mode); });
}
int fchmodat(int folder, const char* path, mode_t mode, int flags) noexcept {
  SOTTO_NEXT(fchmodat);
  return OnPath(FileCall::kMode, folder, path, [&] { return next(folder, path, mode, flags); });
}

int stat(const char* path, struct stat* info) noexcept {
  SOTTO_NEXT(stat);
  return OnPath(FileCall::kLook, AT_FDCWD, path, [&] { return next(path, info); });
}
int stat64(const char* path, struct stat64* info) noexcept {
  SOTTO_NEXT(stat64);
  return OnPath(FileCall::kLook, AT_FDCWD, path, [&] { return next(path, info); });
}
int lstat(const char* path, struct stat* info) noexcept {
  SOTTO_NEXT(lstat);
  return OnPath(FileCall::kLook, AT_FDCWD, path, [&] { return next(path, info); });
}
int lstat64(const char* path, struct stat64* info) noexcept {
  SOTTO_NEXT(lstat64);
  return OnPath(FileCall::kLook, AT_FDCWD, path, [&] { return next(path, info); });
}
int access(const char* path, int mode) noexcept {
  SOTTO_NEXT(access);
  return OnPath(FileCall::kLook, AT_FDCWD, path, [&] { return next(path, mode); });
}
DIR* opendir(const char* path) {
  SOTTO_NEXT(opendir);
  DIR* folder = nullptr;
  OnPath(FileCall::kLook, AT_FDCWD, path, [&] {
    folder = next(path);
    return folder == nullptr ? -1 : 0;
  });
  return folder;
}

}  // extern "C"
