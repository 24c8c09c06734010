// Files: whole-file reads, writes that are never half there, and paths that stay inside a folder.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace sotto {

// The whole file; throws Error that names the path and the reason.
std::string ReadTextFile(const std::filesystem::path& path);

// Writes to a temporary file beside `path`, then renames it: readers see the old or the new
// content, never a part. Throws Error and leaves `path` as it was when anything fails (a full disk
// too).
void WriteFileAtomically(const std::filesystem::path& path, std::string_view content);

// For secrets: creates `path` with mode 0600 before the first byte; an existing file is an Error.
void WritePrivateFile(const std::filesystem::path& path, std::string_view content);

// `relative` below `root`. Throws Error when `relative` is empty, absolute, or has a component
// "..", so that no id or path read from a corpus can name a place outside `root`.
std::filesystem::path JoinInside(const std::filesystem::path& root, const std::string& relative);

// Creates the folder and its parents; throws Error with the reason.
void MakeFolder(const std::filesystem::path& path);

// How caches know a file without reading it: absolute path, size and time of change, between tabs.
std::string FileStamp(const std::filesystem::path& path);

// A file being written under a temporary name in the folder of its final path (or in `work`, which
// must be on the same file system). Commit() renames it into place; without it the destructor
// removes it.
class PendingFile {
 public:
  explicit PendingFile(std::filesystem::path final_path, const std::filesystem::path& work = {});
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;
  ~PendingFile();
  const std::filesystem::path& TemporaryPath() const { return temporary_; }
  void Commit();

 private:
  std::filesystem::path final_;
  std::filesystem::path temporary_;
  bool committed_ = false;
};

// Reason of the last failed system call, as text ("No space left on device").
std::string SystemReason();

}  // namespace sotto
