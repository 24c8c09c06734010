// The parties together, over TLS on the loopback.
#include <gtest/gtest.h>

#include "privasp/service_testing.h"
#include "spoof/testing.h"

namespace sotto {
namespace {

using testing::Eventually;
using testing::ExpectPlainAnswers;
using testing::LocalParties;
using testing::SmallSpoofModel;
using testing::SomeInputs;

class Service : public ::testing::TestWithParam<std::tuple<Scenario, bool>> {};
INSTANTIATE_TEST_SUITE_P(All, Service,
                         ::testing::Combine(::testing::Values(Scenario::kPublicModel,
                                                              Scenario::kSharedModel),
                                            ::testing::Bool()));

TEST_P(Service, AnswersWhatThePlainNetDoes) {
  const auto [scenario, decision_only] = GetParam();
  SpoofModel model = SmallSpoofModel();
  model.net.decision_only = decision_only;
  LocalParties parties;
  ASSERT_TRUE(parties.Load(model, "small", scenario).active);
  SecureClient client = parties.ClientOf("small");
  ExpectPlainAnswers(client, model, SomeInputs(model, 1, 1));
  EXPECT_EQ(client.LastCost().rounds, decision_only ? 2 : 1);
  ExpectPlainAnswers(client, model, SomeInputs(model, 5, 2));
  // More than are ready: they come out of the store.
  ASSERT_TRUE(Eventually([&] { return parties.Stored("small") >= 40; }));
  ExpectPlainAnswers(client, model, SomeInputs(model, 20, 3));
}

TEST(Services, SeveralModelsAtATime) {
  const SpoofModel model = SmallSpoofModel(), wider = SmallSpoofModel(5);
  LocalParties parties;
  ASSERT_TRUE(parties.Load(model, "a", Scenario::kSharedModel).active);
  ASSERT_TRUE(parties.Load(wider, "b", Scenario::kPublicModel).active);
  SecureClient a = parties.ClientOf("a"), b = parties.ClientOf("b");
  ExpectPlainAnswers(a, model, SomeInputs(model, 3, 1));
  ExpectPlainAnswers(b, wider, SomeInputs(wider, 3, 1));
  EXPECT_EQ(parties.ClientOf().Offer().name, "b");
}

}  // namespace
}  // namespace sotto
