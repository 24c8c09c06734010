#include "nn/convnext_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace sotto {

void CheckSize(const std::string& where, const char* name, std::int64_t value, std::int64_t low,
               std::int64_t high) {
  if (value < low || value > high) {
    throw Error(
        fmt::format("{}: '{}' is {}, from {} to {} is allowed", where, name, value, low, high));
  }
}

nlohmann::ordered_json ToJson(const ConvNextOptions& o) {
  return {{"channels", o.channels}, {"hidden", o.hidden},       {"blocks", o.blocks},
          {"kernel", o.kernel},     {"dilations", o.dilations}, {"ahead", o.ahead}};
}

ConvNextOptions ConvNextFromJson(const nlohmann::ordered_json& json, const std::string& where) {
  ConvNextOptions o;
  json.at("channels").get_to(o.channels);
  json.at("hidden").get_to(o.hidden);
  json.at("blocks").get_to(o.blocks);
  json.at("kernel").get_to(o.kernel);
  json.at("dilations").get_to(o.dilations);
  json.at("ahead").get_to(o.ahead);
  CheckSize(where, "channels", o.channels, 1, 8192);
  CheckSize(where, "hidden", o.hidden, 1, 65536);
  CheckSize(where, "blocks", o.blocks, 1, 100);
  CheckSize(where, "kernel", o.kernel, 1, 99);
  CheckSize(where, "number of dilations", static_cast<std::int64_t>(o.dilations.size()), 1, 100);
  CheckSize(where, "number of ahead", static_cast<std::int64_t>(o.ahead.size()), 1, 100);
  for (const std::int64_t d : o.dilations) CheckSize(where, "dilations", d, 1, 1000);
  for (const std::int64_t a : o.ahead) CheckSize(where, "ahead", a, 0, o.kernel - 1);
  return o;
}

}  // namespace sotto
