// Files: whole-file reads, writes that are never half there, and paths that stay inside a folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/input.h"

namespace sotto {

// The whole file, of at most `limit` bytes (kLargestTable from a pipe); what may well be larger
// asks for kLargestFile. Throws Error that names the
// path and the reason: no regular file and no pipe (base/input.h), too large, shorter at the end
// than at the beginning.
std::string ReadTextFile(const std::filesystem::path& path, std::uint64_t limit = kLargestTable);

// What becomes of a file that already has the name of one that is written.
enum class IfExists { kReplace, kRefuse };

// How a file is written; see PendingFile.
struct WriteOptions {
  IfExists if_exists = IfExists::kReplace;
  std::filesystem::path work{};  // of the temporary file; empty: the folder of the file itself
  bool is_private = false;       // mode 0600, not what the umask allows
};

// Writes under a temporary name, then renames: readers see the old or the new content, never a
// part, also after a loss of power. Throws Error and leaves `path` as it was when anything fails (a
// full disk too).
void WriteFileAtomically(const std::filesystem::path& path, std::string_view content,
                         const WriteOptions& options = {});

// For secrets: the same with mode 0600; an existing file is an Error.
void WritePrivateFile(const std::filesystem::path& path, std::string_view content,
                      IfExists if_exists = IfExists::kRefuse);

// Throws Error when `path` exists and may not be replaced: before the work, where the rename that
// does not replace would say so after it. What a killed run has left in the folder goes first.
void RefuseExisting(const std::filesystem::path& path, IfExists if_exists);

// `relative` below `root`. Throws Error when `relative` is empty, absolute, or has a component
// "..", so that no id or path read from a corpus can name a place outside `root`.
std::filesystem::path JoinInside(const std::filesystem::path& root, const std::string& relative);

// Whether two paths lead to one file, or would once it is there. An empty path leads nowhere.
bool SameFile(const std::filesystem::path& a, const std::filesystem::path& b);

// Throws Error where two of the outputs of a command are one file, or one of them is its input,
// which may be empty.
void RequireDistinct(std::initializer_list<std::filesystem::path> outputs,
                     const std::filesystem::path& input = {});

// Creates the folder and its parents; throws Error with the reason.
void MakeFolder(const std::filesystem::path& path);

// How caches know a file without reading it: absolute path, size and time of change, between tabs.
std::string FileStamp(const std::filesystem::path& path);

// The one kind of temporary file: a file being written under a random name (".sotto-….part",
// created by O_EXCL with mode 0600) in the folder of its final path, or in WriteOptions::work,
// which must be on the same file system. Commit() makes it durable and gives it its name; without
// it the destructor removes it. What a killed program leaves is swept by the next one that writes
// into that folder.
class PendingFile {
 public:
  // Error when the final path is there and is no regular file, or must not be replaced.
  explicit PendingFile(std::filesystem::path final_path, WriteOptions options = {});
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;
  ~PendingFile();
  const std::filesystem::path& FinalPath() const { return final_; }
  const std::filesystem::path& TemporaryPath() const { return temporary_; }
  // Open for reading and writing.
  int Descriptor() const { return fd_; }
  // Sync() and Name() in one, and the folder is durable too.
  void Commit();
  // The content reaches the disk.
  void Sync();
  // Renames without waiting for the disk (SyncFolder does).
  void Name();

 private:
  std::filesystem::path final_, temporary_;
  WriteOptions options_;
  int fd_ = -1;
};

// Removes the temporary files in `folder` that no running program writes.
void SweepTemporaries(const std::filesystem::path& folder);

// The names in `folder` reach the disk.
void SyncFolder(const std::filesystem::path& folder);

// A file for reading and writing that has no name, so that nothing of it is left whatever happens
// to the program. Open it by Path().
class UnnamedFile {
 public:
  explicit UnnamedFile(const std::filesystem::path& folder);
  UnnamedFile(const UnnamedFile&) = delete;
  UnnamedFile& operator=(const UnnamedFile&) = delete;
  ~UnnamedFile();
  int Descriptor() const { return fd_; }
  std::filesystem::path Path() const;

 private:
  int fd_ = -1;
};

// write() until all is written; Error names `path`.
void WriteAll(int descriptor, std::string_view content, const std::filesystem::path& path);

// Reason of the last failed system call, as text ("No space left on device").
std::string SystemReason();

}  // namespace sotto
