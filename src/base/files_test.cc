#include "base/files.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/testing.h"

namespace sotto {
namespace {

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
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.Path()), {}), 1);
}

TEST(Files, FailedWriteNamesThePathAndTheReason) {
  try {
    WriteFileAtomically("/nonexistent/f", "x");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "cannot write '/nonexistent/f': No such file or directory");
  }
}

TEST(Files, PendingFileVanishesWithoutCommit) {
  const testing::TemporaryFolder folder;
  {
    PendingFile pending(folder / "f");
    WriteFileAtomically(pending.TemporaryPath(), "x");
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.Path()));
}

}  // namespace
}  // namespace sotto
