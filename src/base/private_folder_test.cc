#include "base/private_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "base/testing.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;

unsigned Mode(const fs::path& path) {
  struct stat info {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 0777U;
}

TEST(PrivateFolder, IsClosedWithWhatAnEarlierVersionLeft) {
  const testing::TemporaryFolder folder;
  const fs::path cache = folder / "cache";
  WriteFileAtomically(folder / "x", "");
  fs::create_directory(cache);
  fs::permissions(cache, fs::perms(0755));
  WriteFileAtomically(cache / "0123456789abcdef.ark", "voiceprints");
  fs::permissions(cache / "0123456789abcdef.ark", fs::perms(0644));
  MakePrivateFolder(cache, ".ark");
  EXPECT_EQ(Mode(cache), 0700U);
  EXPECT_EQ(Mode(cache / "0123456789abcdef.ark"), 0600U);
}

TEST(PrivateFolder, AFolderOfOtherFilesIsNotClosed) {
  const testing::TemporaryFolder folder;
  for (const char* name : {"mine.ark", "notes.txt"}) {
    const fs::path own = folder / name;
    fs::create_directory(own);
    fs::permissions(own, fs::perms(0755));
    WriteFileAtomically(own / name, "mine");
    EXPECT_THROW(MakePrivateFolder(own, ".ark"), Error) << name;
    EXPECT_EQ(Mode(own), 0755U);
    // What is closed already may hold anything.
    fs::permissions(own, fs::perms(0700));
    MakePrivateFolder(own, ".ark");
  }
}

}  // namespace
}  // namespace sotto
