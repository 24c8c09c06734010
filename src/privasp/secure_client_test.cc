// What a client, a provider and a dealer do not take from servers: each with one line.
#include "privasp/secure_client.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "mpc/wire.h"
#include "privasp/service_testing.h"
#include "privasp/tls_testing.h"
#include "spoof/testing.h"

namespace sotto {
namespace {

using testing::ErrorOf;
using testing::SmallSpoofModel;
using testing::SomeInputs;

using Answers = std::function<SecretBytes(std::span<const std::uint8_t> question)>;

// A server that answers as it is told, one connection after the other.
class StubServer {
 public:
  StubServer(const PartyConfig& config, Answers answers)
      : party_(config.files),
        listener_(config.listen),
        answers_(std::move(answers)),
        thread_([this] { Serve(); }) {}
  StubServer(const StubServer&) = delete;
  StubServer& operator=(const StubServer&) = delete;
  ~StubServer() {
    listener_.Shut();
    thread_.join();
  }

 private:
  void Serve() {
    for (;;) {
      const int descriptor = listener_.Accept(After(600.0));
      if (descriptor < 0) return;
      try {
        const auto channel = ListeningPort::Handshake(party_, descriptor, After(20.0));
        for (;;) {
          const SecretBytes question = channel->Receive(std::size_t{1} << 24, After(20.0));
          channel->Send(answers_(question), After(20.0));
        }
      } catch (const Error&) {
        // The client has gone, or it is left without an answer.
      }
    }
  }

  const TlsParty party_;
  ListeningPort listener_;
  const Answers answers_;
  std::thread thread_;
};

class Distrust : public ::testing::Test {
 protected:
  Distrust() { MakeLocalDeployment(folder_ / "parties", 0); }

  PartyConfig Config(Role role) const { return ReadConfig(LocalConfig(folder_ / "parties", role)); }

  OfferMessage Offer() const {
    return {"small", provider_.Card(), model_.front_end, model_.front_end.Fingerprint(), 5};
  }
  // As servers answer that know nothing of each other.
  SecretBytes Good(std::span<const std::uint8_t> question) const {
    const ModelId id = provider_.Card().id;
    switch (KindOf(question)) {
      case MessageKind::kAskOffer:
        return Offer().Serialise();
      case MessageKind::kAskReservation: {
        const auto asked = AskReservationMessage::Parse(question);
        return ReservationMessage{id, std::vector<QueryId>(asked.count), {}}.Serialise();
      }
      case MessageKind::kInput: {
        const auto ids = InputMessage::Parse(question).ids;
        return ResultMessage{ids, false, RingVector(ids.size())}.Serialise();
      }
      case MessageKind::kAskStatus:
        return StatusMessage{FormatStatus({})}.Serialise();
      default:
        return AcceptedMessage{}.Serialise();
    }
  }
  Answers GoodAnswers() const {
    return [this](auto question) { return Good(question); };
  }
  // The good answer to all questions but those of a kind.
  Answers But(MessageKind kind, const Answers& other) const {
    return [this, kind, other](auto question) {
      return KindOf(question) == kind ? other(question) : Good(question);
    };
  }

  // What a client says that asks such servers once.
  std::string AskedOf(const Answers& first, const Answers& second) const {
    const StubServer servers[] = {{Config(Role::kFirstServer), first},
                                  {Config(Role::kSecondServer), second}};
    return ErrorOf([&] {
      SecureClient client(Config(Role::kClient), "small");
      client.Ask(SomeInputs(model_, 2, 1));
    });
  }
  // The same where either server answers so.
  void ExpectSaid(const Answers& other, const std::string& words) const {
    EXPECT_SAYS(AskedOf(other, GoodAnswers()), words);
    EXPECT_SAYS(AskedOf(GoodAnswers(), other), words);
  }

  const SpoofModel model_ = SmallSpoofModel();
  const Provider provider_{model_.net, Scenario::kPublicModel};

