#include "base/input.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "base/testing.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryFolder;

std::string Refusal(const fs::path& path, std::uint64_t limit = kLargestFile) {
  try {
    ReadTextFile(path, limit);
  } catch (const Error& error) {
    return error.what();
  }
  return "read";
}

TEST(Input, WhatIsNoFileIsRefusedWithoutWaiting) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  fs::create_symlink("fifo", folder / "link");
  EXPECT_EQ(Refusal(folder / "fifo"),
            fmt::format("'{}' is a named pipe, not a file", (folder / "fifo").string()));
  EXPECT_NE(Refusal(folder / "link").find("is a named pipe"), std::string::npos);
  EXPECT_EQ(Refusal("/dev/zero"), "'/dev/zero' is a device, not a file");
  EXPECT_EQ(Refusal(folder.Path()),
            fmt::format("'{}' is a folder, not a file", folder.Path().string()));
  EXPECT_EQ(Refusal(folder / std::string(300, 'x')),
            fmt::format("cannot open '{}': File name too long",
                        (folder / std::string(300, 'x')).string()));
  fs::create_symlink("/dev/zero", folder / "text");
  EXPECT_NE(Refusal(folder / "text").find("is a device"), std::string::npos);
}

TEST(Input, PipesBetweenProgramsAreReadToTheirEnd) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::thread writer([&] {
    for (int i = 0; i < 100; ++i) {
      ASSERT_EQ(::write(ends[1], "line\n", 5), 5);
      if (i % 25 == 0) ::usleep(1000);
    }
    ::close(ends[1]);
  });
  EXPECT_EQ(ReadTextFile(fmt::format("/dev/fd/{}", ends[0])).size(), 500U);
  writer.join();
  ::close(ends[0]);
}

TEST(Input, WhatIsTooLargeIsRefused) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder / "f", "12345");
  EXPECT_EQ(ReadTextFile(folder / "f", 5), "12345");
  EXPECT_EQ(Refusal(folder / "f", 4),
            fmt::format("'{}' is too large: more than 4 bytes", (folder / "f").string()));
  // Larger than any disk, with nothing in it.
  std::ofstream(folder / "sparse").put('x');
  fs::resize_file(folder / "sparse", kLargestFile + 1);
  EXPECT_NE(Refusal(folder / "sparse").find("is too large"), std::string::npos);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "123456789", 9), 9);
  EXPECT_NE(Refusal(fmt::format("/dev/fd/{}", ends[0]), 8).find("is too large"), std::string::npos);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(Input, AFileThatShrinksMeanwhileIsAnError) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder / "f", std::string(10000, 'x'));
  InputFile file(folder / "f");
  std::string buffer(4000, '\0');
  EXPECT_EQ(file.Read(buffer.data(), buffer.size()), 4000U);
  fs::resize_file(folder / "f", 5000);
  EXPECT_EQ(file.Read(buffer.data(), buffer.size()), 1000U);
  EXPECT_EQ(file.ReadAt(4500, buffer.data(), 1000), 500U);
  EXPECT_THROW(file.Read(buffer.data(), buffer.size()), Error);
}

}  // namespace
}  // namespace sotto
