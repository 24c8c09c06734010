// The protocol against the plain net, and what the parties refuse.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/parallel.h"
#include "mpc/testing.h"

namespace sotto {
namespace {

using testing::Deployment;
using testing::ExtremeInput;
using testing::PlainAnswer;
using testing::RandomInput;
using testing::RandomNet;

void ExpectPlainAnswers(const IntegerNet& net, Deployment& parties,
                        const std::vector<std::vector<std::int32_t>>& inputs) {
  std::vector<std::int32_t> x;
  for (const auto& input : inputs) x.insert(x.end(), input.begin(), input.end());
  const auto transcript = parties.Run(x);
  ASSERT_EQ(transcript.answers.size(), inputs.size());
  for (std::size_t u = 0; u < inputs.size(); ++u) {
    ASSERT_EQ(transcript.answers[u], PlainAnswer(net, inputs[u])) << "utterance " << u;
  }
}

class Protocol : public ::testing::TestWithParam<std::tuple<Scenario, bool>> {
 protected:
  static IntegerNet Net(std::uint32_t inputs, std::uint32_t units, std::uint64_t seed) {
    IntegerNet net = RandomNet(inputs, units, seed);
    net.decision_only = std::get<1>(GetParam());
    return net;
  }
  static Scenario TheScenario() { return std::get<0>(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(All, Protocol,
                         ::testing::Combine(::testing::Values(Scenario::kPublicModel,
                                                              Scenario::kSharedModel),
                                            ::testing::Bool()));

TEST_P(Protocol, AnswersAsThePlainNetForAnyShapeAndBatch) {
  SeededRng rng(1);
  const struct {
    std::uint32_t inputs, units;
    std::size_t batch;
  } cases[] = {{1, 1, 1}, {3, 7, 2}, {30, 9, 5}, {64, 16, 128}, {297, 33, 4}};
  for (const auto& shape : cases) {
    const IntegerNet net = Net(shape.inputs, shape.units, shape.units);
    Deployment parties(net, TheScenario());
    for (int round = 0; round < 3; ++round) {
      std::vector<std::vector<std::int32_t>> inputs;
      for (std::size_t u = 0; u < shape.batch; ++u) inputs.push_back(RandomInput(net, rng));
      ExpectPlainAnswers(net, parties, inputs);
    }
  }
}

TEST_P(Protocol, AnswersAsThePlainNetAtTheEdgesOfTheRange) {
  const IntegerNet net = Net(97, 16, 2);
  Deployment parties(net, TheScenario());
  std::vector<std::vector<std::int32_t>> inputs;
  for (std::uint32_t unit = 0; unit < net.units; ++unit) {
    for (const int sign : {-1, 1}) inputs.push_back(ExtremeInput(net, unit, sign));
  }
  for (const std::int32_t value :
       {0, 1, -1, net.x_max, -net.x_max, std::numeric_limits<std::int32_t>::max(),
        std::numeric_limits<std::int32_t>::min()}) {
    inputs.emplace_back(net.inputs, value);
  }
  ExpectPlainAnswers(net, parties, inputs);
}

TEST_P(Protocol, ThresholdIsExactToTheLastUnit) {
  IntegerNet net = Net(5, 3, 3);
  const std::vector<std::int32_t> x = {100, -200, 300, -400, 500};
  const std::int64_t score = Evaluate(net, x);
  for (const std::int64_t offset : {-1, 0, 1}) {
    net.threshold = score + offset;
    Deployment parties(net, TheScenario());
    ExpectPlainAnswers(net, parties, {x});
  }
}

TEST_P(Protocol, MessagesOf1024UnitsAreAsLongAsPromised) {
  const IntegerNet net = Net(2970, 1024, 4);
  Deployment parties(net, TheScenario());
  SeededRng rng(4);
  const auto x = RandomInput(net, rng);
  const auto transcript = parties.Run(x);
  EXPECT_EQ(transcript.answers.at(0), PlainAnswer(net, x));
  for (const std::size_t bytes : transcript.input_bytes) EXPECT_LE(bytes, 26000U);
  EXPECT_LE(transcript.exchange_bytes, 8400U);
  EXPECT_LE(transcript.material_bytes, 1900000U);
}

TEST_P(Protocol, AnIdServesOnce) {
  const IntegerNet net = Net(4, 3, 5);
  Deployment parties(net, TheScenario());
  const auto dealt = parties.Stock(1);
  EXPECT_THROW(parties.At(0).AddMaterial({dealt[0][0]}), Error);
  const auto reservations = parties.Reserve(1);
  EXPECT_THROW(parties.At(1).Reserve(reservations[0].ids), Error);
  EXPECT_THROW(parties.At(0).AddMaterial({dealt[0][0]}), Error);
  const std::vector<std::int32_t> x(4, 1);
  const auto inputs = parties.TheClient().Ask(reservations, x);
  parties.At(0).Take(inputs[0]);
  EXPECT_THROW(parties.At(0).Take(inputs[0]), Error);
  parties.At(1).Burn(reservations[1].ids);
  EXPECT_THROW(parties.At(1).Take(inputs[1]), Error);
}

TEST_P(Protocol, ServersThatSawDifferentInputsBothRefuseAndBurnTheQuery) {
  const IntegerNet net = Net(4, 3, 6);
  Deployment parties(net, TheScenario());
  parties.Stock(1);
  const auto reservations = parties.Reserve(1);
  const auto one = parties.TheClient().Ask(reservations, std::vector<std::int32_t>(4, 1));
  const auto other = parties.TheClient().Ask(reservations, std::vector<std::int32_t>(4, 2));
  const auto first = parties.At(0).Take(one[0]);
  const auto second = parties.At(1).Take(other[1]);
  EXPECT_THROW(parties.At(0).Exchange(second), Error);
  EXPECT_THROW(parties.At(1).Exchange(first), Error);
  EXPECT_THROW(parties.At(0).Exchange(first), Error) << "burnt";
}

TEST_P(Protocol, AServerThatBeganAgainFinishesNoQueryOfTheEpochBefore) {
  const IntegerNet net = Net(4, 3, 7);
  Deployment parties(net, TheScenario());
  parties.Stock(1);
  const auto reservations = parties.Reserve(1);
  const auto inputs = parties.TheClient().Ask(reservations, std::vector<std::int32_t>(4, 1));
  const auto first = parties.At(0).Take(inputs[0]);
  const Server restarted(true);
  parties.At(1).Meet(restarted.Hello());
  const auto second = parties.At(1).Take(inputs[1]);
  EXPECT_THROW(parties.At(0).Exchange(second), Error);
  EXPECT_THROW(parties.At(1).Exchange(first), Error);
}

TEST_P(Protocol, WhatDoesNotFitTheModelIsRefused) {
  const IntegerNet net = Net(4, 3, 8);
  Deployment parties(net, TheScenario());
  auto dealt = parties.deal(3);
  EXPECT_THROW(parties.At(1).AddMaterial({dealt[0][0]}), Error) << "the other server's";
  dealt[0][0].model[0] ^= 1U;
  EXPECT_THROW(parties.At(0).AddMaterial({dealt[0][0]}), Error) << "another model's";
  dealt[1][0].relu.keys.shape.bits = 34;
  EXPECT_THROW(parties.At(0).AddMaterial({dealt[1][0]}), Error) << "of another shape";
  parties.Stock(2);
  EXPECT_THROW(parties.Reserve(3), Error) << "more than the stock";
  EXPECT_THROW(parties.Reserve(0), Error);
  const auto reservations = parties.Reserve(2);
  EXPECT_THROW(parties.TheClient().Ask(reservations, std::vector<std::int32_t>(4, 1)), Error);
  auto inputs = parties.TheClient().Ask(reservations, std::vector<std::int32_t>(8, 1));
  inputs[1].values.pop_back();
  EXPECT_THROW(parties.At(1).Take(inputs[1]), Error);
}

TEST_P(Protocol, QueriesUnderWayAtOnceDoNotMix) {
  const IntegerNet net = Net(6, 5, 12);
  Deployment parties(net, TheScenario());
  constexpr std::size_t kQueries = 64;
  parties.Stock(kQueries);
  std::vector<std::array<ReservationMessage, 2>> reservations;
  for (std::size_t q = 0; q < kQueries; ++q) reservations.push_back(parties.Reserve(1));
  ParallelFor(kQueries, 4, [&](std::size_t q) {
    SeededRng rng(q);
    const auto x = RandomInput(net, rng);
    const auto inputs = parties.TheClient().Ask(reservations[q], x);
    std::array<std::variant<ExchangeMessage, ResultMessage>, 2> last = {
        parties.At(0).Take(inputs[0]), parties.At(1).Take(inputs[1])};
    while (std::holds_alternative<ExchangeMessage>(last[0])) {
      auto first = parties.At(0).Exchange(std::get<ExchangeMessage>(last[1]));
      last[1] = parties.At(1).Exchange(std::get<ExchangeMessage>(last[0]));
      last[0] = std::move(first);
    }
    const auto answers = parties.TheClient().Answer(
        {std::get<ResultMessage>(last[0]), std::get<ResultMessage>(last[1])});
    EXPECT_EQ(answers[0], PlainAnswer(net, x)) << q;
  });
}

TEST(ProtocolScenario1, AShareThatIsNotTheCommittedOneIsRefused) {
  const IntegerNet net = RandomNet(4, 3, 9);
  Deployment parties(net, Scenario::kPublicModel);
  parties.Stock(1);
  const auto reservations = parties.Reserve(1);
  auto inputs = parties.TheClient().Ask(reservations, std::vector<std::int32_t>(4, 1));
  inputs[0].committed->share_seed[0] ^= 1U;
  inputs[1].values[0] ^= 1U;
  EXPECT_THROW(parties.At(0).Take(inputs[0]), Error);
  EXPECT_THROW(parties.At(1).Take(inputs[1]), Error);
}

TEST(ProtocolParties, AProviderRefusesANetThatDoesNotFit) {
  IntegerNet net = RandomNet(4, 3, 10);
  net.w1[5] = 1 << 15;
  EXPECT_THROW(Provider(net, Scenario::kSharedModel), Error);
}

TEST(ProtocolParties, AServerRefusesAKeyOfSmallOrderAndItsOwn) {
  Server server(false);
  EXPECT_THROW(server.Meet(HelloMessage{}), Error);
  EXPECT_THROW(server.Meet(server.Hello()), Error);
}

// 10,000 vectors at full size: a fifth of the values clipped, every hundredth vector at an extreme.
TEST_P(Protocol, SlowHasNoMismatchOn10000Vectors) {
  const bool decision = std::get<1>(GetParam());
  const IntegerNet net = Net(2970, decision ? 1024 : 512, 11);
  Deployment parties(net, TheScenario());
  SeededRng rng(11);
  // Decisions are scores compared: a tenth of the vectors will do for them.
  const std::size_t total = decision ? 1000 : 10000, batch = 50;
  for (std::size_t done = 0; done < total; done += batch) {
    std::vector<std::vector<std::int32_t>> inputs;
    for (std::size_t u = 0; u < batch; ++u) {
      const std::size_t i = done + u;
      inputs.push_back(i % 100 == 0
                           ? ExtremeInput(net, static_cast<std::uint32_t>(i / 100) % net.units,
                                          i % 200 == 0 ? 1 : -1)
                           : RandomInput(net, rng));
    }
    ASSERT_NO_FATAL_FAILURE(ExpectPlainAnswers(net, parties, inputs)) << "after " << done;
  }
}

}  // namespace
}  // namespace sotto