 private:
  testing::TemporaryFolder folder_;
};

TEST_F(Distrust, GoodServersAreHeard) { EXPECT_EQ(AskedOf(GoodAnswers(), GoodAnswers()), ""); }

// A start costs the round trips of one server.
TEST_F(Distrust, BothServersAreAskedForOffersAtATime) {
  std::promise<void> second_is_asked;
  auto asked = second_is_asked.get_future();
  const auto first = But(MessageKind::kAskOffer, [&](auto question) {
    EXPECT_EQ(asked.wait_for(std::chrono::seconds(10)), std::future_status::ready);
    return Good(question);
  });
  const auto second = But(MessageKind::kAskOffer, [&](auto question) {
    second_is_asked.set_value();
    return Good(question);
  });
  EXPECT_EQ(AskedOf(first, second), "");
}

// While a model takes the place of another.
TEST_F(Distrust, TheFirstServerSaysWhichModelItIs) {
  const auto second = But(MessageKind::kAskOffer, [&](std::span<const std::uint8_t> question) {
    OfferMessage offer = Offer();
    if (AskOfferMessage::Parse(question).id != offer.card.id) offer.card.id = {1};
    return offer.Serialise();
  });
  EXPECT_EQ(AskedOf(GoodAnswers(), second), "");
  EXPECT_SAYS(AskedOf(second, GoodAnswers()), "different models");
}

TEST_F(Distrust, ModelsThatDiffer) {
  ExpectSaid(But(MessageKind::kAskOffer,
                 [&](auto) {
                   OfferMessage offer = Offer();
                   ++offer.threshold;
                   return offer.Serialise();
                 }),
             "the two servers offer different models under 'small'");
}

TEST_F(Distrust, FeaturesOfAnotherFingerprint) {
  const Answers other = But(MessageKind::kAskOffer, [&](auto) {
    OfferMessage offer = Offer();
    offer.fingerprint = "0123456789abcdef";
    return offer.Serialise();
  });
  EXPECT_SAYS(
      AskedOf(other, other),
      "model 'small' takes features of fingerprint 0123456789abcdef; this program computes");
}

TEST_F(Distrust, AnswersThatAreNone) {
  for (const MessageKind kind :
       {MessageKind::kAskOffer, MessageKind::kAskReservation, MessageKind::kInput}) {
    const auto changed = [&](const std::function<void(SecretBytes&)>& change) {
      return But(kind, [this, change](auto question) {
        SecretBytes answer = Good(question);
        change(answer);
        return answer;
      });
    };
    ExpectSaid(changed([](SecretBytes& answer) { answer[4] = kWireVersion + 1; }), "version");
    ExpectSaid(changed([](SecretBytes& answer) { answer.clear(); }), "message");
    ExpectSaid(changed([](SecretBytes& answer) { answer.pop_back(); }), "message");
    ExpectSaid(changed([](SecretBytes& answer) { answer.push_back(0); }), "message");
    ExpectSaid(changed([](SecretBytes& answer) { answer = PingMessage{}.Serialise(); }), "kind");
  }
}

TEST_F(Distrust, AnswersThatNeverCome) {
  ExpectSaid(But(MessageKind::kInput, [](auto) -> SecretBytes { throw Error("gone"); }),
             "closed by the peer");
}

TEST_F(Distrust, AnswersThatAreTooLong) {
  ExpectSaid(But(MessageKind::kAskOffer, [](auto) { return SecretBytes((64U << 20) + 1); }),
             "a frame of 67108865 bytes is refused: at most 67108864 are allowed");
}

TEST_F(Distrust, ReservationsOfAnotherNumber) {
  ExpectSaid(
      But(MessageKind::kAskReservation,
          [&](auto) {
            return ReservationMessage{provider_.Card().id, std::vector<QueryId>(1), {}}.Serialise();
          }),
      "reserved");
}

TEST_F(Distrust, ResultsThatDoNotFit) {
  const auto result = [&](const ResultMessage& message) {
    return But(MessageKind::kInput, [message](auto) { return message.Serialise(); });
  };
  const std::vector<QueryId> ids(2);
  const Answers shorter = result({ids, false, RingVector(1)});
  EXPECT_SAYS(AskedOf(shorter, GoodAnswers()), "the servers' results are not of one query");
  EXPECT_SAYS(AskedOf(GoodAnswers(), shorter), "the second share");
  ExpectSaid(result({ids, true, RingVector(2)}), "a result that is not of the model's policy");
  ExpectSaid(result({{ids[0]}, false, RingVector(1)}), "query");
  const Answers other = result({{QueryId{1}, QueryId{2}}, false, RingVector(2)});
  EXPECT_SAYS(AskedOf(other, other), "the servers answer another query");
}

TEST_F(Distrust, RefusalsAreOneLineWhateverTheySay) {
  const Answers rude = [](auto) {
    return RefusalMessage{Reason::kBusy, "no\n\x1b[2Jway\xff"}.Serialise();
  };
  ExpectSaid(rude, R"(refuses (busy): no\u000a\u001b[2Jway\xff)");
}

TEST_F(Distrust, StatusesThatAreNone) {
  const SpoofModel model = SmallSpoofModel();
  for (const char* status : {"", "[]", "{}", R"({"models": 3})", R"({"models": [[]]})"}) {
    const StubServer first(Config(Role::kFirstServer), But(MessageKind::kAskStatus, [&](auto) {
                             return StatusMessage{status}.Serialise();
                           }));
    const StubServer second(Config(Role::kSecondServer), GoodAnswers());
    EXPECT_SAYS(ErrorOf([&] {
                  LoadModelAtServers(Config(Role::kProvider), model, "small",
                                     Scenario::kPublicModel, 20.0);
                }),
                "a server's status: ");
  }
}

TEST_F(Distrust, DemandsThatAreNoneAreSaidAndNothingIsDealt) {
  const StubServer first(Config(Role::kFirstServer),
                         [](auto) { return AskDemandMessage{}.Serialise(); });
  const StubServer second(Config(Role::kSecondServer),
                          [](auto) { return DemandMessage{}.Serialise(); });
  ::testing::internal::CaptureStderr();
  {
    DealerService dealer(Config(Role::kDealer), EventLog("dealer", true));
    std::this_thread::sleep_for(std::chrono::milliseconds(1200));
    EXPECT_EQ(dealer.Delivered(), 0U);
  }
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("not dealing"), std::string::npos) << said;
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;  // once, however often
}

}  // namespace
}  // namespace sotto
