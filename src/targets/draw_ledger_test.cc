#include "targets/draw_ledger.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/error.h"

namespace sotto {
namespace {

TEST(DrawLedger, CountsADrawOnceHoweverOftenItIsMade) {
  DrawLedger ledger;
  for (int i = 0; i < 3; ++i) {
    ledger.Enter("u", {"s", "b"});
    ledger.Enter("u", {"s", "a"});
    ledger.Enter("v", {"s", "a"});
    ledger.Enter("u", {"r", "a"});
  }
  EXPECT_EQ(ledger.Of("u"), (std::vector<TargetDraw>{{"r", "a"}, {"s", "a"}, {"s", "b"}}));
  EXPECT_EQ(ledger.Of("v"), (std::vector<TargetDraw>{{"s", "a"}}));
  EXPECT_TRUE(ledger.Of("w").empty());
}

TEST(DrawLedger, RefusesMoreThanWasDeclared) {
  DrawLedger ledger(2);
  ledger.Enter("u", {"s", "a"});
  ledger.Enter("u", {"s", "b"});
  EXPECT_NO_THROW(ledger.Enter("u", {"s", "a"}));
  EXPECT_THROW(ledger.Enter("u", {"s", "c"}), Error);
  EXPECT_NO_THROW(ledger.Enter("u", {"r", "c"}));  // another speaker's
  EXPECT_EQ(ledger.Of("u").size(), 3U);
}

TEST(DrawLedger, IsWrittenByManyThreads) {
  DrawLedger ledger;
  std::vector<std::jthread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&ledger] {
      for (int i = 0; i < 200; ++i) ledger.Enter("u", {"s", std::to_string(i)});
    });
  }
  threads.clear();
  EXPECT_EQ(ledger.Of("u").size(), 200U);
}

}  // namespace
}  // namespace sotto
