// All four roles on the loopback, as processes with fresh keys: what a deployment does, to be seen.
// Four roles on one host protect nobody.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "privasp/secure_client.h"

namespace sotto {

struct DemoOptions {
  // Sound files, mono, 16 kHz. Where neither is given, what is found on this machine: recordings of
  // Debian's pocketsphinx-testdata (genuine), sentences that flite speaks (synthetic).
  std::vector<std::filesystem::path> genuine, synthetic;
  std::vector<std::string> models = {"privasp-1024",
                                     "privasp-512"};  // as OpenSpoofModel takes them
  std::filesystem::path program;                      // that has the verb privasp
};

struct DemoQuery {
  std::string recording;
  bool genuine = false;  // what the recording is
  int scenario = 2;
  std::string model;
  std::uint32_t units = 0;
  std::optional<std::int64_t> secure_score;  // 2^39
  bool secure_genuine = false;
  std::int64_t plain_score = 0;
  bool plain_genuine = false;
  bool equal = false;
  QueryCost cost;
};

struct DemoResult {
  std::vector<DemoQuery> queries;
  std::vector<std::string> notes;  // what is not there, what was left out
  double start_s = 0.0;            // from nothing to four parties with models and material
};

// Throws Error where a party does not come up or ends badly.
DemoResult RunDemo(const DemoOptions& options);

}  // namespace sotto
