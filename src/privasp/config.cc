#include "privasp/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"

namespace sotto {
namespace {

using nlohmann::json;

constexpr std::uint64_t kLongestConfig = 1 << 20;
constexpr double kLongestWait = 86400.0;
constexpr std::uint32_t kMostUtterances = 1U << 20;
constexpr std::uint32_t kMostStock = 1U << 16;  // an announcement has no more segments

struct CountField {
  const char* name;
  std::uint32_t ServiceLimits::*field;
};
constexpr CountField kCounts[] = {{"stock", &ServiceLimits::stock},
                                  {"ready", &ServiceLimits::ready},
                                  {"segment", &ServiceLimits::segment},
                                  {"connections", &ServiceLimits::connections},
                                  {"quota_per_hour", &ServiceLimits::quota_per_hour},
                                  {"reserved", &ServiceLimits::reserved},
                                  {"reserved_total", &ServiceLimits::reserved_total}};
struct TimeField {
  const char* name;
  double ServiceLimits::*field;
};
constexpr TimeField kTimes[] = {{"reservation_s", &ServiceLimits::reservation_s},
                                {"query_s", &ServiceLimits::query_s},
                                {"request_s", &ServiceLimits::request_s},
                                {"idle_s", &ServiceLimits::idle_s},
                                {"link_s", &ServiceLimits::link_s},
                                {"orphan_s", &ServiceLimits::orphan_s},
                                {"forget_s", &ServiceLimits::forget_s}};

class Reader {
 public:
  Reader(std::filesystem::path folder, std::string where)
      : folder_(std::move(folder)), where_(std::move(where)) {}

  [[noreturn]] void Refuse(const std::string& field, const std::string& what) const {
    throw Error(fmt::format("{}: {} {}", where_, field, what));
  }

  // Every member of an object by its own reader.
  void Object(const json& object, const std::string& name,
              const std::function<bool(const std::string&, const json&)>& member) const {
    if (!object.is_object()) Refuse(name, "is no object");
    for (const auto& [key, value] : object.items()) {
      if (!member(key, value))
        Refuse(fmt::format("'{}'", key), fmt::format("is no field of {}", name));
    }
  }

  const std::string& Text(const json& value, const std::string& field) const {
    if (!value.is_string() || value.get_ref<const std::string&>().empty()) {
      Refuse(field, "is no text");
    }
    const auto& text = value.get_ref<const std::string&>();
    // The system would read only what stands before it.
    if (text.find('\0') != std::string::npos) Refuse(field, "holds a zero byte");
    return text;
  }

  Role PeerRole(const std::string& name) const {
    try {
      return ParseRole(name);
    } catch (const Error& error) {
      Refuse("peers:", error.what());
    }
  }

  std::filesystem::path Path(const json& value, const std::string& field) const {
    return (folder_ / Text(value, field)).lexically_normal();
  }

  const std::string& Pin(const json& value, const std::string& field) const {
    const std::string& pin = Text(value, field);
    if (pin.size() != 64 || pin.find_first_not_of("0123456789abcdef") != std::string::npos) {
      Refuse(field, fmt::format("is '{}'; 64 hexadecimal digits expected", pin));
    }
    return pin;
  }

  // What a message can quote. A list in a list in a list… would take as deep a recursion to write.
  static std::string Quoted(const json& value) {
    return value.is_structured() ? "no number" : DumpJson(value);
  }

  bool Limit(ServiceLimits& limits, const std::string& key, const json& value) const {
    for (const CountField& count : kCounts) {
      if (key != count.name) continue;
      if (!value.is_number_unsigned() || value.get<std::uint64_t>() < 1 ||
          value.get<std::uint64_t>() > kMostUtterances) {
        Refuse(key, fmt::format("is {}; 1 to {} allowed", Quoted(value), kMostUtterances));
      }
      limits.*count.field = value.get<std::uint32_t>();
      return true;
    }
    for (const TimeField& time : kTimes) {
      if (key != time.name) continue;
      if (!value.is_number() || !(value.get<double>() > 0) || value.get<double>() > kLongestWait) {
        Refuse(key, fmt::format("is {}; seconds up to {} allowed", Quoted(value), kLongestWait));
      }
      limits.*time.field = value.get<double>();
      return true;
    }
    return false;
  }

