#include "base/digest.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <vector>

#include "base/error.h"
#include "base/files.h"

namespace sotto {

std::string HexText(std::span<const std::uint8_t> bytes) {
  std::string text(2 * bytes.size() + 1, '\0');
  sodium_bin2hex(text.data(), text.size(), bytes.data(), bytes.size());
  text.pop_back();
  return text;
}

std::string ContentDigest(std::string_view bytes) {
  if (sodium_init() < 0) throw Error("libsodium does not start");
  std::array<unsigned char, 32> digest{};
  crypto_generichash(digest.data(), digest.size(),
                     reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), nullptr,
                     0);
  return HexText(digest);
}

std::string FileDigest(int descriptor, const std::filesystem::path& path) {
  if (sodium_init() < 0) throw Error("libsodium does not start");
  crypto_generichash_state state;
  std::array<unsigned char, 32> digest{};
  crypto_generichash_init(&state, nullptr, 0, digest.size());
  std::vector<unsigned char> block(1 << 18);
  ssize_t n = ::lseek(descriptor, 0, SEEK_SET) == 0 ? 1 : -1;
  while (n > 0) {
    n = ::read(descriptor, block.data(), block.size());
    if (n > 0) crypto_generichash_update(&state, block.data(), static_cast<std::size_t>(n));
    if (n < 0 && errno == EINTR) n = 1;
  }
  if (n < 0) throw Error(fmt::format("cannot read '{}': {}", path.string(), SystemReason()));
  crypto_generichash_final(&state, digest.data(), digest.size());
  return HexText(digest);
}

std::string FileDigest(const std::filesystem::path& path) {
  // A FIFO must not keep the program waiting for a writer.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) throw Error(fmt::format("cannot open '{}': {}", path.string(), SystemReason()));
  struct stat info {};
  std::string digest;
  try {
    if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
      throw Error(fmt::format("'{}' is not a regular file", path.string()));
    }
    digest = FileDigest(fd, path);
  } catch (...) {
    ::close(fd);
    throw;
  }
  ::close(fd);
  return digest;
}

std::string Sha256(std::string_view bytes) {
  if (sodium_init() < 0) throw Error("libsodium does not start");
  std::array<unsigned char, crypto_hash_sha256_BYTES> digest{};
  crypto_hash_sha256(digest.data(), reinterpret_cast<const unsigned char*>(bytes.data()),
                     bytes.size());
  return HexText(digest);
}

}  // namespace sotto
