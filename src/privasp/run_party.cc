#include "privasp/run_party.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "privasp/dealer_service.h"
#include "privasp/server_service.h"

namespace sotto {
namespace {

// sd_notify(3), of which this is all that is needed.
void TellSystemd(const char* state) {
  const char* name = std::getenv("NOTIFY_SOCKET");
  sockaddr_un address{};
  if (name == nullptr || std::strlen(name) >= sizeof(address.sun_path)) return;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, name, std::strlen(name));
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';
  const int line = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const auto length = offsetof(sockaddr_un, sun_path) + std::strlen(name);
  if (line >= 0) {
    ::sendto(line, state, std::strlen(state), MSG_NOSIGNAL,
             reinterpret_cast<const sockaddr*>(&address), static_cast<socklen_t>(length));
    ::close(line);
  }
}

// The signals that end a party, held back from all threads and waited for by one.
class EndSignals {
 public:
  EndSignals() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGTERM);
    sigaddset(&set_, SIGINT);
    // Before there are other threads: they take this on.
    ::pthread_sigmask(SIG_BLOCK, &set_, nullptr);
  }
  void Wait() const {
    int signal = 0;
    sigwait(&set_, &signal);
  }

 private:
  sigset_t set_{};
};

template <class Service>
void Run(const PartyConfig& config, const char* name, bool quiet) {
  const EndSignals end;
  // A file that may not grow is a full disk: an error, not the end.
  ::signal(SIGXFSZ, SIG_IGN);
  Service service(config, EventLog(name, quiet));
  TellSystemd("READY=1");
  end.Wait();
  TellSystemd("STOPPING=1");
  service.Stop();
}

}  // namespace

void RunServer(const PartyConfig& config, bool quiet) {
  Run<ServerService>(config, "server", quiet);
}

void RunDealer(const PartyConfig& config, bool quiet) {
  Run<DealerService>(config, "dealer", quiet);
}

PartyProcess::PartyProcess(const std::filesystem::path& program, std::vector<std::string> arguments,
                           const std::filesystem::path& log) {
  const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (out < 0) throw Error(fmt::format("{}: {}", log.string(), SystemReason()));
  std::string name = program.string();
  std::vector<char*> words = {name.data()};
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  const pid_t parent = ::getpid();
  process_ = ::fork();
  if (process_ == 0) {
    // Only what may be called between fork and exec.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::dup2(out, 1);
    ::dup2(out, 2);
    ::execv(name.c_str(), words.data());
    ::_exit(127);
  }
  ::close(out);
  if (process_ < 0) throw Error(fmt::format("{}: {}", program.string(), SystemReason()));
}

PartyProcess::~PartyProcess() {
  if (!Running()) return;
  Signal(SIGKILL);
  Wait(10.0);
}

void PartyProcess::Signal(int signal) const {
  if (process_ > 0) ::kill(process_, signal);
}

bool PartyProcess::Running() {
  if (process_ <= 0) return false;
  int status = 0;
  if (::waitpid(process_, &status, WNOHANG) != process_) return true;
  code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  process_ = -1;
  return false;
}

int PartyProcess::Wait(double seconds) {
  const Deadline deadline = After(seconds);
  while (Running()) {
    if (std::chrono::steady_clock::now() > deadline) Signal(SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return code_;
}

int PartyProcess::Stop(double seconds) {
  Signal(SIGTERM);
  return Wait(seconds);
}

std::filesystem::path ThisProgram() { return std::filesystem::read_symlink("/proc/self/exe"); }

}  // namespace sotto
