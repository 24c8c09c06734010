// A server's one-time material for one model, on disk ahead of need (docs/mpc.md, what "spent"
// means).
//
// It comes from the dealer in segments of some pieces, one for each utterance, and both servers get
// the halves of a segment in the same order. A segment is two files (segment_files.h), encrypted
// pieces and their keys, one each. To claim a piece is to read its key and to overwrite it, synced
// to the disk, before the piece is handed out: a piece can be read once, whatever happens to the
// process or the power, and what was read is gone from the disk. (A flash drive may keep the
// overwritten key in a spare cell for a while: whoever takes the drive apart may find it there.)
//
// Pieces are claimed from the front of a segment, so "spent" is one number a segment. What one
// store alone cannot know is that it was copied back from before: the other server does, who
// refuses what it has spent (server_service.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "mpc/messages.h"
#include "mpc/secret.h"
#include "privasp/segment_files.h"

namespace sotto {

struct SegmentState {
  SegmentId id{};
  std::uint32_t pieces = 0;
  std::uint32_t spent = 0;  // of them, from the front
  bool operator==(const SegmentState&) const = default;
};

// Safe to use from several threads. One process has a store (lock).
class MaterialStore {
 public:
  static constexpr std::uint32_t kMaxPieces = SegmentHeader::kMaxPieces;
  static constexpr std::uint64_t kMaxPieceBytes = SegmentHeader::kMaxPieceBytes;

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
  void Lock();
  void CheckModel() const;
  void Load();
  ClaimedPieces Spend(const SegmentId& id, std::uint32_t first, std::uint32_t count);
  void RemoveIfSpent(const SegmentId& id);
  void DropLocked(std::map<SegmentId, SegmentContent>::iterator segment);
  SegmentFiles Files(const SegmentId& id) const { return {folder_, model_, id}; }
  std::size_t RoomLocked() const;

  std::filesystem::path folder_;
  ModelId model_;
  std::size_t capacity_;
  int lock_ = -1;
  // Held as long as a segment is written, which takes a while: claims go on meanwhile.
  std::mutex adding_;
  mutable std::mutex mutex_;  // of segments_; taken after adding_
  std::map<SegmentId, SegmentContent> segments_;
};

}  // namespace sotto
