#include "privasp/material_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void Cannot(const char* what, const fs::path& path) {
  throw Error(fmt::format("cannot {} '{}': {}", what, path.string(), SystemReason()));
}

bool Exists(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

std::vector<fs::path> Names(const fs::path& folder) {
  std::vector<fs::path> names;
  std::error_code code;
  for (fs::directory_iterator entry(folder, code); !code && entry != fs::directory_iterator();
       entry.increment(code)) {
    names.push_back(entry->path().filename());
  }
  if (code) throw Error(fmt::format("cannot read '{}': {}", folder.string(), code.message()));
  return names;
}

// Before the folder is closed to others and a lock is left in it.
void RequireStoreOrEmpty(const fs::path& folder) {
  if (Exists(folder / "model")) return;
  for (const fs::path& name : Names(folder)) {
    // What a store has before its model; it may get that at this moment.
    if (name == "lock" || name.string().starts_with(".sotto-") || Exists(folder / "model")) {
      continue;
    }
    throw Error(fmt::format("'{}' holds other files ('{}'): name a folder for this alone",
                            folder.string(), name.string()));
  }
}

fs::path ParentOf(const fs::path& path) {
  return fs::absolute(path).lexically_normal().parent_path();
}

void Remove(const fs::path& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) Cannot("remove", path);
}

}  // namespace

MaterialStore::MaterialStore(fs::path folder, const ModelId& model, std::size_t capacity)
    : folder_(folder.has_filename() ? std::move(folder) : folder.parent_path()),
      model_(model),
      capacity_(capacity) {
  try {
    Lock();
    CheckModel();
    SweepTemporaries(folder_);
    Load();
  } catch (...) {
    if (lock_ >= 0) ::close(lock_);
    throw;
  }
}

MaterialStore::~MaterialStore() { ::close(lock_); }

void MaterialStore::Lock() {
  const fs::path path = folder_ / "lock";
  MakeFolder(ParentOf(folder_));
  while (true) {
    const bool fresh = ::mkdir(folder_.c_str(), 0700) == 0;
    if (!fresh && errno != EEXIST) Cannot("create", folder_);
    struct stat info {
    }, own{};
    // ENOENT, here and below: a store that was destroyed has taken the folder away since.
    if (::stat(folder_.c_str(), &info) != 0) {
      if (errno == ENOENT && !fs::is_symlink(folder_)) continue;
      Cannot("read", folder_);
    }
    if (!S_ISDIR(info.st_mode) || info.st_uid != ::geteuid()) {
      throw Error(fmt::format("'{}' is not a folder of one's own", folder_.string()));
    }
    if (!fresh) RequireStoreOrEmpty(folder_);
    if ((info.st_mode & 077) != 0 && ::chmod(folder_.c_str(), 0700) != 0) {
      Cannot("close to others", folder_);
    }
    lock_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (lock_ < 0 && errno == ENOENT) continue;
    if (lock_ < 0) Cannot("create", path);
    if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) Cannot("lock", path);
      throw Error(
          fmt::format("'{}': another process has this store of material open", folder_.string()));
    }
    // The lock counts only while the file has its name.
    if (::fstat(lock_, &own) == 0 && ::lstat(path.c_str(), &info) == 0 &&
        own.st_ino == info.st_ino && own.st_dev == info.st_dev) {
      break;
    }
    ::close(std::exchange(lock_, -1));
  }
}

void MaterialStore::CheckModel() const {
  const fs::path path = folder_ / "model";
  const std::string own = HexText(model_) + "\n";
  if (!Exists(path)) {
    try {
      SyncFolder(ParentOf(folder_));
    } catch (const Error&) {
      // A folder that may be passed through and not read. With the name of this one all would be
      // lost, and what is lost is not used twice.
    }
    WritePrivateFile(path, own, IfExists::kReplace);
  }
  if (ReadTextFile(path, own.size()) != own) {
    throw Error(fmt::format("'{}' holds material of another model than {}", folder_.string(),
                            HexText(model_)));
  }
}

