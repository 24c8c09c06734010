#include "base/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "base/error.h"

namespace sotto {
namespace fs = std::filesystem;

std::string SystemReason() { return std::generic_category().message(errno); }

std::string ReadTextFile(const fs::path& path, std::uint64_t limit) {
  InputFile file(path);
  if (file.IsPipe()) limit = std::min(limit, kLargestTable);
  const auto refuse = [&] {
    throw Error(fmt::format("'{}' is too large: more than {} bytes", path.string(), limit));
  };
  if (file.Size() > limit) refuse();
  std::string content;
  content.reserve(static_cast<std::size_t>(file.Size()) + 1);
  std::array<char, 1 << 16> buffer;
  while (const std::size_t n = file.Read(buffer.data(), buffer.size())) {
    if (content.size() + n > limit) refuse();
    content.append(buffer.data(), n);
  }
  return content;
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
    throw Error(fmt::format("'{}' is not a path inside '{}'", relative, root.string()));
  }
  return root / path;
}

std::string FileStamp(const fs::path& path) {
  std::error_code code;
  const auto size = fs::file_size(path, code);
  const auto time = fs::last_write_time(path, code).time_since_epoch().count();
  return fmt::format("{}\t{}\t{}", fs::absolute(path).string(), size, time);
}

bool SameFile(const fs::path& a, const fs::path& b) {
  if (a.empty() || b.empty()) return false;
  std::error_code code;
  if (fs::equivalent(a, b, code)) return true;
  return fs::weakly_canonical(fs::absolute(a), code) == fs::weakly_canonical(fs::absolute(b), code);
}

void RequireDistinct(std::initializer_list<fs::path> outputs, const fs::path& input) {
  for (auto one = outputs.begin(); one != outputs.end(); ++one) {
    if (SameFile(*one, input)) {
      throw Error(fmt::format("'{}' is input and output at once", one->string()));
    }
    for (auto other = outputs.begin(); other != one; ++other) {
      if (!SameFile(*one, *other)) continue;
      throw Error(fmt::format("'{}' is the name of two output files", one->string()));
    }
  }
}

void MakeFolder(const fs::path& path) {
  std::error_code code;
  fs::create_directories(path, code);
  if (code)
    throw Error(fmt::format("cannot create folder '{}': {}", path.string(), code.message()));
}

}  // namespace sotto
