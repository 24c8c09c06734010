#include "privasp/quota.h"

#include <gtest/gtest.h>

#include "privasp/service_messages.h"

namespace sotto {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

const Quota::Time kStart{};

TEST(QuotaOfAnHour, SlidesWithTheTime) {
  Quota quota(10);
  EXPECT_TRUE(quota.Take("a", 6, kStart));
  EXPECT_TRUE(quota.Take("a", 4, kStart + minutes(30)));
  EXPECT_FALSE(quota.Take("a", 1, kStart + minutes(59)));
  // The first six are an hour ago, the four are not.
  EXPECT_FALSE(quota.Take("a", 7, kStart + minutes(60)));
  EXPECT_TRUE(quota.Take("a", 6, kStart + minutes(60)));
  EXPECT_FALSE(quota.Take("a", 1, kStart + minutes(89)));
  EXPECT_TRUE(quota.Take("a", 4, kStart + minutes(90)));
}

TEST(QuotaOfAnHour, WhatIsRefusedCountsNothing) {
  Quota quota(10);
  EXPECT_FALSE(quota.Take("a", 11, kStart));
  EXPECT_TRUE(quota.Take("a", 10, kStart));
}

TEST(QuotaOfAnHour, IsOfEachCertificate) {
  Quota quota(10);
  EXPECT_TRUE(quota.Take("a", 10, kStart));
  EXPECT_TRUE(quota.Take("b", 10, kStart));
  EXPECT_FALSE(quota.Take("a", 1, kStart));
}

TEST(QuotaOfAnHour, CountsOneByOneNoLaterThanAnHourAndAGrain) {
  Quota quota(3600);
  for (int i = 0; i < 3600; ++i) EXPECT_TRUE(quota.Take("a", 1, kStart + seconds(i)));
  EXPECT_FALSE(quota.Take("a", 1, kStart + seconds(3599)));
  EXPECT_TRUE(quota.Take("a", 10, kStart + seconds(3610)));
  EXPECT_FALSE(quota.Take("a", 20, kStart + seconds(3611)));
}

TEST(QuotaOfAnHour, WhatWasNotGivenComesBack) {
  Quota quota(10);
  EXPECT_TRUE(quota.Take("a", 4, kStart));
  EXPECT_TRUE(quota.Take("a", 6, kStart + minutes(1)));
  quota.GiveBack("a", 8);
  EXPECT_FALSE(quota.Take("a", 9, kStart + minutes(2)));
  EXPECT_TRUE(quota.Take("a", 8, kStart + minutes(2)));
  quota.GiveBack("nobody", 5);
  EXPECT_FALSE(quota.Take("nobody", 11, kStart));
  EXPECT_TRUE(quota.Take("nobody", 10, kStart));
}

std::string RefusalOf(Holdings& holdings, const std::string& pin, std::uint32_t count) {
  try {
    holdings.Take(pin, count);
    return "";
  } catch (const Refused& refused) {
    EXPECT_EQ(refused.Why(), Reason::kBusy);
    return refused.what();
  }
}

TEST(Holdings, AreBoundedForOneAndForAll) {
  Holdings holdings(5, 8);
  auto a = holdings.Take("a", 3);
  EXPECT_EQ(RefusalOf(holdings, "a", 3),
            "3 utterances are reserved for this certificate; 5 allowed");
  EXPECT_EQ(RefusalOf(holdings, "a", 2), "");  // and given back
  const auto b = holdings.Take("b", 4);
  EXPECT_EQ(RefusalOf(holdings, "a", 2), "7 utterances are reserved for all clients; 8 allowed");
  EXPECT_EQ(RefusalOf(holdings, "c", 2), "7 utterances are reserved for all clients; 8 allowed");
}

TEST(Holdings, AreGivenBackOneByOne) {
  Holdings holdings(4, 4);
  auto held = holdings.Take("a", 4);
  Holdings::Hold moved = std::move(held.back());
  held.clear();
  EXPECT_NE(RefusalOf(holdings, "b", 4), "");
  EXPECT_EQ(RefusalOf(holdings, "b", 3), "");
  EXPECT_EQ(RefusalOf(holdings, "a", 3), "");
  EXPECT_NE(RefusalOf(holdings, "a", 4), "");
}

}  // namespace
}  // namespace sotto
