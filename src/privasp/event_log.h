// What a party tells its operator: one JSON object a line on standard error, with time, level,
// event and fields. Nothing that is a share, a seed, a feature or a score is ever a field.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <variant>

namespace sotto {

using LogField = std::pair<const char*, std::variant<std::int64_t, double, std::string>>;

class EventLog {
 public:
  // `quiet`: warnings alone.
  explicit EventLog(std::string party, bool quiet = false)
      : party_(std::move(party)), quiet_(quiet) {}

  void Info(const char* event, std::initializer_list<LogField> fields = {}) const;
  void Warn(const char* event, std::initializer_list<LogField> fields = {}) const;

 private:
  void Write(const char* level, const char* event, std::initializer_list<LogField> fields) const;

  std::string party_;
  bool quiet_;
};

// "2026-01-31T12:00:00.123Z"
std::string TimeNow();

}  // namespace sotto
