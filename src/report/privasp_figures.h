// What `sotto privasp` has to say, as JSON and text.
#pragma once

#include <string>
#include <vector>

#include "privasp/classify.h"
#include "privasp/demo.h"
#include "privasp/load.h"
#include "privasp/service_status.h"

namespace sotto {

// queries[]: recording, genuine, scenario, model, units, secure_score (null where only decisions
// are told), secure_decision, plain_score, plain_decision, equal, ms, reserve_ms, bytes_client (to
// each server), bytes_servers (each way), rounds; start_s, notes[], warning.
std::string PrivaspDemoJson(const DemoResult& result);
std::string PrivaspDemoText(const DemoResult& result);

std::string ClassifiedJson(const Classified& classified);
std::string ClassifiedText(const Classified& classified);

std::string LoadJson(const LoadResult& result, const LoadOptions& options);
std::string LoadText(const LoadResult& result, const LoadOptions& options);

// What a server says of itself, or why it does not.
struct ServerStatus {
  std::string server;
  ServiceStatus status;
  std::string trouble;
};
std::string ServiceStatusJson(const std::vector<ServerStatus>& servers);
std::string ServiceStatusText(const std::vector<ServerStatus>& servers);

}  // namespace sotto
