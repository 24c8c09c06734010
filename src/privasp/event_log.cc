#include "privasp/event_log.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/json.h"

namespace sotto {

std::string TimeNow() {
  const auto now = std::chrono::system_clock::now();
  const auto ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(now)), ms % 1000);
}

void EventLog::Info(const char* event, std::initializer_list<LogField> fields) const {
  if (!quiet_) Write("info", event, fields);
}

void EventLog::Warn(const char* event, std::initializer_list<LogField> fields) const {
  Write("warning", event, fields);
}

void EventLog::Write(const char* level, const char* event,
                     std::initializer_list<LogField> fields) const {
  nlohmann::ordered_json line = {
      {"time", TimeNow()}, {"level", level}, {"party", party_}, {"event", event}};
  for (const auto& [name, value] : fields) {
    std::visit([&, key = name](const auto& is) { line[key] = is; }, value);
  }
  // One call: lines of threads do not mix.
  const std::string text = DumpJson(line) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace sotto
