#include "base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace sotto {
namespace fs = std::filesystem;
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int Get() const { return fd_; }
  // close() can be the first call to report a full disk.
  bool Close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

void WriteAll(Descriptor& file, std::string_view content, const fs::path& path) {
  while (!content.empty()) {
    const ssize_t n = ::write(file.Get(), content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw Error(fmt::format("cannot write '{}': {}", path.string(), SystemReason()));
    content.remove_prefix(static_cast<std::size_t>(n));
  }
  if (!file.Close())
    throw Error(fmt::format("cannot write '{}': {}", path.string(), SystemReason()));
}

}  // namespace

std::string SystemReason() { return std::generic_category().message(errno); }

std::string ReadTextFile(const fs::path& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.Get() < 0)
    throw Error(fmt::format("cannot open '{}': {}", path.string(), SystemReason()));
  std::string content;
  struct stat info {};
  if (::fstat(file.Get(), &info) == 0 && S_ISREG(info.st_mode)) {
    content.reserve(static_cast<std::size_t>(info.st_size) + 1);
  }
  std::array<char, 1 << 16> buffer;
  while (true) {
    const ssize_t n = ::read(file.Get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw Error(fmt::format("cannot read '{}': {}", path.string(), SystemReason()));
    if (n == 0) return content;
    content.append(buffer.data(), static_cast<std::size_t>(n));
  }
}

void WriteFileAtomically(const fs::path& path, std::string_view content) {
  PendingFile pending(path);
  const fs::path& temporary = pending.TemporaryPath();
  Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (file.Get() < 0)
    throw Error(fmt::format("cannot write '{}': {}", path.string(), SystemReason()));
  WriteAll(file, content, path);
  pending.Commit();
}

void WritePrivateFile(const fs::path& path, std::string_view content) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.Get() < 0)
    throw Error(fmt::format("cannot create '{}': {}", path.string(), SystemReason()));
  try {
    WriteAll(file, content, path);
  } catch (...) {
    ::unlink(path.c_str());
    throw;
  }
}

fs::path JoinInside(const fs::path& root, const std::string& relative) {
  const fs::path path(relative);
  bool outside = relative.empty() || path.is_absolute() || relative.find('\0') != std::string::npos;
  bool names_something = false;
  for (const fs::path& part : path) {
    outside = outside || part == "..";
    names_something = names_something || (part != "." && !part.empty());
  }
  if (outside || !names_something) {
    throw Error(fmt::format("'{}' is no path inside '{}'", relative, root.string()));
  }
  return root / path;
}

std::string FileStamp(const fs::path& path) {
  std::error_code code;
  const auto size = fs::file_size(path, code);
  const auto time = fs::last_write_time(path, code).time_since_epoch().count();
  return fmt::format("{}\t{}\t{}", fs::absolute(path).string(), size, time);
}

void MakeFolder(const fs::path& path) {
  std::error_code code;
  fs::create_directories(path, code);
  if (code)
    throw Error(fmt::format("cannot create folder '{}': {}", path.string(), code.message()));
}

PendingFile::PendingFile(fs::path final_path, const fs::path& work)
    : final_(std::move(final_path)) {
  static std::atomic<unsigned> counter{0};
  const fs::path folder = work.empty() ? final_.parent_path() : work;
  temporary_ = folder / fmt::format(".sotto-{}-{}.part", ::getpid(), counter++);
}

PendingFile::~PendingFile() {
  if (!committed_) ::unlink(temporary_.c_str());
}

void PendingFile::Commit() {
  if (::rename(temporary_.c_str(), final_.c_str()) != 0) {
    throw Error(fmt::format("cannot write '{}': {}", final_.string(), SystemReason()));
  }
  committed_ = true;
}

}  // namespace sotto
