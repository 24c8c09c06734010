// A bounded load on the service: random inputs, whose answers are compared with the plain net where
// it is at hand. For trying and measuring one's own servers.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "privasp/config.h"
#include "spoof/spoof_model.h"

namespace sotto {

struct LoadOptions {
  std::string model;                // empty: the newest
  std::uint32_t queries = 1000;     // of one batch each
  std::uint32_t concurrency = 16;   // clients at a time
  std::uint32_t batch = 1;          // utterances a query
  std::uint64_t seed = 1;           // of the inputs: an experiment's
  double connect_s = 30.0;          // how long a client tries to come back to a server that is gone
  std::optional<SpoofModel> plain;  // to compare with
  // Called when a query is over, by its client's thread: why it was refused; empty: answered.
  std::function<void(const std::string& refused)> after_each;

  void Validate() const;  // throws Error
};

struct LoadResult {
  std::uint64_t answered = 0;                    // queries
  std::uint64_t wrong = 0;                       // of them, not what the plain net says
  std::uint64_t compared = 0;                    // utterances
  std::map<std::string, std::uint64_t> refused;  // queries, by reason; "connection": it broke
  std::uint64_t reserved = 0;                    // utterances
  std::uint64_t reused = 0;                      // ids or masks given out twice: must be 0
  double seconds = 0.0;
  std::vector<double> query_ms;    // of the answered, sorted
  std::vector<double> reserve_ms;  // likewise

  std::uint64_t Refused() const;
};

// Every query is answered or counted as refused. Throws Error where no client can connect at all.
LoadResult RunLoad(const PartyConfig& config, const LoadOptions& options);

}  // namespace sotto
