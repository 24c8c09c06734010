#include "privasp/conversation.h"

#include <fmt/format.h>

#include "base/text.h"
#include "mpc/wire.h"

namespace sotto {
namespace {

constexpr std::size_t kLargestAnswer = std::size_t{1} << 26;

}  // namespace

std::string RefusalText(const PartyIdentity& peer, Reason reason, const std::string& text) {
  return fmt::format("{} '{}' refuses ({}): {}", RoleName(peer.role), peer.name, ReasonName(reason),
                     Printable(text));
}

Conversation::Conversation(const TlsParty& party, const PartyConfig& config, Role role)
    : request_s_(config.limits.request_s),
      channel_(Channel::Connect(party, config.Peer(role).address, After(config.limits.request_s))) {
  channel_->Require(role, config.Peer(role).pin);
}

void Conversation::SendFrame(std::span<const std::uint8_t> frame) {
  try {
    channel_->Send(frame, After(request_s_));
  } catch (const Error& error) {
    // A server that has sent this party away said why before it went.
    const std::string reason = error.what();
    try {
      ReceiveFrame();
    } catch (const Refused&) {
      throw;
    } catch (const Error&) {
      // It did not.
    }
    throw Error(reason);
  }
}

SecretBytes Conversation::ReceiveFrame() {
  SecretBytes frame = channel_->Receive(kLargestAnswer, After(request_s_));
  if (KindOf(frame) == MessageKind::kRefusal) {
    const auto refusal = RefusalMessage::Parse(frame);
    throw Refused(refusal.reason, RefusalText(channel_->Peer(), refusal.reason, refusal.text));
  }
  return frame;
}

SecretBytes Conversation::Ask(std::span<const std::uint8_t> question) {
  SendFrame(question);
  return ReceiveFrame();
}

}  // namespace sotto
