#include "privasp/connections.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace sotto {
namespace {

// Connections that are no client's: dealer, provider, the other server, status.
constexpr std::size_t kOthers = 32;
// Who has not yet said who it is. One more takes the place of the oldest: those who say nothing,
// however many, keep out nobody whose handshake is done before 32 others have come.
constexpr std::size_t kMostHandshakes = 32;
// A handshake takes one round trip and two signatures; this is three lost packets more.
constexpr double kHandshakeSeconds = 3.0;
constexpr double kRefusalSeconds = 1.0;
constexpr auto kPause = std::chrono::milliseconds(100);
constexpr const char* kStoppingText = "the server is shutting down";

}  // namespace

Connections::Connections(const TlsParty& party, const PartyConfig& config, const EventLog& log,
                         ConnectionHost host)
    : party_(party), config_(config), log_(log), host_(std::move(host)), port_(config.listen) {}

Connections::~Connections() {
  Finish(After(0.0));
  End();
}

void Connections::Start() {
  accepting_ = std::thread([this] { AcceptLoop(); });
}

std::size_t Connections::Clients() const {
  const std::scoped_lock lock(mutex_);
  return clients_;
}

void Connections::Finish(Deadline deadline) {
  if (stopping_.exchange(true)) return;
  port_.Shut();
  if (accepting_.joinable()) accepting_.join();
  while (!SayGoodbye() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

void Connections::End() { Reap(true); }

// --- Who comes and goes ---

void Connections::AcceptLoop() {
  while (!stopping_) {
    try {
      const int descriptor = port_.Accept(After(1.0));
      Reap(false);
      if (descriptor >= 0) Take(descriptor);
    } catch (const std::exception& error) {
      log_.Warn("accepting", {{"reason", error.what()}});
      std::this_thread::sleep_for(kPause);
    }
  }
}

void Connections::Take(int descriptor) {
  const std::scoped_lock lock(mutex_);
  // More than there is room for are not even told why: that costs a handshake.
  if (!MakeRoom()) {
    ::close(descriptor);
    host_.count("refused_connections");
    return;
  }
  Connection& connection = connections_.emplace_back();
  connection.handshake = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  try {
    connection.thread = std::thread([this, &connection, descriptor] {
      Run(connection, descriptor);
      connection.ended = true;
    });
  } catch (const std::exception&) {
    ::close(descriptor);
    ::close(connection.handshake);
    connections_.pop_back();
    throw;
  }
}

// For one more handshake, by ending the oldest where that is needed. With the lock held.
bool Connections::MakeRoom() {
  std::size_t known = 0, handshakes = 0;
  Connection* oldest = nullptr;
  for (Connection& connection : connections_) {
    const std::scoped_lock one(connection.mutex);
    if (connection.handshake < 0) {
      ++known;
    } else if (!connection.sent_away) {
      if (handshakes++ == 0) oldest = &connection;
    }
  }
  const std::size_t most = config_.limits.connections + kOthers;
  // The second: threads of those that were sent away have not all come to their end.
  if (known >= most || connections_.size() >= most + 2 * kMostHandshakes) return false;
  if (handshakes >= kMostHandshakes) {
    const std::scoped_lock one(oldest->mutex);
    oldest->sent_away = true;
    if (oldest->handshake >= 0) ::shutdown(oldest->handshake, SHUT_RDWR);
  }
  return true;
}

void Connections::Reap(bool all) {
  std::list<Connection> over;
  {
    const std::scoped_lock lock(mutex_);
    for (auto it = connections_.begin(); it != connections_.end();) {
      const auto next = std::next(it);
      if (all) {
        const std::scoped_lock one(it->mutex);
        if (it->handshake >= 0) ::shutdown(it->handshake, SHUT_RDWR);
        if (it->channel) it->channel->Shut();
      }
      if (all || it->ended) over.splice(over.end(), connections_, it);
      it = next;
    }
  }
  for (Connection& connection : over) connection.thread.join();
}

// Ends who asks for nothing at this moment, and says so to it. False while somebody is answered.
bool Connections::SayGoodbye() {
  const std::scoped_lock lock(mutex_);
  const auto busy = [](Connection& connection) {
    const std::scoped_lock one(connection.mutex);
    return connection.answering && !connection.ended;
  };
  if (std::any_of(connections_.begin(), connections_.end(), busy)) return false;
  const SecretBytes goodbye = RefusalMessage{Reason::kStopping, kStoppingText}.Serialise();
  for (Connection& connection : connections_) {
    const std::scoped_lock one(connection.mutex);
    if (!connection.channel || connection.answering || connection.ended ||
        connection.channel->Peer().role == Role::kSecondServer) {
      continue;
    }
    try {
      // Whoever asks next reads this as the answer.
      connection.channel->Send(goodbye, After(0.1));
    } catch (const Error&) {
      // It is gone.
    }
    connection.channel->Shut();
  }
  return true;
}

// --- One connection ---

// Nothing where it fails.
std::shared_ptr<Channel> Connections::Handshake(Connection& self, int descriptor) {
  std::shared_ptr<Channel> channel;
  try {
    channel = ListeningPort::Handshake(party_, descriptor, After(kHandshakeSeconds));
  } catch (const std::exception& error) {
    host_.count("failed_handshakes");
    log_.Warn("no connection", {{"reason", error.what()}});
  }
  const std::scoped_lock lock(self.mutex);
  ::close(std::exchange(self.handshake, -1));
  self.channel = channel;
  return channel;
}

// The certificate was signed by the authority; the parties that must not collude are pinned.
void Connections::Check(const PartyIdentity& peer) const {
  for (const auto& [role, expected] : config_.peers) {
    if (expected.pin == peer.pin && role != peer.role) {
      throw Refused(Reason::kRole, fmt::format("{}: its key is that of {}, its certificate says {}",
                                               peer.name, RoleName(role), RoleName(peer.role)));
    }
    if (role == peer.role && expected.pin != peer.pin) {
      throw Refused(Reason::kRole, fmt::format("{}: says it is {}, whose key is another", peer.name,
                                               RoleName(role)));
    }
  }
  if (peer.pin == party_.Own().pin || peer.role == party_.Own().role) {
    throw Refused(Reason::kRole, fmt::format("{}: is of this server's own role or key", peer.name));
  }
  if (peer.role == Role::kFirstServer) {
    throw Refused(Reason::kRole, fmt::format("{}: the first server connects to nobody", peer.name));
  }
}

// Throws Refused for who may not connect, or not now; a client that is let in is counted.
void Connections::Admit(const PartyIdentity& peer) {
  Check(peer);
  const std::scoped_lock lock(mutex_);
  if (stopping_) throw Refused(Reason::kStopping, kStoppingText);
  if (peer.role != Role::kClient) return;
  if (clients_ >= config_.limits.connections) {
    throw Refused(Reason::kBusy, fmt::format("{} clients are connected", clients_));
  }
  ++clients_;
}

void Connections::Run(Connection& self, int descriptor) {
  const std::shared_ptr<Channel> channel = Handshake(self, descriptor);
  if (!channel) return;
  const PartyIdentity& peer = channel->Peer();
  try {
    Admit(peer);
  } catch (const Refused& refused) {
    try {
      // It stays open until AcceptLoop comes by, so that the peer reads this.
      channel->Send(Refusal("connection refused", peer, refused), After(kRefusalSeconds));
    } catch (const Error&) {
      // It did not wait for it.
    }
    return;
  }
  try {
    if (peer.role == Role::kSecondServer) {
      host_.serve(channel);
    } else {
      Converse(self, *channel);
    }
  } catch (const std::exception& error) {
    log_.Info("connection ended", {{"peer", peer.name}, {"reason", error.what()}});
  }
  if (peer.role == Role::kClient) {
    const std::scoped_lock lock(mutex_);
    --clients_;
  }
  channel->Shut();
}

SecretBytes Connections::Refusal(const char* event, const PartyIdentity& peer,
                                 const Refused& refused) const {
  host_.count(ReasonName(refused.Why()));
  log_.Info(event,
            {{"peer", peer.name}, {"reason", ReasonName(refused.Why())}, {"text", refused.what()}});
  return RefusalMessage{refused.Why(), refused.what()}.Serialise();
}

void Connections::Converse(Connection& self, Channel& channel) {
  const PartyIdentity& peer = channel.Peer();
  for (;;) {
    if (!channel.Readable(After(config_.limits.idle_s))) throw Error("nothing was asked for long");
    {
      const std::scoped_lock lock(self.mutex);
      self.answering = true;
    }
    const Deadline deadline = After(config_.limits.request_s);
    SecretBytes frame;
    try {
      frame = channel.Receive(host_.largest(peer.role), deadline);
    } catch (const ChannelClosed&) {
      return;
    } catch (const FrameTooLong& error) {
      channel.Send(Refusal("refused", peer, {Reason::kMalformed, error.what()}),
                   After(kRefusalSeconds));
      return;
    } catch (const Error&) {
      // Cut off, or not all of it in time. Nothing can be said on this channel any more.
      if (!stopping_) host_.count(ReasonName(Reason::kMalformed));
      throw;
    }
    SecretBytes answer;
    bool end = false;
    try {
      if (stopping_) throw Refused(Reason::kStopping, kStoppingText);
      answer = host_.answer(peer, frame);
    } catch (const Refused& refused) {
      answer = Refusal("refused", peer, refused);
      end = refused.Why() == Reason::kMalformed;
    }
    channel.Send(answer, deadline);
    {
      const std::scoped_lock lock(self.mutex);
      self.answering = false;
    }
    if (end || stopping_) return;
    host_.answered();
  }
}

}  // namespace sotto
