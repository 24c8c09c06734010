// What the preloaded shim and the tests agree on: the calls it tells of, and how they are stored.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sotto::testing {

enum class FileCall : std::uint8_t {
  kLook,          // nothing changes: stat, open to read, flock …
  kOpen,          // path; may create or cut it (flags); handle: what later calls name it by
  kOpenNameless,  // O_TMPFILE in the folder path
  kWrite,         // handle, offset, data
  kTruncate,      // handle, or path where that is 0; offset: the new length
  kRename,        // path to path2; flags of renameat2
  kLink,          // path, or handle where path is empty, to path2
  kUnlink,        // path
  kMakeFolder,    // path
  kRemoveFolder,  // path
  kMode,          // path or handle: chmod
  kSync,          // handle: fsync, fdatasync of a file or folder
};

// The calls of one run in their order; only those that succeeded, below the watched folder.
struct FileOperation {
  FileCall call = FileCall::kLook;
  std::uint32_t handle = 0;
  std::int64_t offset = 0;
  std::int32_t flags = 0;
  std::string path = {}, path2 = {};  // absolute
  std::string data = {};
};

// The settings of the shim, from the environment.
inline constexpr const char* kShimRoot = "SOTTO_SHIM_ROOT";  // the watched folder, without links
inline constexpr const char* kShimLog = "SOTTO_SHIM_LOG";    // every call is appended to this file
// Ends the process by SIGKILL in place of the call of this number, counted from 1 over the calls
// that change something. A write is done by half.
inline constexpr const char* kShimKill = "SOTTO_SHIM_KILL";
// From the change of this number on the disk is full: a write is done by half and fails with
// ENOSPC, a sync fails with EIO.
inline constexpr const char* kShimFull = "SOTTO_SHIM_FULL";
// Before the call of this number, counted from 1 over all calls: makes the file PAUSED, waits until
// the file GO exists.
inline constexpr const char* kShimPause = "SOTTO_SHIM_PAUSE";
// The same before the first removal of this path: threads make the numbers of late calls vary.
inline constexpr const char* kShimPauseRemoval = "SOTTO_SHIM_PAUSE_REMOVAL";
inline constexpr const char* kShimPaused = "SOTTO_SHIM_PAUSED";
inline constexpr const char* kShimGo = "SOTTO_SHIM_GO";

}  // namespace sotto::testing
