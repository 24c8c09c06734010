// A party as a process: from its start to the signal that ends it.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "privasp/config.h"

namespace sotto {

// Until SIGTERM or SIGINT; then what is under way is finished. Tells systemd when it is ready
// (sd_notify). Throws Error where it cannot start.
void RunServer(const PartyConfig& config, bool quiet);
void RunDealer(const PartyConfig& config, bool quiet);

// Another process of this program, whose standard error goes to a file. It is killed with this
// object, and when this process ends without a word.
class PartyProcess {
 public:
  PartyProcess(const std::filesystem::path& program, std::vector<std::string> arguments,
               const std::filesystem::path& log);
  PartyProcess(const PartyProcess&) = delete;
  PartyProcess& operator=(const PartyProcess&) = delete;
  ~PartyProcess();

  void Signal(int signal) const;
  bool Running();
  // Waits for its end, for `seconds` at most, and kills it then. The exit code, or 128 and the
  // signal.
  int Wait(double seconds);
  // SIGTERM, then Wait.
  int Stop(double seconds = 15.0);

 private:
  pid_t process_ = -1;
  int code_ = -1;
};

// The program that is running.
std::filesystem::path ThisProgram();

}  // namespace sotto