void MaterialStore::Load() {
  std::vector<SegmentId> ids;
  for (const fs::path& name : Names(folder_)) {
    if (const auto id = SegmentIdOf(name)) ids.push_back(*id);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  for (const SegmentId& id : ids) {
    if (auto segment = Files(id).Load()) {
      segments_.emplace(id, std::move(*segment));
    } else {
      Files(id).Destroy();
    }
  }
}

std::vector<SegmentState> MaterialStore::Segments() const {
  const std::lock_guard lock(mutex_);
  std::vector<SegmentState> states;
  for (const auto& [id, segment] : segments_) states.push_back({id, segment.pieces, segment.spent});
  return states;
}

std::size_t MaterialStore::Unspent() const {
  const std::lock_guard lock(mutex_);
  std::size_t unspent = 0;
  for (const auto& [id, segment] : segments_) unspent += segment.pieces - segment.spent;
  return unspent;
}

std::size_t MaterialStore::Room() const {
  const std::lock_guard lock(mutex_);
  return RoomLocked();
}

std::size_t MaterialStore::RoomLocked() const {
  std::size_t pieces = 0;
  for (const auto& [id, segment] : segments_) pieces += segment.pieces;
  return capacity_ - std::min(capacity_, pieces);
}

void MaterialStore::Add(const SegmentId& id, std::span<const SecretBytes> pieces) {
  const auto refuse = [&](const std::string& reason) {
    throw Error(
        fmt::format("'{}' does not take segment {}: {}", folder_.string(), HexText(id), reason));
  };
  if (pieces.empty() || pieces.size() > kMaxPieces) {
    refuse(fmt::format("it has {} pieces; 1 to {} allowed", pieces.size(), kMaxPieces));
  }
  for (const SecretBytes& piece : pieces) {
    if (!piece.empty() && piece.size() <= kMaxPieceBytes) continue;
    refuse(fmt::format("a piece has {} bytes; 1 to {} allowed", piece.size(), kMaxPieceBytes));
  }
  const std::lock_guard adding(adding_);
  SegmentContent segment{static_cast<std::uint32_t>(pieces.size()), 0, {}};
  for (const SecretBytes& piece : pieces) segment.lengths.push_back(piece.size());
  {
    const std::lock_guard lock(mutex_);
    if (segments_.contains(id)) refuse("one of this id is here");
    if (pieces.size() > RoomLocked()) {
      refuse(fmt::format("it has {} pieces and there is room for {}", pieces.size(), RoomLocked()));
    }
  }
  try {
    Files(id).Write(pieces);
    const std::lock_guard lock(mutex_);
    segments_.emplace(id, std::move(segment));
  } catch (...) {
    try {
      Files(id).Destroy();
    } catch (const Error&) {
      // The first reason is the one to tell. What is left of a segment is removed on opening.
    }
    throw;
  }
}

std::vector<SecretBytes> MaterialStore::Claim(const SegmentId& id, std::uint32_t first,
                                              std::uint32_t count) {
  const ClaimedPieces claimed = Spend(id, first, count);
  try {
    std::vector<SecretBytes> pieces = Files(id).Read(claimed);
    RemoveIfSpent(id);
    return pieces;
  } catch (...) {
    RemoveIfSpent(id);
    throw;
  }
}

// In memory, which makes the pieces this claim's; the disk and the slow part come without the lock.
ClaimedPieces MaterialStore::Spend(const SegmentId& id, std::uint32_t first, std::uint32_t count) {
  const auto refuse = [&](const std::string& reason) {
    throw Error(fmt::format("'{}': segment {}: {}", folder_.string(), HexText(id), reason));
  };
  const std::lock_guard lock(mutex_);
  const auto found = segments_.find(id);
  if (found == segments_.end()) refuse("there is none of this id");
  SegmentContent& segment = found->second;
  if (count == 0 || count > segment.pieces || first > segment.pieces - count) {
    refuse(fmt::format("{} pieces from piece {} on are asked for, of {}", count, first,
                       segment.pieces));
  }
  if (first < segment.spent) {
    refuse(fmt::format("piece {} is asked for, and the first {} are spent", first, segment.spent));
  }
  ClaimedPieces claimed = Files(id).Open(segment, first, count);
  if (!claimed.key_file || !claimed.material) refuse("its files are gone");
  segment.spent = claimed.end;
  return claimed;
}

// Its keys are zeros: the names need not go durably, and what stays of them is removed on opening.
void MaterialStore::RemoveIfSpent(const SegmentId& id) {
  const std::lock_guard lock(mutex_);
  const auto found = segments_.find(id);
  if (found == segments_.end() || found->second.spent < found->second.pieces) return;
  if (Files(id).Remove()) segments_.erase(found);
}

void MaterialStore::Drop(const SegmentId& id) {
  const std::lock_guard lock(mutex_);
  const auto found = segments_.find(id);
  if (found != segments_.end()) DropLocked(found);
}

void MaterialStore::DropLocked(std::map<SegmentId, SegmentContent>::iterator segment) {
  segment->second.spent = segment->second.pieces;  // also where the disk fails
  Files(segment->first).Destroy();
  segments_.erase(segment);
}

void MaterialStore::Destroy() {
  const std::lock_guard adding(adding_);
  const std::lock_guard lock(mutex_);
  while (!segments_.empty()) DropLocked(segments_.begin());
  SweepTemporaries(folder_);
  // A folder with segments and without the name of their model would not be opened again.
  SyncFolder(folder_);
  Remove(folder_ / "model");
  Remove(folder_ / "lock");
  if (::rmdir(folder_.c_str()) != 0) Cannot("remove", folder_);
}

}  // namespace sotto
