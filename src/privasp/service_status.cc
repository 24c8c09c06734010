#include "privasp/service_status.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"

namespace sotto {
namespace {

using nlohmann::json;

struct TextField {
  const char* name;
  std::string ServiceModelStatus::*field;
};
struct NumberField {
  const char* name;
  std::uint64_t ServiceModelStatus::*field;
};
// In the order in which they are written.
constexpr TextField kNames[] = {{"name", &ServiceModelStatus::name},
                                {"id", &ServiceModelStatus::id}};
constexpr NumberField kSizes[] = {{"scenario", &ServiceModelStatus::scenario},
                                  {"units", &ServiceModelStatus::units}};
constexpr TextField kStates[] = {{"policy", &ServiceModelStatus::policy},
                                 {"fingerprint", &ServiceModelStatus::fingerprint},
                                 {"state", &ServiceModelStatus::state}};
constexpr NumberField kStocks[] = {{"stored", &ServiceModelStatus::stored},
                                   {"ready", &ServiceModelStatus::ready},
                                   {"reserved", &ServiceModelStatus::reserved},
                                   {"running", &ServiceModelStatus::running}};

[[noreturn]] void Refuse(const std::string& field, const char* expected) {
  throw Error(fmt::format("a server's status: {} is no {}", field, expected));
}

const json& Member(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) throw Error(fmt::format("a server's status: no {}", name));
  return *found;
}

std::string Text(const json& object, const char* name) {
  const json& value = Member(object, name);
  if (!value.is_string()) Refuse(name, "text");
  return value.get<std::string>();
}

std::uint64_t Number(const json& value, const std::string& name) {
  if (!value.is_number_unsigned()) Refuse(name, "count");
  return value.get<std::uint64_t>();
}

double Seconds(const json& object, const char* name) {
  const json& value = Member(object, name);
  const double seconds = value.is_number() ? value.get<double>() : -1.0;
  constexpr double kMost = 1e10;
  if (!(seconds >= 0.0 && seconds <= kMost)) Refuse(name, "time in seconds");
  return seconds;
}

ServiceModelStatus ParseModel(const json& from) {
  if (!from.is_object()) Refuse("a model", "object");
  ServiceModelStatus model;
  for (const auto& [name, field] : kNames) model.*field = Text(from, name);
  for (const auto& [name, field] : kSizes) model.*field = Number(Member(from, name), name);
  for (const auto& [name, field] : kStates) model.*field = Text(from, name);
  for (const auto& [name, field] : kStocks) model.*field = Number(Member(from, name), name);
  return model;
}

}  // namespace

std::string FormatStatus(const ServiceStatus& status) {
  nlohmann::ordered_json out;
  out["role"] = status.role;
  out["name"] = status.name;
  out["up_s"] = status.up_s;
  out["clients"] = status.clients;
  out["link"] = status.link;
  out["models"] = nlohmann::ordered_json::array();
  for (const ServiceModelStatus& model : status.models) {
    auto& into = out["models"].emplace_back();
    for (const auto& [name, field] : kNames) into[name] = model.*field;
    for (const auto& [name, field] : kSizes) into[name] = model.*field;
    for (const auto& [name, field] : kStates) into[name] = model.*field;
    for (const auto& [name, field] : kStocks) into[name] = model.*field;
  }
  if (status.dealer_seen_s_ago) out["dealer_seen_s_ago"] = *status.dealer_seen_s_ago;
  out["counts"] = nlohmann::ordered_json::object();
  for (const auto& [name, count] : status.counts) out["counts"][name] = count;
  return DumpJson(out, 2);
}

ServiceStatus ParseStatus(const std::string& text) {
  const json from = TryParseJson(text);
  if (!from.is_object()) throw Error("a server's status: no object of JSON");
  ServiceStatus status;
  status.role = Text(from, "role");
  status.name = Text(from, "name");
  status.up_s = Seconds(from, "up_s");
  status.clients = Number(Member(from, "clients"), "clients");
  const json& link = Member(from, "link");
  if (!link.is_boolean()) Refuse("link", "true or false");
  status.link = link.get<bool>();
  const json& models = Member(from, "models");
  if (!models.is_array()) Refuse("models", "list");
  for (const json& model : models) status.models.push_back(ParseModel(model));
  if (from.contains("dealer_seen_s_ago")) {
    status.dealer_seen_s_ago = Seconds(from, "dealer_seen_s_ago");
  }
  const json& counts = Member(from, "counts");
  if (!counts.is_object()) Refuse("counts", "object");
  for (const auto& [name, count] : counts.items()) status.counts[name] = Number(count, "counts");
  return status;
}

}  // namespace sotto