 private:
  std::filesystem::path folder_;
  std::string where_;
};

}  // namespace

PartyConfig ParseConfig(const std::string& text, const std::filesystem::path& folder,
                        const std::string& where) {
  const json parsed = TryParseJson(text);
  if (parsed.is_discarded()) throw Error(where + ": is no JSON");
  const Reader reader(folder, where);
  PartyConfig config;
  reader.Object(parsed, "the configuration", [&](const std::string& key, const json& value) {
    if (key == "certificate") {
      config.files.certificate = reader.Path(value, key);
    } else if (key == "key") {
      config.files.key = reader.Path(value, key);
    } else if (key == "authority") {
      config.files.authority = reader.Path(value, key);
    } else if (key == "listen") {
      config.listen = reader.Text(value, key);
    } else if (key == "state") {
      config.state = reader.Path(value, key);
    } else if (key == "policy") {
      config.policy = reader.Text(value, key);
      if (config.policy != "score" && config.policy != "decision") {
        reader.Refuse(key, fmt::format("is '{}'; score or decision expected", config.policy));
      }
    } else if (key == "peers") {
      reader.Object(value, key, [&](const std::string& role, const json& peer) {
        PeerConfig& into = config.peers[reader.PeerRole(role)];
        reader.Object(peer, role, [&](const std::string& field, const json& is) {
          if (field == "address") {
            into.address = reader.Text(is, field);
          } else if (field == "pin") {
            into.pin = reader.Pin(is, field);
          } else {
            return false;
          }
          return true;
        });
        if (into.pin.empty()) reader.Refuse(role, "has no pin");
        return true;
      });
    } else if (key == "limits") {
      reader.Object(value, key, [&](const std::string& limit, const json& is) {
        return reader.Limit(config.limits, limit, is);
      });
    } else {
      return false;
    }
    return true;
  });
  for (const auto& [name, path] :
       {std::pair("certificate", &config.files.certificate), std::pair("key", &config.files.key),
        std::pair("authority", &config.files.authority)}) {
    if (path->empty()) reader.Refuse(name, "is missing");
  }
  if (config.limits.segment > 64) reader.Refuse("segment", "is more than 64");
  if (config.limits.stock > kMostStock) {
    reader.Refuse("stock", fmt::format("is more than {}", kMostStock));
  }
  if (config.limits.ready > config.limits.stock) reader.Refuse("ready", "is more than stock");
  return config;
}

PartyConfig ReadConfig(const std::filesystem::path& path) {
  return ParseConfig(ReadTextFile(path, kLongestConfig), path.parent_path(), path.string());
}

std::string FormatConfig(const PartyConfig& config) {
  nlohmann::ordered_json out;
  out["certificate"] = config.files.certificate.string();
  out["key"] = config.files.key.string();
  out["authority"] = config.files.authority.string();
  if (!config.listen.empty()) out["listen"] = config.listen;
  if (!config.state.empty()) out["state"] = config.state.string();
  if (!config.policy.empty()) out["policy"] = config.policy;
  for (const auto& [role, peer] : config.peers) {
    auto& into = out["peers"][RoleName(role)];
    if (!peer.address.empty()) into["address"] = peer.address;
    into["pin"] = peer.pin;
  }
  for (const CountField& count : kCounts) out["limits"][count.name] = config.limits.*count.field;
  for (const TimeField& time : kTimes) out["limits"][time.name] = config.limits.*time.field;
  return DumpJson(out, 2) + "\n";
}

void CheckConfig(const PartyConfig& config, const PartyIdentity& own) {
  const std::string who = RoleName(own.role);
  const auto need = [&](Role role, bool address) {
    const auto peer = config.peers.find(role);
    if (peer == config.peers.end()) {
      throw Error(fmt::format("configuration of {}: peers has no {}", who, RoleName(role)));
    }
    if (address && peer->second.address.empty()) {
      throw Error(fmt::format("configuration of {}: {} has no address", who, RoleName(role)));
    }
  };
  const bool server = own.role == Role::kFirstServer || own.role == Role::kSecondServer;
  if (server) {
    // The second server connects to the first.
    need(own.role == Role::kFirstServer ? Role::kSecondServer : Role::kFirstServer,
         own.role == Role::kSecondServer);
    need(Role::kDealer, false);
    need(Role::kProvider, false);
    if (config.listen.empty()) throw Error("configuration of " + who + ": no 'listen'");
  } else {
    need(Role::kFirstServer, true);
    need(Role::kSecondServer, true);
  }
  if ((server || own.role == Role::kDealer) && config.state.empty()) {
    throw Error("configuration of " + who + ": no 'state'");
  }
  if (!server && !config.policy.empty()) {
    throw Error("configuration of " + who + ": 'policy' is for servers alone");
  }
  std::set<std::string> keys = {own.pin};
  for (const auto& [role, peer] : config.peers) {
    if (role == own.role) throw Error(fmt::format("configuration of {}: is its own peer", who));
    if (keys.insert(peer.pin).second) continue;
    throw Error(fmt::format("configuration of {}: the key of {} has another role too", who,
                            RoleName(role)));
  }
}

}  // namespace sotto
