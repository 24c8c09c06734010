#include "base/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "base/digest.h"
#include "base/error.h"
#include "base/testing.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;

std::ptrdiff_t Count(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), {});
}

TEST(Files, JoinInsideRefusesWaysOut) {
  for (const char* bad : {"", "/etc/passwd", "..", "../x", "a/../../x", "a/..", "."}) {
    EXPECT_THROW(JoinInside("out", bad), Error) << bad;
  }
  EXPECT_EQ(JoinInside("out", "a/b.wav"), "out/a/b.wav");
  EXPECT_EQ(JoinInside("out", "..a"), "out/..a");
  EXPECT_THROW(JoinInside("out", std::string("a\0b", 3)), Error);
}

TEST(Files, AtomicWriteReplacesAndLeavesNothingElse) {
  const testing::TemporaryFolder folder;
  WriteFileAtomically(folder / "f", "one");
  WriteFileAtomically(folder / "f", "two");
  EXPECT_EQ(ReadTextFile(folder / "f"), "two");
  EXPECT_EQ(Count(folder.Path()), 1);
}

TEST(Files, FailedWriteNamesThePathAndTheReason) {
  try {
    WriteFileAtomically("/nonexistent/f", "x");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "cannot write '/nonexistent/f': No such file or directory");
  }
}

TEST(Files, DistinctHoweverTheyAreWritten) {
  const testing::TemporaryFolder folder;
  WriteFileAtomically(folder / "a", "x");
  fs::create_hard_link(folder / "a", folder / "twin");
  fs::create_symlink("a", folder / "link");
  RequireDistinct({folder / "a", folder / "b", {}, {}}, folder / "c");
  for (const char* other : {"a", "./a", "x/../a", "twin", "link"}) {
    EXPECT_THROW(RequireDistinct({folder / "a", folder / other}), Error) << other;
    EXPECT_THROW(RequireDistinct({folder / other}, folder / "a"), Error) << other;
  }
  EXPECT_THROW(RequireDistinct({folder / "new", folder / "./new"}), Error);
}

// Whatever is written there: by a program that has not looked into the folder yet.
TEST(PendingFile, SweepsWhatAKilledProgramHasLeft) {
  const testing::TemporaryFolder folder;
  for (const char* name : {"a", "b"}) {
    fs::create_directories(folder / name);
    std::ofstream(folder / name / ".sotto-0123456789abcdef.part") << "somebody's voice";
    std::ofstream(folder / name / "f") << "x";
  }
  EXPECT_THROW(RefuseExisting(folder / "a/f", IfExists::kRefuse), Error);
  EXPECT_EQ(Count(folder / "a"), 1);
  WriteFileAtomically(folder / "b/f", "y");
  EXPECT_EQ(Count(folder / "b"), 1);
}

TEST(PendingFile, VanishesWithoutCommit) {
  const testing::TemporaryFolder folder;
  {
    PendingFile pending(folder / "f");
    WriteAll(pending.Descriptor(), "x", folder / "f");
    EXPECT_FALSE(fs::exists(folder / "f"));
    EXPECT_EQ(Count(folder.Path()), 1);
  }
  EXPECT_EQ(Count(folder.Path()), 0);
}

TEST(PendingFile, IsForTheOwnerAloneUntilItHasItsName) {
  const testing::TemporaryFolder folder;
  PendingFile pending(folder / "f");
  EXPECT_EQ(fs::status(pending.TemporaryPath()).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  pending.Commit();
  EXPECT_EQ(fs::status(folder / "f").permissions() & fs::perms::group_read, fs::perms::group_read);
  WritePrivateFile(folder / "secret", "x");
  EXPECT_EQ(fs::status(folder / "secret").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST(PendingFile, NamesCannotBeForeseen) {
  const testing::TemporaryFolder folder;
  const PendingFile one(folder / "f"), two(folder / "f");
  EXPECT_NE(one.TemporaryPath(), two.TemporaryPath());
  EXPECT_EQ(one.TemporaryPath().string().find(std::to_string(::getpid())), std::string::npos);
}

TEST(PendingFile, DoesNotReplaceWhatCameWhileItWasWritten) {
  const testing::TemporaryFolder folder;
  PendingFile pending(folder / "f", {.if_exists = IfExists::kRefuse});
  WriteFileAtomically(folder / "f", "somebody else's");
  EXPECT_THROW(pending.Commit(), Error);
  EXPECT_EQ(ReadTextFile(folder / "f"), "somebody else's");
  EXPECT_THROW(PendingFile(folder / "f", {.if_exists = IfExists::kRefuse}), Error);
  fs::create_symlink("nowhere", folder / "dangling");
  EXPECT_THROW(WritePrivateFile(folder / "dangling", "x"), Error);
}

TEST(PendingFile, NeverTakesThePlaceOfADeviceOrAFolder) {
  const testing::TemporaryFolder folder;
  fs::create_directory(folder / "d");
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  EXPECT_THROW(WriteFileAtomically(folder / "d", "x"), Error);
  EXPECT_THROW(WriteFileAtomically(folder / "fifo", "x"), Error);
  EXPECT_TRUE(fs::is_fifo(folder / "fifo"));
}

TEST(PendingFile, SweepsLeaveWhatIsBeingWritten) {
  const testing::TemporaryFolder folder;
  std::ofstream(folder / ".sotto-0123456789abcdef.part") << "left by a killed program";
  std::ofstream(folder / "mine.part") << "the user's";
  const PendingFile pending(folder / "f");
  SweepTemporaries(folder.Path());
  EXPECT_FALSE(fs::exists(folder / ".sotto-0123456789abcdef.part"));
  EXPECT_TRUE(fs::exists(folder / "mine.part"));
  EXPECT_TRUE(fs::exists(pending.TemporaryPath()));
}

TEST(UnnamedFile, IsNowhereAndCanBeReadByItsPath) {
  const testing::TemporaryFolder folder;
  const UnnamedFile file(folder.Path());
  WriteAll(file.Descriptor(), "an original", file.Path());
  EXPECT_EQ(Count(folder.Path()), 0);
  EXPECT_EQ(ReadTextFile(file.Path()), "an original");
  EXPECT_EQ(FileDigest(file.Descriptor(), "x"), ContentDigest("an original"));
}

}  // namespace
}  // namespace sotto
