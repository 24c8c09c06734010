// For tests only: the real program, run as a user would.
#pragma once

#include <fmt/format.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

#include "base/files.h"
#include "base/testing.h"

namespace sotto::testing {

struct Outcome {
  int code = -1;       // 128 and the signal's number for a program that was killed
  std::string output;  // stdout and stderr together
};

// Runs a command of the shell; what goes to its standard output comes back.
inline Outcome Pipe(const std::string& command) {
  Outcome outcome;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::array<char, 4096> buffer;
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    outcome.output.append(buffer.data(), n);
  }
  const int status = ::pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

inline Outcome Shell(const std::string& command) {
  return Pipe(fmt::format("( {} ) 2>&1", command));
}

inline Outcome Sotto(const std::string& arguments) {
  return Shell(std::string(SOTTO_BINARY) + " " + arguments);
}

inline bool Has(const Outcome& outcome, const std::string& text) {
  return outcome.output.find(text) != std::string::npos;
}

// The same with the two streams apart.
struct Streams {
  int code = -1;
  std::string out, err;
};
inline Streams SottoStreams(const std::string& arguments) {
  const TemporaryFolder folder;
  const std::string errors = folder / "stderr";
  const Outcome outcome = Pipe(fmt::format("{} {} 2>{}", SOTTO_BINARY, arguments, errors));
  return {outcome.code, outcome.output, ReadTextFile(errors)};
}

}  // namespace sotto::testing
