// Files others hand us, opened so that nothing waits for ever and nothing is read without end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace sotto {

// The largest file that is read into memory, and the largest table of text; a pipe, whose length
// nobody knows, is held to the latter.
inline constexpr std::uint64_t kLargestFile = std::uint64_t{16} << 30;
inline constexpr std::uint64_t kLargestTable = std::uint64_t{1} << 30;

// A regular file, or a pipe between programs (/dev/stdin, the shell's "<(command)"). Folders,
// named pipes (open() would wait for somebody to write), devices and sockets are an Error that
// says what stands there.
class InputFile {
 public:
  explicit InputFile(std::filesystem::path path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  bool IsPipe() const { return pipe_; }
  // When it was opened; 0 for a pipe.
  std::uint64_t Size() const { return size_; }

  // The next bytes, up to `count`; 0 at the end. A file that ends before the size it had when it
  // was opened was changed meanwhile: an Error, since what was read is no whole.
  std::size_t Read(char* to, std::size_t count);
  // Bytes from a place of a regular file; fewer than `count` at its end.
  std::size_t ReadAt(std::uint64_t at, char* to, std::size_t count) const;

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  bool pipe_ = false;
  std::uint64_t size_ = 0;
  std::uint64_t read_ = 0;
};

// Throws Error unless `path` is a regular file: for what is opened by other means afterwards.
void RequireRegularFile(const std::filesystem::path& path);

}  // namespace sotto
