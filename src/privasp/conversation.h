// Asking a server: one frame out, one frame back, a refusal as an exception.
#pragma once

#include <memory>
#include <utility>

#include "privasp/config.h"
#include "privasp/service_messages.h"

namespace sotto {

// A connection to one of the two servers, which are `role` and have the key that is configured.
class Conversation {
 public:
  Conversation(const TlsParty& party, const PartyConfig& config, Role role);

  // Throws Refused where the server refuses, Error where it does not answer.
  SecretBytes Ask(std::span<const std::uint8_t> question);
  template <class Answer, class Question>
  Answer Ask(const Question& question) {
    return Answer::Parse(Ask(std::span<const std::uint8_t>(question.Serialise())));
  }
  // The two halves of it, for who asks both servers at a time.
  template <class Question>
  void Send(const Question& question) {
    SendFrame(question.Serialise());
  }
  template <class Answer>
  Answer Receive() {
    return Answer::Parse(ReceiveFrame());
  }

  const Channel& Line() const { return *channel_; }

 private:
  void SendFrame(std::span<const std::uint8_t> frame);
  SecretBytes ReceiveFrame();

  double request_s_;
  std::unique_ptr<Channel> channel_;
};

// "server1 'a' refuses (stock): …", one line whatever it says.
std::string RefusalText(const PartyIdentity& peer, Reason reason, const std::string& text);

}  // namespace sotto
