// What a server says of itself, as the JSON of a StatusMessage: for operators, health checks and
// the provider.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sotto {

struct ServiceModelStatus {
  std::string name;
  std::string id;  // 32 hexadecimal digits
  std::uint64_t scenario = 2, units = 0;
  std::string policy;       // "score" or "decision"
  std::string fingerprint;  // of the features
  std::string state;        // "waiting", "active" or "draining"
  // Utterances: on the disk, in memory, given out to clients, being computed.
  std::uint64_t stored = 0, ready = 0, reserved = 0, running = 0;
};

struct ServiceStatus {
  std::string role, name;
  double up_s = 0.0;
  std::uint64_t clients = 0;  // that are connected
  bool link = false;          // whether the other server is there
  std::vector<ServiceModelStatus> models;
  std::optional<double> dealer_seen_s_ago;      // nothing: it has not asked yet
  std::map<std::string, std::uint64_t> counts;  // of what was done and refused, by name
};

std::string FormatStatus(const ServiceStatus& status);
// Throws Error for what is none. Fields that are not known are passed over.
ServiceStatus ParseStatus(const std::string& text);

}  // namespace sotto
