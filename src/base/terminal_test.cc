#include "base/terminal.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <new>
#include <system_error>

#include "base/error.h"

namespace sotto {
namespace {

TEST(FailureText, SaysInWordsWhatTheLibrariesThrow) {
  EXPECT_EQ(FailureText(Error("no such key")), "no such key");
  EXPECT_EQ(FailureText(std::bad_alloc()).substr(0, 13), "out of memory");
  const std::filesystem::filesystem_error too_long(
      "status", std::string(5000, 'x'), std::make_error_code(std::errc::filename_too_long));
  EXPECT_LT(FailureText(too_long).size(), 300U);
  EXPECT_NE(FailureText(too_long).find("': File name too long"), std::string::npos);
  EXPECT_NE(FailureText(std::system_error(EAGAIN, std::generic_category(), "thread"))
                .find("Resource temporarily unavailable"),
            std::string::npos);
}

}  // namespace
}  // namespace sotto
