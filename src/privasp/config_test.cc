#include "privasp/config.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"

namespace sotto {
namespace {

std::string Pin(char letter) { return std::string(64, letter); }

nlohmann::json Good() {
  return {{"certificate", "party.pem"},
          {"key", "keys/../party.key"},
          {"authority", "/etc/sotto/authority.pem"},
          {"listen", "127.0.0.1:7701"},
          {"state", "state"},
          {"policy", "decision"},
          {"peers",
           {{"server2", {{"address", "b.example.org:7701"}, {"pin", Pin('2')}}},
            {"dealer", {{"pin", Pin('d')}}},
            {"provider", {{"pin", Pin('e')}}}}},
          {"limits", {{"stock", 64}, {"ready", 8}, {"query_s", 0.5}}}};
}

PartyConfig Parsed(const nlohmann::json& config) {
  return ParseConfig(config.dump(), "/home/a", "a.json");
}

std::string RefusalOf(const std::string& text) {
  try {
    ParseConfig(text, "/home/a", "a.json");
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Configuration, IsReadWithPathsFromItsFolder) {
  const PartyConfig config = Parsed(Good());
  EXPECT_EQ(config.files.certificate, "/home/a/party.pem");
  EXPECT_EQ(config.files.key, "/home/a/party.key");
  EXPECT_EQ(config.files.authority, "/etc/sotto/authority.pem");
  EXPECT_EQ(config.listen, "127.0.0.1:7701");
  EXPECT_EQ(config.state, "/home/a/state");
  EXPECT_EQ(config.Peer(Role::kSecondServer).address, "b.example.org:7701");
  EXPECT_EQ(config.Peer(Role::kDealer).pin, Pin('d'));
  EXPECT_EQ(config.Peer(Role::kDealer).address, "");
  EXPECT_EQ(config.policy, "decision");
  EXPECT_EQ(config.limits.stock, 64U);
  EXPECT_EQ(config.limits.query_s, 0.5);
  EXPECT_EQ(config.limits.segment, ServiceLimits{}.segment);  // what is not there has its default
}

TEST(Configuration, IsWrittenAsItIsRead) {
  const PartyConfig config = Parsed(Good());
  const std::string text = FormatConfig(config);
  EXPECT_EQ(FormatConfig(ParseConfig(text, "/elsewhere", "b.json")), text);
}

TEST(Configuration, WhatIsWrongIsNamed) {
  const auto with = [](const char* pointer, const nlohmann::json& value) {
    nlohmann::json config = Good();
    config[nlohmann::json::json_pointer(pointer)] = value;
    return RefusalOf(config.dump());
  };
  EXPECT_EQ(RefusalOf("{"), "a.json: is no JSON");
  EXPECT_EQ(RefusalOf("[]"), "a.json: the configuration is no object");
  EXPECT_EQ(RefusalOf("{}"), "a.json: certificate is missing");
  EXPECT_EQ(with("/quota", 3), "a.json: 'quota' is no field of the configuration");
  EXPECT_EQ(with("/limits/stocks", 3), "a.json: 'stocks' is no field of limits");
  EXPECT_EQ(with("/peers/dealer/key", "x"), "a.json: 'key' is no field of dealer");
  EXPECT_EQ(with("/peers/server3", {{"pin", Pin('3')}}),
            "a.json: peers: 'server3' is no role: client, provider, dealer, server1, server2 are");
  EXPECT_EQ(with("/listen", ""), "a.json: listen is no text");
  EXPECT_EQ(with("/key", 1), "a.json: key is no text");
  EXPECT_EQ(with("/key", std::string("a\0b", 3)), "a.json: key holds a zero byte");
  EXPECT_EQ(with("/policy", "scores"), "a.json: policy is 'scores'; score or decision expected");
  EXPECT_EQ(with("/policy", 1), "a.json: policy is no text");
  EXPECT_EQ(with("/peers", "x"), "a.json: peers is no object");
  EXPECT_EQ(with("/peers/dealer", nlohmann::json::object()), "a.json: dealer has no pin");
  EXPECT_EQ(with("/peers/dealer/pin", "12ab"),
            "a.json: pin is '12ab'; 64 hexadecimal digits expected");
  EXPECT_NE(with("/peers/dealer/pin", Pin('A')), "");
  EXPECT_EQ(with("/limits/stock", 0), "a.json: stock is 0; 1 to 1048576 allowed");
  for (const nlohmann::json& bad : {nlohmann::json(-1), nlohmann::json(1.5), nlohmann::json("3"),
                                    nlohmann::json(1ULL << 40), nlohmann::json(nullptr)}) {
    EXPECT_NE(with("/limits/stock", bad), "") << bad;
  }
  // However deep a list of lists is: it is not quoted.
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  EXPECT_EQ(RefusalOf(R"({"limits": {"stock": )" + deep + "}}"),
            "a.json: stock is no number; 1 to 1048576 allowed");
  EXPECT_EQ(with("/limits/query_s", 0), "a.json: query_s is 0; seconds up to 86400 allowed");
  EXPECT_NE(with("/limits/query_s", -1.0), "");
  EXPECT_NE(with("/limits/query_s", 1e300), "");
  EXPECT_EQ(with("/limits/segment", 65), "a.json: segment is more than 64");
  EXPECT_EQ(with("/limits/stock", 65537), "a.json: stock is more than 65536");
  EXPECT_EQ(with("/limits/ready", 65), "a.json: ready is more than stock");
}

std::string TroubleOf(const PartyConfig& config, Role role, const std::string& pin) {
  try {
    CheckConfig(config, {role, "a", pin});
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

PartyConfig ServersConfig() {
  PartyConfig config = Parsed(Good());
  config.peers[Role::kFirstServer] = {"a.example.org:7701", Pin('1')};
  config.policy.clear();
  return config;
}

TEST(Configuration, EveryRoleHasThePeersItNeeds) {
  const PartyConfig all = ServersConfig();
  for (const Role role : kRoles) {
    PartyConfig config = all;
    config.peers.erase(role);
    EXPECT_EQ(TroubleOf(config, role, Pin('f')), "") << RoleName(role);
    const bool server = role == Role::kFirstServer || role == Role::kSecondServer;
    PartyConfig strict = config;
    strict.policy = "decision";
    EXPECT_EQ(
        TroubleOf(strict, role, Pin('f')),
        server ? ""
               : fmt::format("configuration of {}: 'policy' is for servers alone", RoleName(role)));
    for (const Role peer : kRoles) {
      const bool is_server = peer == Role::kFirstServer || peer == Role::kSecondServer;
      const bool needed =
          peer != role &&
          (is_server || (server && (peer == Role::kDealer || peer == Role::kProvider)));
      PartyConfig without = config;
      without.peers.erase(peer);
      EXPECT_EQ(TroubleOf(without, role, Pin('f')).find(RoleName(peer)) != std::string::npos,
                needed)
          << RoleName(role) << " without " << RoleName(peer);
    }
    PartyConfig homeless = config;
    homeless.state.clear();
    EXPECT_EQ(TroubleOf(homeless, role, Pin('f')).empty(), !server && role != Role::kDealer);
    PartyConfig deaf = config;
    deaf.listen.clear();
    EXPECT_EQ(TroubleOf(deaf, role, Pin('f')).empty(), !server);
  }
}

TEST(Configuration, TheSecondServerKnowsWhereTheFirstIs) {
  PartyConfig config = ServersConfig();
  config.peers.erase(Role::kSecondServer);
  config.peers[Role::kFirstServer].address.clear();
  EXPECT_EQ(TroubleOf(config, Role::kSecondServer, Pin('f')),
            "configuration of server2: server1 has no address");
  config = ServersConfig();
  config.peers.erase(Role::kFirstServer);
  config.peers[Role::kSecondServer].address.clear();  // it connects
  EXPECT_EQ(TroubleOf(config, Role::kFirstServer, Pin('f')), "");
}

TEST(Configuration, OneKeyHasOneRole) {
  PartyConfig config = ServersConfig();
  config.peers.erase(Role::kFirstServer);
  EXPECT_NE(TroubleOf(config, Role::kFirstServer, Pin('d')), "");  // its own is the dealer's
  config.peers[Role::kDealer].pin = Pin('2');
  EXPECT_NE(TroubleOf(config, Role::kFirstServer, Pin('f')).find("has another role too"),
            std::string::npos);
  EXPECT_NE(TroubleOf(ServersConfig(), Role::kFirstServer, Pin('f')).find("its own peer"),
            std::string::npos);
}

}  // namespace
}  // namespace sotto
