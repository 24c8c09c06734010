// Options of a training, each said once: from one table come its flags (training_flags.h), its
// checks and its part of the training record.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <variant>
#include <vector>

#include "base/error.h"

namespace sotto {

inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();
inline constexpr double kBelowOne = 1.0 - 1e-9;

template <class T>
struct Option {
  const char* name;  // in records; its flag has - in place of _
  std::variant<std::int64_t T::*, double T::*, std::vector<double> T::*> member;
  const char* help;
  double least = 0.0, most = kNoLimit;
};

template <class T>
using OptionTable = std::vector<Option<T>>;

// Throws Error that names the option, its value and what is allowed.
inline void RequireRange(const char* name, double value, double least, double most) {
  if (value >= least && value <= most) return;
  throw Error(most == kNoLimit
                  ? fmt::format("{} is {}: allowed is {} or more", name, value, least)
                  : fmt::format("{} is {}: allowed is {} to {:.6g}", name, value, least, most));
}
inline void RequireRange(const char* name, const std::vector<double>& values, double least,
                         double most) {
  if (values.empty()) throw Error(fmt::format("{}: at least one value", name));
  for (const double value : values) RequireRange(name, value, least, most);
}

template <class T>
void RequireRanges(const OptionTable<T>& table, const T& options) {
  for (const Option<T>& o : table) {
    std::visit([&](auto member) { RequireRange(o.name, options.*member, o.least, o.most); },
               o.member);
  }
}

template <class T>
void Record(const OptionTable<T>& table, const T& options, nlohmann::ordered_json& json) {
  for (const Option<T>& o : table) {
    std::visit([&](auto member) { json[o.name] = options.*member; }, o.member);
  }
}

}  // namespace sotto
