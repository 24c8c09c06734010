// For tests only: the real program, run as a user would, alone or by a shell.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace sotto::testing {

struct Outcome {
  int code = -1;            // 128 and the signal's number for a program that was killed
  int signal = 0;           // that ended it, 0: none
  bool hung = false;        // it was still going on at the end of its time, and was killed
  std::string out, err;     // what it wrote to its two streams
  std::string output;       // both
  long peak_kilobytes = 0;  // the most memory it held

  // For messages of failed tests.
  std::string Text() const {
    return fmt::format("exit code {}, signal {}{}\n{}", code, signal, hung ? ", hung" : "", output);
  }
};

inline bool Has(const Outcome& outcome, const std::string& text) {
  return outcome.output.find(text) != std::string::npos;
}

// Added to the environment.
using Settings = std::vector<std::pair<std::string, std::string>>;

// A program that goes on beside the test.
class Program {
 public:
  // `input`: a descriptor for its standard input; -1: nothing comes.
  explicit Program(std::vector<std::string> words, const Settings& settings = {}, int input = -1)
      : out_(::memfd_create("out", MFD_CLOEXEC)), err_(::memfd_create("err", MFD_CLOEXEC)) {
    std::vector<std::string> variables;
    for (char** variable = environ; *variable != nullptr; ++variable) {
      variables.emplace_back(*variable);
    }
    for (const auto& [name, value] : settings)
      variables.push_back(fmt::format("{}={}", name, value));
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    if (input >= 0) {
      ::posix_spawn_file_actions_adddup2(&actions, input, 0);
    } else {
      ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    }
    ::posix_spawn_file_actions_adddup2(&actions, out_, 1);
    ::posix_spawn_file_actions_adddup2(&actions, err_, 2);
    const int failed = ::posix_spawnp(&pid_, words[0].c_str(), &actions, nullptr,
                                      Pointers(words).data(), Pointers(variables).data());
    ::posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) throw std::runtime_error(words[0] + ": " + std::strerror(failed));
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (pid_ > 0) {
      Kill();
      ::waitpid(pid_, nullptr, 0);
    }
    ::close(out_);
    ::close(err_);
  }

  pid_t Id() const { return pid_; }
  void Kill() const { ::kill(pid_, SIGKILL); }
  std::string ErrSoFar() const { return Content(err_); }

  // It still has to be waited for.
  bool HasEnded() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == pid_;
  }

  Outcome Wait(double seconds = 60.0) {
    Outcome outcome;
    pollfd ended{static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)), POLLIN, 0};
    outcome.hung = ::poll(&ended, 1, static_cast<int>(1000.0 * seconds)) == 0;
    ::close(ended.fd);
    if (outcome.hung) Kill();
    int status = 0;
    struct rusage usage {};
    ::wait4(pid_, &status, 0, &usage);
    pid_ = -1;
    if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + outcome.signal;
    outcome.peak_kilobytes = usage.ru_maxrss;
    outcome.out = Content(out_);
    outcome.err = Content(err_);
    outcome.output = outcome.out + outcome.err;
    return outcome;
  }

 private:
  static std::vector<char*> Pointers(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    pointers.reserve(texts.size() + 1);
    for (std::string& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
  }
  static std::string Content(int fd) {
    std::string text(static_cast<std::size_t>(::lseek(fd, 0, SEEK_END)), '\0');
    const ssize_t n = ::pread(fd, text.data(), text.size(), 0);
    text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return text;
  }

  pid_t pid_ = -1;
  int out_ = -1, err_ = -1;
};

// sotto of this build, or another one to see what these tests find in it.
inline std::string Binary() {
  const char* other = std::getenv("SOTTO_TEST_BINARY");
  return other != nullptr ? other : SOTTO_BINARY;
}

// The words of a command of sotto.
inline std::vector<std::string> SottoWords(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {Binary()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

inline constexpr double kPatience = 280.0;  // seconds: a test has 300

inline Outcome Sotto(const std::vector<std::string>& arguments, const Settings& settings = {},
                     double seconds = kPatience) {
  return Program(SottoWords(arguments), settings).Wait(seconds);
}

// A command of bash.
inline Outcome Shell(const std::string& command) {
  return Program({"bash", "-c", command}).Wait(kPatience);
}

inline Outcome Sotto(const std::string& arguments) { return Shell(Binary() + " " + arguments); }

}  // namespace sotto::testing
