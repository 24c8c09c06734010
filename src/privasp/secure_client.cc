#include "privasp/secure_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <utility>

#include "base/error.h"

namespace sotto {
namespace {

using Clock = std::chrono::steady_clock;

double MsSince(Clock::time_point then) {
  return std::chrono::duration<double, std::milli>(Clock::now() - then).count();
}

const PartyConfig& Checked(const PartyConfig& config, const PartyIdentity& own) {
  if (own.role != Role::kClient) {
    throw Error(fmt::format("a client's certificate is of role client; this one is {}",
                            RoleName(own.role)));
  }
  CheckConfig(config, own);
  return config;
}

}  // namespace

SecureClient::SecureClient(const PartyConfig& config, std::string model)
    : name_(std::move(model)), party_(config.files) {
  Checked(config, party_.Own());
  const auto connect = [&](Role role) {
    return std::make_unique<Conversation>(party_, config, role);
  };
  auto second = std::async(std::launch::async, connect, Role::kSecondServer);
  servers_[0] = connect(Role::kFirstServer);
  servers_[1] = second.get();
  AskOffers();
}

template <class Answer>
std::array<Answer, 2> SecureClient::HearBoth() {
  std::array<Answer, 2> answers;
  std::optional<Refused> refused;
  for (std::size_t p = 0; p < 2; ++p) {
    try {
      answers[p] = servers_[p]->Receive<Answer>();
    } catch (const Refused& refusal) {
      if (!refused) refused = refusal;
    }
  }
  if (refused) throw Refused(*refused);
  return answers;
}

void SecureClient::AskOffers() {
  for (const auto& server : servers_) server->Send(AskOfferMessage{name_, {}});
  auto offers = HearBoth<OfferMessage>();
  offer_ = std::move(offers[0]);
  OfferMessage& second = offers[1];
  // While a model takes the place of another one server may name the new one first.
  if (second.card.id != offer_.card.id) {
    second = servers_[1]->Ask<OfferMessage>(AskOfferMessage{offer_.name, offer_.card.id});
  }
  if (second.Fingerprint() != offer_.Fingerprint()) {
    throw Error(fmt::format("the two servers offer different models under '{}'", offer_.name));
  }
  if (offer_.front_end.Fingerprint() != offer_.fingerprint) {
    throw Error(fmt::format("model '{}' takes features of fingerprint {}; this program computes {}",
                            offer_.name, offer_.fingerprint, offer_.front_end.Fingerprint()));
  }
  client_.emplace(offer_.card);
}

std::array<ReservationMessage, 2> SecureClient::Reserve(std::uint32_t count) {
  const auto start = Clock::now();
  AskReservationMessage question{offer_.card.id, offer_.fingerprint, count, {}};
  std::array<ReservationMessage, 2> reservations;
  reservations[0] = servers_[0]->Ask<ReservationMessage>(question);
  question.ids = reservations[0].ids;
  question.count = static_cast<std::uint32_t>(question.ids.size());
  if (question.count != count) throw Error("the first server reserved another number than asked");
  reservations[1] = servers_[1]->Ask<ReservationMessage>(question);
  cost_.reserve_ms = MsSince(start);
  return reservations;
}

std::vector<SecureAnswer> SecureClient::Ask(const std::array<ReservationMessage, 2>& reservations,
                                            std::span<const std::int32_t> x) {
  const auto inputs = client_->Ask(reservations, x);
  const auto bytes = [&](std::size_t p) {
    return std::pair(servers_[p]->Line().BytesSent(), servers_[p]->Line().BytesReceived());
  };
  const std::array before = {bytes(0), bytes(1)};
  const auto start = Clock::now();
  for (std::size_t p = 0; p < 2; ++p) servers_[p]->Send(inputs[p]);
  const auto results = HearBoth<ResultMessage>();
  if (results[0].ids != reservations[0].ids) throw Error("the servers answer another query");
  const auto answers = client_->Answer(results);
  cost_.query_ms = MsSince(start);
  const std::array after = {bytes(0), bytes(1)};
  cost_.bytes_first = after[0].first - before[0].first;
  cost_.bytes_second = after[1].first - before[1].first;
  cost_.bytes_back = after[0].second - before[0].second + after[1].second - before[1].second;
  const ModelCard& card = offer_.card;
  const auto exchange = [&](std::size_t values) {
    ExchangeMessage message{reservations[0].ids, false, {}, {}};
    return message.Serialise().size() + 8 * values + 4;
  };
  const std::size_t batch = reservations[0].ids.size();
  cost_.rounds = card.decision_only ? 2 : 1;
  cost_.bytes_servers = exchange(batch * card.units) + (card.decision_only ? exchange(batch) : 0);

  std::vector<SecureAnswer> told;
  for (const std::int64_t answer : answers) {
    if (card.decision_only) {
      told.push_back({std::nullopt, answer == 1});
    } else {
      told.push_back({answer, answer >= offer_.threshold});
    }
  }
  return told;
}

std::vector<SecureAnswer> SecureClient::Ask(std::span<const std::int32_t> x) {
  const auto count = static_cast<std::uint32_t>(x.size() / std::max(1U, offer_.card.inputs));
  if (count < 1 || count > kMaxBatch) {
    throw Error(fmt::format("{} utterances; 1 to {} allowed", count, kMaxBatch));
  }
  for (bool again = true;; again = false) {
    try {
      return Ask(Reserve(count), x);
    } catch (const Refused& refused) {
      if (refused.Why() != Reason::kModel || !again) throw;
      const std::string fingerprint = offer_.fingerprint;
      AskOffers();
      // The inputs were made for the features of the model before.
      if (offer_.fingerprint != fingerprint) throw;
    }
  }
}

}  // namespace sotto
