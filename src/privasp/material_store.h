// A server's one-time material for one model, on disk ahead of need (docs/mpc.md, what "spent"
// means).
//
// It comes from the dealer in segments of some pieces, one for each utterance, and both servers get
// the halves of a segment in the same order. A segment is two files: <id>.material, in which each
// piece is encrypted and authenticated under a key of its own (AES-128-GCM, NIST SP 800-38D), and
// <id>.keys, those keys. To claim a piece is to read its key and to overwrite it, synced to the
// disk, before the piece is handed out: a piece can be read once, whatever happens to the process
// or the power, and what was read is gone from the disk. (A flash drive may keep the overwritten
// key in a spare cell for a while: whoever takes the drive apart may find it there.)
//
// Pieces are claimed from the front of a segment, so "spent" is one number a segment. What one
// store alone cannot know is that it was copied back from before: the other server does, who
// refuses what it has spent (server_service.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "mpc/messages.h"
#include "mpc/secret.h"

namespace sotto {

using SegmentId = std::array<std::uint8_t, 16>;  // random, by the dealer

struct SegmentState {
  SegmentId id{};
  std::uint32_t pieces = 0;
  std::uint32_t spent = 0;  // of them, from the front
  bool operator==(const SegmentState&) const = default;
};

// Safe to use from several threads. One process has a store (lock).
class MaterialStore {
 public:
  static constexpr std::uint32_t kMaxPieces = 256;
  static constexpr std::uint64_t kMaxPieceBytes = std::uint64_t{256} << 20;

  // Opens or makes the folder (mode 0700). What a crash left half-made is removed, and so is what
  // cannot be used: segments without an unspent piece, those whose headers are damaged. Throws
  // Error: another process has it, it is of another model, it holds other files.
  // `capacity`: pieces, of all segments together.
  MaterialStore(std::filesystem::path folder, const ModelId& model, std::size_t capacity);
  MaterialStore(const MaterialStore&) = delete;
  MaterialStore& operator=(const MaterialStore&) = delete;
  ~MaterialStore();

  std::vector<SegmentState> Segments() const;  // sorted by id
  std::size_t Unspent() const;
  // Pieces that may still come: a segment's spent pieces take room until its last one is spent.
  std::size_t Room() const;

  // Durable when it returns. Throws Error and leaves nothing: an id that is here, no room, pieces
  // of none or too many bytes, a full disk.
  void Add(const SegmentId& id, std::span<const SecretBytes> pieces);

  // Spends the pieces [first, first + count) of the segment and those before them that are not
  // spent yet, durably and with one sync, then returns the pieces. Throws Error and returns
  // nothing: an unknown segment, pieces that are spent already, too few; damaged pieces (they are
  // spent then).
  std::vector<SecretBytes> Claim(const SegmentId& id, std::uint32_t first, std::uint32_t count);

  // Destroys the segment's keys, then its files. Nothing happens where there is none of this id.
  void Drop(const SegmentId& id);
  // All of them, and the folder; nothing can be added afterwards.
  void Destroy();

 private:
  struct Segment;
  struct Claimed;

  void Lock();
  void CheckModel() const;
  void Load();
  std::optional<Segment> LoadSegment(const SegmentId& id) const;
  void WriteMaterial(const SegmentId& id, std::span<const SecretBytes> pieces,
                     std::span<const std::uint8_t> keys) const;
  void WriteKeys(const SegmentId& id, std::span<const std::uint8_t> keys) const;
  Claimed Spend(const SegmentId& id, std::uint32_t first, std::uint32_t count);
  std::vector<SecretBytes> Read(const SegmentId& id, const Claimed& claimed) const;
  void RemoveIfSpent(const SegmentId& id);
  void DropLocked(std::map<SegmentId, Segment>::iterator segment);
  void DestroyFiles(const SegmentId& id) const;
  std::filesystem::path PathOf(const SegmentId& id, std::string_view extension) const;
  std::size_t RoomLocked() const;

  std::filesystem::path folder_;
  ModelId model_;
  std::size_t capacity_;
  int lock_ = -1;
  // Held as long as a segment is written, which takes a while: claims go on meanwhile.
  std::mutex adding_;
  mutable std::mutex mutex_;  // of segments_; taken after adding_
  std::map<SegmentId, Segment> segments_;
};

// What the two files of a segment begin with, little-endian: four letters, version, pieces, zero,
// model, id. In <id>.material the length of each piece follows as 8 bytes, then each piece's
// ciphertext and tag; in <id>.keys the keys.
struct SegmentHeader {
  enum class File : std::uint8_t { kMaterial, kKeys };
  // A multiple of a key's 16 bytes, so that no key lies across two sectors of a disk.
  static constexpr std::size_t kFixedBytes = 48;
  // No header is longer.
  static constexpr std::size_t kMostBytes = kFixedBytes + 8 * MaterialStore::kMaxPieces;
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

}  // namespace sotto
