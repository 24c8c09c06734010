// For tests only: where the shared data lies, and temporary folders.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace sotto::testing {

// The folder of real speech and golden values beside the checkout, or $SOTTO_SHARED.
inline std::filesystem::path SharedFolder() {
  const char* folder = std::getenv("SOTTO_SHARED");
  return folder != nullptr ? folder : SOTTO_DEFAULT_SHARED;
}

// In CI a test whose shared data is absent must fail; elsewhere it is skipped.
#define SOTTO_NEEDS_SHARED(relative)                                                \
  do {                                                                              \
    if (!std::filesystem::exists(::sotto::testing::SharedFolder() / (relative))) {  \
      if (std::getenv("CI") != nullptr) FAIL() << "no shared data: " << (relative); \
      GTEST_SKIP() << "no shared data: " << (relative);                             \
    }                                                                               \
  } while (false)

// A fresh folder, removed with all it holds at the end of the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = std::filesystem::temp_directory_path() / "sotto-test-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& Path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace sotto::testing
