#include "privasp/service_status.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"

namespace sotto {
namespace {

ServiceStatus SomeStatus() {
  ServiceStatus status;
  status.role = "server1";
  status.name = "a";
  status.up_s = 1.5;
  status.clients = 2;
  status.link = true;
  status.models = {{.name = "small",
                    .id = std::string(32, '0'),
                    .scenario = 1,
                    .units = 512,
                    .policy = "score",
                    .fingerprint = "0123456789abcdef",
                    .state = "active",
                    .stored = 8,
                    .ready = 4,
                    .reserved = 1,
                    .running = 3}};
  status.dealer_seen_s_ago = 0.25;
  status.counts = {{"peer", 1}, {"stock", ~std::uint64_t{0}}};
  return status;
}

std::string RefusalOf(const std::string& text) {
  try {
    ParseStatus(text);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Status, IsReadAsItWasWritten) {
  const std::string text = FormatStatus(SomeStatus());
  const ServiceStatus read = ParseStatus(text);
  EXPECT_EQ(FormatStatus(read), text);
  EXPECT_EQ(read.models.at(0).running, 3U);
  EXPECT_EQ(read.counts.at("stock"), ~std::uint64_t{0});
  ServiceStatus fresh;  // no dealer, no model, nothing counted
  EXPECT_EQ(FormatStatus(ParseStatus(FormatStatus(fresh))), FormatStatus(fresh));
  EXPECT_FALSE(ParseStatus(FormatStatus(fresh)).dealer_seen_s_ago.has_value());
}

TEST(Status, FieldsOfAnotherVersionArePassedOver) {
  nlohmann::json more = ParseJson(FormatStatus(SomeStatus()));
  more["colour"] = {{"deep", {1, 2, 3}}};
  more["models"][0]["weight"] = 7;
  EXPECT_EQ(FormatStatus(ParseStatus(more.dump())), FormatStatus(SomeStatus()));
}

TEST(Status, WhatIsNoneIsAnError) {
  for (const char* text : {"", "{", "[]", "null", "\"x\"", "{}", "\xff", "[[[[[[[["}) {
    EXPECT_NE(RefusalOf(text), "") << text;
  }
  const nlohmann::json good = ParseJson(FormatStatus(SomeStatus()));
  for (const auto& [name, value] : good.items()) {
    nlohmann::json bad = good;
    bad.erase(name);
    EXPECT_EQ(RefusalOf(bad.dump()).empty(), name == "dealer_seen_s_ago") << name;
    for (const nlohmann::json& other :
         {nlohmann::json(nullptr), nlohmann::json(-1), nlohmann::json({"a", {{"b", 1}}})}) {
      bad[name] = other;
      EXPECT_NE(RefusalOf(bad.dump()), "") << name << " " << other;
    }
  }
  for (const auto& [name, value] : good["models"][0].items()) {
    nlohmann::json bad = good;
    bad["models"][0].erase(name);
    EXPECT_EQ(RefusalOf(bad.dump()), "a server's status: no " + name);
    bad["models"][0][name] = nlohmann::json::array();
    EXPECT_NE(RefusalOf(bad.dump()), "") << name;
  }
  nlohmann::json bad = good;
  bad["counts"]["stock"] = "3";
  EXPECT_EQ(RefusalOf(bad.dump()), "a server's status: counts is no count");
  bad = good;
  bad["up_s"] = 1e300;
  EXPECT_EQ(RefusalOf(bad.dump()), "a server's status: up_s is no time in seconds");
}

TEST(Status, HoweverDeepItIsItIsOneError) {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  EXPECT_NE(RefusalOf(deep), "");
  EXPECT_NE(RefusalOf(R"({"role": )" + deep + "}"), "");
}

}  // namespace
}  // namespace sotto
