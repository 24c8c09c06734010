#include "privasp/event_log.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <thread>
#include <vector>

#include "base/json.h"

namespace sotto {
namespace {

// What is written to standard error, line by line as JSON.
template <class Action>
std::vector<nlohmann::json> LinesOf(const Action& action) {
  ::testing::internal::CaptureStderr();
  action();
  std::istringstream text(::testing::internal::GetCapturedStderr());
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(ParseJson(line));
  return lines;
}

TEST(EventLogs, AreOneObjectALine) {
  const EventLog log("server1");
  const auto lines = LinesOf([&] {
    log.Info("refused", {{"peer", "a \"quoted\"\nname"}, {"count", std::int64_t{3}}, {"s", 0.5}});
    log.Warn("text that is no UTF-8", {{"reason", "\xff\xfe"}});
  });
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0]["level"], "info");
  EXPECT_EQ(lines[0]["party"], "server1");
  EXPECT_EQ(lines[0]["event"], "refused");
  EXPECT_EQ(lines[0]["peer"], "a \"quoted\"\nname");
  EXPECT_EQ(lines[0]["count"], 3);
  EXPECT_EQ(lines[0]["s"], 0.5);
  EXPECT_EQ(lines[1]["level"], "warning");
  EXPECT_TRUE(std::regex_match(std::string(lines[0]["time"]),
                               std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)")));
}

TEST(EventLogs, ThatAreQuietSayWarningsAlone) {
  const EventLog log("dealer", /*quiet=*/true);
  const auto lines = LinesOf([&] {
    log.Info("stopped");
    log.Warn("not dealing");
  });
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0]["event"], "not dealing");
}

TEST(EventLogs, LinesOfThreadsDoNotMix) {
  const EventLog log("server2");
  const auto lines = LinesOf([&] {
    constexpr int kThreads = 4;
    std::vector<std::thread> threads;
    threads.reserve(kThreads);
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 100; ++i) log.Info("event", {{"text", std::string(200, 'x')}});
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  EXPECT_EQ(lines.size(), 400U);
}

}  // namespace
}  // namespace sotto
