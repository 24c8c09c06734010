// Files that are written: under a temporary name first, durable before they get their own.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/files.h"

namespace sotto {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kPrefix = ".sotto-";
constexpr std::string_view kSuffix = ".part";

[[noreturn]] void CannotWrite(const fs::path& path) {
  throw Error(fmt::format("cannot write '{}': {}", path.string(), SystemReason()));
}

[[noreturn]] void Exists(const fs::path& path) {
  throw Error(
      fmt::format("'{}' exists already and is not replaced without --force", path.string()));
}

// The system's own source and not libsodium's: the training programs have no other use for that.
std::string RandomName() {
  std::uint64_t bits = 0;
  if (::getrandom(&bits, sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) {
    throw Error(fmt::format("no randomness from the system: {}", SystemReason()));
  }
  return fmt::format("{}{:016x}{}", kPrefix, bits, kSuffix);
}

// The first time that this program writes into a folder.
void SweepOnce(const fs::path& folder) {
  static std::mutex mutex;
  static std::set<fs::path> swept;
  std::error_code code;
  const fs::path name = fs::weakly_canonical(folder, code);
  {
    const std::lock_guard lock(mutex);
    if (code || !swept.insert(name).second) return;
  }
  SweepTemporaries(folder);
}

// A file of a random name that nobody else has open, locked so that no sweep takes it for a left
// one.
int CreateLocked(const fs::path& folder, fs::path& path, const fs::path& wanted) {
  SweepOnce(folder);
  while (true) {
    path = folder / RandomName();
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EEXIST) continue;
    if (fd < 0) CannotWrite(wanted);
    struct stat info {};
    // Where locks are not to be had there is no sweep either. One that came between the two calls
    // has taken the name away: another one, then.
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0 || (::fstat(fd, &info) == 0 && info.st_nlink > 0)) {
      return fd;
    }
    ::close(fd);
  }
}

fs::path FolderOf(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// What open() would have given a new file. umask() sets what it tells, for all threads, so that a
// folder made meanwhile would get another mode: Linux tells it in /proc too.
mode_t ReadMask() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("Umask:")) {
      return static_cast<mode_t>(std::strtoul(line.c_str() + 6, nullptr, 8));
    }
  }
  const mode_t mask = ::umask(077);
  ::umask(mask);
  return mask;
}

mode_t UsualMode() {
  static const mode_t kMask = ReadMask();
  return 0666 & ~kMask;
}

// Renames and never replaces; false where a file has the name.
bool RenameToNew(const fs::path& from, const fs::path& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno == EEXIST) return false;
  if (errno != EINVAL && errno != ENOSYS) CannotWrite(to);
  // A file system without that flag: a second name never replaces either.
  if (::link(from.c_str(), to.c_str()) != 0) {
    if (errno == EEXIST) return false;
    CannotWrite(to);
  }
  ::unlink(from.c_str());
  return true;
}

}  // namespace

void WriteAll(int descriptor, std::string_view content, const fs::path& path) {
  while (!content.empty()) {
    const ssize_t n = ::write(descriptor, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) CannotWrite(path);
    content.remove_prefix(static_cast<std::size_t>(n));
  }
}

void RefuseExisting(const fs::path& path, IfExists if_exists) {
  if (!path.empty()) SweepOnce(FolderOf(path));
  struct stat info {};
  const bool is_there = ::lstat(path.c_str(), &info) == 0;
  if (is_there && if_exists == IfExists::kRefuse) Exists(path);
}

PendingFile::PendingFile(fs::path final_path, WriteOptions options)
    : final_(std::move(final_path)), options_(std::move(options)) {
  struct stat info {};
  // A rename would put a file in the place of a device.
  if (::stat(final_.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    throw Error(fmt::format("cannot write '{}': it exists and is not a file", final_.string()));
  }
  RefuseExisting(final_, options_.if_exists);
  fd_ = CreateLocked(options_.work.empty() ? FolderOf(final_) : options_.work, temporary_, final_);
}

PendingFile::~PendingFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  ::close(fd_);
}

void PendingFile::Sync() {
  if (!options_.is_private && ::fchmod(fd_, UsualMode()) != 0) CannotWrite(final_);
  if (::fsync(fd_) != 0) CannotWrite(final_);
}

void PendingFile::Name() {
  if (options_.if_exists == IfExists::kRefuse) {
    if (!RenameToNew(temporary_, final_)) Exists(final_);
  } else if (::rename(temporary_.c_str(), final_.c_str()) != 0) {
    CannotWrite(final_);
  }
  temporary_.clear();
}

void PendingFile::Commit() {
  Sync();
  Name();
  SyncFolder(FolderOf(final_));
}

void WriteFileAtomically(const fs::path& path, std::string_view content,
                         const WriteOptions& options) {
  PendingFile pending(path, options);
  WriteAll(pending.Descriptor(), content, path);
  pending.Commit();
}

void WritePrivateFile(const fs::path& path, std::string_view content, IfExists if_exists) {
  WriteFileAtomically(path, content, {if_exists, {}, /*is_private=*/true});
}

void SweepTemporaries(const fs::path& folder) {
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(folder, code)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) continue;
    const int fd = ::open(entry.path().c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) continue;
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) ::unlink(entry.path().c_str());
    ::close(fd);
  }
}

void SyncFolder(const fs::path& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) CannotWrite(folder);
  // Some file systems keep their names in another way and say EINVAL.
  const bool synced = ::fsync(fd) == 0 || errno == EINVAL;
  const int reason = errno;
  ::close(fd);
  errno = reason;
  if (!synced) CannotWrite(folder);
}

UnnamedFile::UnnamedFile(const fs::path& folder) {
  fs::path path;
  fd_ = CreateLocked(folder, path, folder / "a temporary file");
  ::unlink(path.c_str());
}

UnnamedFile::~UnnamedFile() { ::close(fd_); }

fs::path UnnamedFile::Path() const { return fmt::format("/proc/self/fd/{}", fd_); }

}  // namespace sotto
