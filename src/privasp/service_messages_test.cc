#include "privasp/service_messages.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/error.h"
#include "mpc/testing.h"

namespace sotto {
namespace {

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

template <class Message>
std::string RefusalOf(const Message& message) {
  const SecretBytes bytes = message.Serialise();
  try {
    Message::Parse(bytes);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

template <std::size_t kBytes>
std::array<std::uint8_t, kBytes> Filled(std::uint8_t byte) {
  std::array<std::uint8_t, kBytes> bytes{};
  bytes.fill(byte);
  return bytes;
}

OfferMessage SomeOffer() {
  OfferMessage offer;
  offer.name = "small-1.0_a";
  offer.card = Provider(RandomNet(3, 2, 1), Scenario::kSharedModel).Card();
  offer.front_end = {{0.5F, -1.0F, 2.0F}, {1.0F, 0.25F, 3.0F}, offer.card.x_max};
  offer.fingerprint = "0123456789abcdef";
  offer.threshold = -77;
  return offer;
}

SegmentMessage SomeSegment() {
  return {Filled<16>(1), Filled<16>(2), {SecretBytes{1, 2, 3}, SecretBytes{4}}};
}

AnnounceMessage SomeAnnouncement() {
  return {SomeOffer().card,
          Filled<32>(3),
          {Filled<32>(4)},
          true,
          false,
          {{Filled<16>(5), 8, 3}, {Filled<16>(6), 1, 1}}};
}

ClaimMessage SomeClaim() { return {Filled<16>(7), Filled<16>(8), 16, 8}; }

TEST(ServiceMessages, AreReadExactly) {
  ExpectExactParsing(RefusalMessage{Reason::kStock, "none is left"});
  ExpectExactParsing(AcceptedMessage{});
  ExpectExactParsing(AskOfferMessage{"small", Filled<16>(9)});
  ExpectExactParsing(SomeOffer());
  ExpectExactParsing(AskReservationMessage{Filled<16>(1), "0123456789abcdef", 3, {}});
  ExpectExactParsing(AskReservationMessage{Filled<16>(1), "", 2, {Filled<16>(2), Filled<16>(3)}});
  ExpectExactParsing(LoadModelMessage{SomeOffer(), {1, 2, 3, 4}});
  ExpectExactParsing(RetireMessage{"small", {7}});
  ExpectExactParsing(AskStatusMessage{});
  ExpectExactParsing(StatusMessage{"{}"});
  ExpectExactParsing(AskDemandMessage{});
  ExpectExactParsing(
      DemandMessage{{{SomeOffer().card, Filled<32>(1), 7}, {SomeOffer().card, {}, 0}}});
  ExpectExactParsing(SomeSegment());
  ExpectExactParsing(SomeAnnouncement());
  ExpectExactParsing(SomeClaim());
  ExpectExactParsing(ClaimedMessage{SomeClaim(), true});
  ExpectExactParsing(BurnMessage{Filled<16>(1), {Filled<16>(2), Filled<16>(3)}});
  ExpectExactParsing(PingMessage{});
  ExpectExactParsing(PieceMessage{100, 90, {1, 2, 3}});
}

TEST(ServiceMessages, EveryReasonHasANameAndComesBack) {
  std::set<std::string> names;
  for (int reason = 1; reason <= static_cast<int>(kLastReason); ++reason) {
    const RefusalMessage refusal{static_cast<Reason>(reason), ""};
    EXPECT_EQ(RefusalMessage::Parse(refusal.Serialise()).reason, refusal.reason);
    EXPECT_TRUE(names.insert(ReasonName(refusal.reason)).second) << reason;
  }
  EXPECT_EQ(RefusalOf(RefusalMessage{static_cast<Reason>(0), ""}),
            "refusal message: reason is 0; 1 to 12 allowed");
  EXPECT_NE(RefusalOf(RefusalMessage{static_cast<Reason>(static_cast<int>(kLastReason) + 1), ""}),
            "");
}

TEST(ServiceMessages, CountsOutOfRangeAreRefused) {
  AskReservationMessage question{{}, "", 0, {}};
  EXPECT_EQ(RefusalOf(question),
            "question for a reservation message: count is 0; 1 to 128 allowed");
  question.count = kMaxBatch + 1;
  EXPECT_NE(RefusalOf(question), "");
  question.count = 2;
  question.ids = {Filled<16>(1)};
  EXPECT_EQ(RefusalOf(question),
            "question for a reservation message: ids is 1; none, or as many as counted allowed");
  SegmentMessage segment = SomeSegment();
  segment.pieces.clear();
  EXPECT_NE(RefusalOf(segment), "");
  segment.pieces.assign(MaterialStore::kMaxPieces + 1, SecretBytes{1});
  EXPECT_NE(RefusalOf(segment), "");
  EXPECT_NE(RefusalOf(DemandMessage{std::vector<ModelDemand>(65, {SomeOffer().card, {}, 0})}), "");
  AnnounceMessage announcement = SomeAnnouncement();
  announcement.segments[0].spent = 9;
  EXPECT_EQ(RefusalOf(announcement),
            "announcement message: spent is 9; no more than there are allowed");
  ClaimMessage claim = SomeClaim();
  claim.first = MaterialStore::kMaxPieces + 1;
  EXPECT_NE(RefusalOf(claim), "");
  EXPECT_NE(RefusalOf(BurnMessage{{}, {}}), "");
  EXPECT_NE(RefusalOf(BurnMessage{{}, std::vector<QueryId>(kMaxBatch + 1)}), "");
}

TEST(ServiceMessages, ACountThatPromisesMoreThanThereIsAllocatesNothing) {
  for (SecretBytes bytes : {SomeSegment().Serialise(), SomeAnnouncement().Serialise()}) {
    // Wherever a count is: bytes that are too few for it.
    for (std::size_t at = 6; at + 4 <= bytes.size(); ++at) {
      SecretBytes changed(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
      changed.insert(changed.end(), 4, 0xFF);
      EXPECT_THROW(SegmentMessage::Parse(changed), Error);
      EXPECT_THROW(AnnounceMessage::Parse(changed), Error);
    }
  }
}

TEST(ServiceMessages, AnOfferFitsItsCard) {
  OfferMessage offer = SomeOffer();
  offer.front_end.mean.pop_back();
  EXPECT_EQ(RefusalOf(offer), "offer message: a front end that is not that of the card");
  offer = SomeOffer();
  ++offer.front_end.x_max;
  EXPECT_NE(RefusalOf(offer), "");
  for (const char* name : {"", "a b", "../a", "a\n", "ä"}) {
    offer = SomeOffer();
    offer.name = name;
    EXPECT_NE(RefusalOf(offer), "") << name;
  }
  EXPECT_NO_THROW(CheckModelName(std::string(64, 'a')));
  EXPECT_THROW(CheckModelName(std::string(65, 'a')), Error);
}

TEST(ServiceMessages, AnOffersFingerprintIsOfAllOfIt) {
  const OfferMessage offer = SomeOffer();
  OfferMessage changed = offer;
  EXPECT_EQ(changed.Fingerprint(), offer.Fingerprint());
  ++changed.threshold;
  EXPECT_NE(changed.Fingerprint(), offer.Fingerprint());
  changed = offer;
  changed.front_end.mean[2] += 1.0F;
  EXPECT_NE(changed.Fingerprint(), offer.Fingerprint());
}

}  // namespace
}  // namespace sotto
