#include "base/input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/error.h"
#include "base/files.h"

namespace sotto {
namespace {

// What stands at a path that is no regular file, in words.
const char* KindName(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a named pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

[[noreturn]] void Refuse(const std::filesystem::path& path, mode_t mode) {
  throw Error(fmt::format("'{}' is {}, not a file", path.string(), KindName(mode)));
}

[[noreturn]] void CannotOpen(const std::filesystem::path& path) {
  throw Error(fmt::format("cannot open '{}': {}", path.string(), SystemReason()));
}

// Whoever made a pipe without a name holds its other end already.
bool IsPipeBetweenPrograms(const std::filesystem::path& path, mode_t mode) {
  struct statfs system {};
  return S_ISFIFO(mode) && ::statfs(path.c_str(), &system) == 0 && system.f_type == PIPEFS_MAGIC;
}

}  // namespace

InputFile::InputFile(std::filesystem::path path) : path_(std::move(path)) {
  // Looked at before it is opened: opening alone can wait (a named pipe) or act (some devices).
  struct stat info {};
  if (::stat(path_.c_str(), &info) != 0) CannotOpen(path_);
  pipe_ = IsPipeBetweenPrograms(path_, info.st_mode);
  if (!pipe_ && !S_ISREG(info.st_mode)) Refuse(path_, info.st_mode);
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | (pipe_ ? 0 : O_NONBLOCK));
  if (descriptor_ < 0) CannotOpen(path_);
  // Another file may have taken its place since.
  if (::fstat(descriptor_, &info) != 0 ||
      (pipe_ ? !S_ISFIFO(info.st_mode) : !S_ISREG(info.st_mode))) {
    ::close(descriptor_);
    Refuse(path_, info.st_mode);
  }
  if (!pipe_) size_ = static_cast<std::uint64_t>(info.st_size);
}

InputFile::~InputFile() { ::close(descriptor_); }

std::size_t InputFile::Read(char* to, std::size_t count) {
  while (true) {
    const ssize_t n = ::read(descriptor_, to, count);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw Error(fmt::format("cannot read '{}': {}", path_.string(), SystemReason()));
    read_ += static_cast<std::uint64_t>(n);
    if (n == 0 && count > 0 && read_ < size_) {
      throw Error(fmt::format("'{}' became shorter while it was read: {} of {} bytes are present",
                              path_.string(), read_, size_));
    }
    return static_cast<std::size_t>(n);
  }
}

std::size_t InputFile::ReadAt(std::uint64_t at, char* to, std::size_t count) const {
  std::size_t done = 0;
  while (done < count) {
    const ssize_t n = ::pread(descriptor_, to + done, count - done, static_cast<off_t>(at + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw Error(fmt::format("cannot read '{}': {}", path_.string(), SystemReason()));
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

void RequireRegularFile(const std::filesystem::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) CannotOpen(path);
  if (!S_ISREG(info.st_mode)) Refuse(path, info.st_mode);
}

}  // namespace sotto
