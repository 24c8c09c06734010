// Runs the real program, with or without the shim in front of its file calls.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "file_log.h"

namespace sotto::testing {

struct Outcome {
  int code = -1;      // of an exit
  int signal = 0;     // that ended it, 0: none
  bool hung = false;  // it was still going on at the end of its time, and was killed
  std::string out, err;

  bool Says(const std::string& text) const {
    return out.find(text) != std::string::npos || err.find(text) != std::string::npos;
  }
  // For messages of failed tests.
  std::string Text() const;
};

using Settings = std::vector<std::pair<std::string, std::string>>;

// A run of sotto that goes on beside the test.
class Program {
 public:
  // `settings` are added to the environment; with one of the shim's among them it is preloaded.
  explicit Program(const std::vector<std::string>& arguments, const Settings& settings = {});
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();

  bool HasEnded() const;  // it still has to be waited for
  Outcome Wait(double seconds = 60.0);

 private:
  pid_t pid_ = -1;
  int out_ = -1, err_ = -1;
};

Outcome Sotto(const std::vector<std::string>& arguments, const Settings& settings = {});

// The operations the shim told of in `log`.
std::vector<FileOperation> ReadFileLog(const std::filesystem::path& log);

// A fresh folder in memory where the system has one: hundreds of runs sync every file they write.
class QuickFolder {
 public:
  QuickFolder();
  QuickFolder(const QuickFolder&) = delete;
  QuickFolder& operator=(const QuickFolder&) = delete;
  ~QuickFolder();
  const std::filesystem::path& Path() const { return path_; }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace sotto::testing
