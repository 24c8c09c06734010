// The two files of a segment of one-time material (material_store.h), on disk: <id>.material, in
// which each piece is encrypted and authenticated under a key of its own (AES-128-GCM, NIST SP
// 800-38D), and <id>.keys, those keys. What is here reads, writes and destroys them; who may do
// what when is the store's business.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "mpc/messages.h"
#include "mpc/secret.h"

namespace sotto {

using SegmentId = std::array<std::uint8_t, 16>;  // random, by the dealer

// What the two files of a segment begin with, little-endian: four letters, version, pieces, zero,
// model, id. In <id>.material the length of each piece follows as 8 bytes, then each piece's
// ciphertext and tag; in <id>.keys the keys.
struct SegmentHeader {
  enum class File : std::uint8_t { kMaterial, kKeys };
  // A multiple of a key's 16 bytes, so that no key lies across two sectors of a disk.
  static constexpr std::size_t kFixedBytes = 48;
  static constexpr std::uint32_t kMaxPieces = 256;
  static constexpr std::uint64_t kMaxPieceBytes = std::uint64_t{256} << 20;
  // No header is longer.
  static constexpr std::size_t kMostBytes = kFixedBytes + 8 * kMaxPieces;
  static constexpr std::size_t kKeyBytes = 16, kTagBytes = 16;

  ModelId model{};
  SegmentId id{};
  std::uint32_t pieces = 0;
  std::vector<std::uint64_t> lengths;  // of the pieces; empty for kKeys

  // `start`: the first bytes of a file of `file_bytes`, kMostBytes or all there are. Absent when it
  // is no such file or not of the length it says.
  static std::optional<SegmentHeader> Parse(File file, std::span<const std::uint8_t> start,
                                            std::uint64_t file_bytes);
  std::vector<std::uint8_t> Serialise(File file) const;
  std::uint64_t FileBytes(File file) const;
  bool operator==(const SegmentHeader&) const = default;
};

// An open file of the system, or none.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor();
  explicit operator bool() const { return fd_ >= 0; }
  int Get() const { return fd_; }

 private:
  int fd_ = -1;
};

// What is known of a segment without its pieces.
struct SegmentContent {
  std::uint32_t pieces = 0, spent = 0;
  std::vector<std::uint64_t> lengths;  // of the pieces
};

// What a claim takes with it: keys that nobody else will read, and the files, which stay open
// whoever removes them.
struct ClaimedPieces {
  std::uint32_t burnt = 0, first = 0, end = 0;  // [burnt, end) are spent, [first, end) asked for
  SecretBytes keys;
  std::vector<std::uint64_t> lengths;  // of all pieces of the segment
  FileDescriptor key_file, material;
};

class SegmentFiles {
 public:
  SegmentFiles(const std::filesystem::path& folder, const ModelId& model, const SegmentId& id);

  // Under fresh keys. Durable when it returns; where it throws there may be parts.
  void Write(std::span<const SecretBytes> pieces) const;
  // Absent unless both files are whole and a piece is unspent.
  std::optional<SegmentContent> Load() const;
  // The keys of [first, first + count), which are not spent yet. Without descriptors where a file
  // is gone.
  ClaimedPieces Open(const SegmentContent& segment, std::uint32_t first, std::uint32_t count) const;
  // Destroys the keys of what is claimed, durably, then reads the pieces. Error for damaged ones.
  std::vector<SecretBytes> Read(const ClaimedPieces& claimed) const;
  // The names alone. False where the system does not remove them.
  bool Remove() const;
  // The keys, then the names.
  void Destroy() const;

 private:
  void WriteMaterial(std::span<const SecretBytes> pieces, std::span<const std::uint8_t> keys) const;
  void WriteKeys(std::span<const std::uint8_t> keys) const;

  ModelId model_;
  SegmentId id_;
  std::filesystem::path material_, keys_;
};

// The id of the segment that a file of this name is of.
std::optional<SegmentId> SegmentIdOf(const std::filesystem::path& name);

// A file of secrets: overwritten with zeros, synced, and removed; gone durably. Nothing happens
// where there is none. (A flash drive may keep the old blocks for a while.)
void EraseFile(const std::filesystem::path& path);

}  // namespace sotto
