#include "mpc/integer_net.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "mpc/testing.h"

namespace sotto {
namespace {

IntegerNet SmallNet() {
  IntegerNet net;
  net.inputs = 2;
  net.units = 2;
  net.w1 = {8192, -4096, 16384, 0};
  net.b1 = {0, -(std::int64_t{1} << 26)};
  net.w2 = {8192, -4096};
  net.b_out = 7;
  net.x_max = 3 * 8192;
  return net;
}

TEST(IntegerNet, ScoresAreThoseWorkedOutByHand) {
  const IntegerNet net = SmallNet();
  // x = (1, 1): sums 0.5 and 1, so 1·0.5 − 0.5·1 = 0.
  EXPECT_EQ(Evaluate(net, std::vector<std::int32_t>{8192, 8192}), 7);
  // x = (1, 0): 1 − 0.5.
  EXPECT_EQ(Evaluate(net, std::vector<std::int32_t>{8192, 0}), (std::int64_t{1} << 38) + 7);
  // x = (−1, −2): both sums at or below 0.
  EXPECT_EQ(Evaluate(net, std::vector<std::int32_t>{-8192, -16384}), 7);
}

TEST(IntegerNet, InputsAreClipped) {
  const IntegerNet net = SmallNet();
  EXPECT_EQ(Evaluate(net, std::vector<std::int32_t>{1 << 30, -(1 << 30)}),
            Evaluate(net, std::vector<std::int32_t>{net.x_max, -net.x_max}));
}

void ExpectRefused(const std::function<void(IntegerNet&)>& change, const std::string& names) {
  IntegerNet net = SmallNet();
  CheckRanges(net);
  change(net);
  try {
    CheckRanges(net);
    FAIL() << names;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(names), std::string::npos) << error.what();
  }
}

TEST(IntegerNet, WhatDoesNotFitIsRefusedByName) {
  constexpr std::int64_t kLayer = std::int64_t{1} << 35, kScore = std::int64_t{1} << 56;
  ExpectRefused([](IntegerNet& net) { net.inputs = 0; }, "inputs is 0");
  ExpectRefused([](IntegerNet& net) { net.units = 3; }, "w1 has 4 values; 6 expected");
  ExpectRefused([](IntegerNet& net) { net.b1.clear(); }, "b1 has 0");
  ExpectRefused([](IntegerNet& net) { net.w2.push_back(1); }, "w2 has 3");
  ExpectRefused([](IntegerNet& net) { net.x_max = 0; }, "x_max is 0");
  ExpectRefused([](IntegerNet& net) { net.w1[0] = 32768; }, "w1 is 32768");
  ExpectRefused([](IntegerNet& net) { net.w1[0] = std::numeric_limits<std::int32_t>::min(); },
                "w1");
  ExpectRefused([](IntegerNet& net) { net.b1[1] = kLayer; }, "b1 is");
  ExpectRefused([](IntegerNet& net) { net.b1[1] = kLayer - 16384 * net.x_max; }, "unit 1 reaches");
  ExpectRefused([](IntegerNet& net) { net.b1[0] = std::numeric_limits<std::int64_t>::min(); },
                "b1");
  ExpectRefused([](IntegerNet& net) { net.b_out = -kScore; }, "b_out");
  ExpectRefused([](IntegerNet& net) { net.threshold = kScore; }, "threshold");
  ExpectRefused([](IntegerNet& net) { net.b_out = net.threshold = kScore / 2; }, "score");
  ExpectRefused([](IntegerNet& net) { net.w2[0] = std::numeric_limits<std::int32_t>::min(); },
                "score");
}

TEST(IntegerNet, BoundsHoldAtTheExtremesOfARandomNet) {
  const IntegerNet net = testing::RandomNet(50, 20, 1);
  for (std::uint32_t unit = 0; unit < net.units; ++unit) {
    for (const int sign : {-1, 1}) {
      const std::int64_t score = Evaluate(net, testing::ExtremeInput(net, unit, sign));
      EXPECT_LT(std::abs(score), std::int64_t{1} << 56);
    }
  }
}

}  // namespace
}  // namespace sotto
