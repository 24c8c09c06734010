#include "mpc/messages.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "mpc/testing.h"

namespace sotto {
namespace {

using testing::Deployment;
using testing::RandomNet;

// Comes back the same; no shorter, longer, other-version or other-kind text of it is read.
template <class Message>
void ExpectExactParsing(const Message& message) {
  const SecretBytes bytes = message.Serialise();
  EXPECT_EQ(Message::Parse(bytes).Serialise(), bytes);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THROW(Message::Parse(std::span(bytes).first(length)), Error) << length;
  }
  SecretBytes changed = bytes;
  changed.push_back(0);
  EXPECT_THROW(Message::Parse(changed), Error);
  for (const std::size_t at : {0, 4, 5}) {
    changed = bytes;
    changed[at] ^= 0x40U;
    EXPECT_THROW(Message::Parse(changed), Error);
  }
}

void ExpectExactParsingOfAll(Scenario scenario) {
  IntegerNet net = RandomNet(3, 2, 1);
  net.decision_only = true;
  Deployment parties(net, scenario);
  ExpectExactParsing(parties.Card());
  const auto t = parties.Run(std::vector<std::int32_t>(6, 5));
  ExpectExactParsing(t.material[0][1]);
  for (std::size_t p = 0; p < 2; ++p) {
    ExpectExactParsing(t.reservations[p]);
    ExpectExactParsing(t.inputs[p]);
    ExpectExactParsing(t.exchanges[0][p]);
    ExpectExactParsing(t.results[p]);
    ExpectExactParsing(parties.At(p).Hello());
  }
}

TEST(Messages, OfScenario1AreReadExactly) { ExpectExactParsingOfAll(Scenario::kPublicModel); }
TEST(Messages, OfScenario2AreReadExactly) { ExpectExactParsingOfAll(Scenario::kSharedModel); }

TEST(Messages, OfTheSetUpAreReadExactly) {
  const Provider open(RandomNet(3, 2, 2), Scenario::kPublicModel);
  ExpectExactParsing(open.PublicModel());
  const Provider shared(RandomNet(3, 2, 2), Scenario::kSharedModel);
  const auto model = shared.ShareModel();
  ExpectExactParsing(model[0]);
  Dealer dealer;
  dealer.AddModel(shared.Card());
  const auto masks = dealer.Masks(shared.Card().id);
  ExpectExactParsing(masks[1]);
  Server server(false);
  ExpectExactParsing(server.LoadModel(model[0], masks[0]));
}

TEST(Messages, ACountThatPromisesMoreThanThereIsAllocatesNothing) {
  SecretBytes bytes = ResultMessage{{QueryId{}}, false, {1}}.Serialise();
  bytes[bytes.size() - 12] = 128;
  EXPECT_THROW(ResultMessage::Parse(bytes), Error);
  bytes[bytes.size() - 10] = 255;
  EXPECT_THROW(ResultMessage::Parse(bytes), Error);
}

TEST(Messages, AWrongFieldIsNamed) {
  ModelCard card = Provider(RandomNet(3, 2, 3), Scenario::kPublicModel).Card();
  card.units = 0;
  try {
    ModelCard::Parse(card.Serialise());
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "model card message: units is 0; 1 to 65536 allowed");
  }
}

}  // namespace
}  // namespace sotto
