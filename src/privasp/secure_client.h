// A client of the service: recordings in, scores or decisions out, and what each of them took.
// Both servers are spoken to at a time, but for a reservation: the first server names the ids that
// the second is asked for, so it takes two round trips. Reserve ahead of need.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mpc/parties.h"
#include "privasp/config.h"
#include "privasp/conversation.h"

namespace sotto {

struct SecureAnswer {
  std::optional<std::int64_t> score;  // 2^39; nothing where the policy is to tell decisions alone
  bool genuine = false;
};

// Of one query of one utterance or a batch, at the client.
struct QueryCost {
  double reserve_ms = 0.0;  // both reservations
  double query_ms = 0.0;    // from the first byte of the input to the decision
  std::uint64_t bytes_first = 0, bytes_second = 0;  // sent to each server
  std::uint64_t bytes_back = 0;                     // from both
  std::uint64_t bytes_servers = 0;  // one server to the other, by computation from the messages
  int rounds = 0;                   // exchanges of the servers
};

class SecureClient {
 public:
  // Connects to both servers and asks for the model (empty name: the newest). Throws Error or
  // Refused; also where the two servers offer different models, or features that this program does
  // not compute.
  SecureClient(const PartyConfig& config, std::string model = "");

  const OfferMessage& Offer() const { return offer_; }

  // Ahead of need: 1 to 128 utterances at both servers.
  std::array<ReservationMessage, 2> Reserve(std::uint32_t count);
  // `x`: one utterance after the other, as SpoofFrontEnd::Quantise gives them.
  std::vector<SecureAnswer> Ask(const std::array<ReservationMessage, 2>& reservations,
                                std::span<const std::int32_t> x);
  // Both. A model that was replaced in the meantime is asked for again, once.
  std::vector<SecureAnswer> Ask(std::span<const std::int32_t> x);

  const QueryCost& LastCost() const { return cost_; }

 private:
  void AskOffers();
  // What both answer to what they were sent. Both are heard, also where one refuses: the
  // connections stay in step.
  template <class Answer>
  std::array<Answer, 2> HearBoth();

  std::string name_;
  TlsParty party_;
  std::array<std::unique_ptr<Conversation>, 2> servers_;
  OfferMessage offer_;
  std::optional<Client> client_;
  QueryCost cost_;
};

}  // namespace sotto
