#include "program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "base/files.h"

namespace sotto::testing {
namespace fs = std::filesystem;
namespace {

// The program of this build, or another one to see what these tests find in it.
std::string Binary() {
  const char* other = std::getenv("SOTTO_TEST_BINARY");
  return other != nullptr ? other : SOTTO_BINARY;
}

std::string Content(int fd) {
  std::string text(static_cast<std::size_t>(::lseek(fd, 0, SEEK_END)), '\0');
  const ssize_t n = ::pread(fd, text.data(), text.size(), 0);
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return text;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

std::string Outcome::Text() const {
  return fmt::format("exit code {}, signal {}{}\n{}{}", code, signal, hung ? ", hung" : "", out,
                     err);
}

Program::Program(const std::vector<std::string>& arguments, const Settings& settings)
    : out_(::memfd_create("out", MFD_CLOEXEC)), err_(::memfd_create("err", MFD_CLOEXEC)) {
  std::vector<std::string> words = {Binary()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable)
    variables.emplace_back(*variable);
  for (const auto& [name, value] : settings) {
    variables.push_back(name + "=" + value);
    if (name == kShimRoot) variables.emplace_back("LD_PRELOAD=" SOTTO_FILE_SHIM);
  }
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out_, 1);
  ::posix_spawn_file_actions_adddup2(&actions, err_, 2);
  const int failed = ::posix_spawn(&pid_, words[0].c_str(), &actions, nullptr,
                                   Pointers(words).data(), Pointers(variables).data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw std::runtime_error(words[0] + ": " + std::strerror(failed));
}

Program::~Program() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(out_);
  ::close(err_);
}

bool Program::HasEnded() const {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid_;
}

Outcome Program::Wait(double seconds) {
  Outcome outcome;
  pollfd ended{static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)), POLLIN, 0};
  outcome.hung = ::poll(&ended, 1, static_cast<int>(1000.0 * seconds)) == 0;
  ::close(ended.fd);
  if (outcome.hung) ::kill(pid_, SIGKILL);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  if (WIFEXITED(status)) outcome.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  outcome.out = Content(out_);
  outcome.err = Content(err_);
  return outcome;
}

Outcome Sotto(const std::vector<std::string>& arguments, const Settings& settings) {
  return Program(arguments, settings).Wait();
}

std::vector<FileOperation> ReadFileLog(const fs::path& log) {
  const std::string bytes = ReadTextFile(log);
  std::size_t at = 0;
  const auto number = [&](auto& value) {
    if (bytes.size() - at < sizeof value) throw std::runtime_error("the shim's log is cut");
    std::memcpy(&value, bytes.data() + at, sizeof value);
    at += sizeof value;
  };
  std::vector<FileOperation> operations;
  while (at < bytes.size()) {
    FileOperation& operation = operations.emplace_back();
    number(operation.call);
    number(operation.handle);
    number(operation.offset);
    number(operation.flags);
    for (std::string* text : {&operation.path, &operation.path2, &operation.data}) {
      std::uint64_t size = 0;
      number(size);
      *text = bytes.substr(at, size);
      at += size;
    }
  }
  return operations;
}

QuickFolder::QuickFolder() {
  const fs::path memory = "/dev/shm";
  const fs::path base =
      ::access(memory.c_str(), W_OK | X_OK) == 0 ? memory : fs::temp_directory_path();
  std::string name = fs::canonical(base) / "sotto-test-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot create " + name);
  path_ = name;
}

QuickFolder::~QuickFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace sotto::testing
