#include "privasp/channel.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/crypto.h>
#include <openssl/sslerr.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>

#include "privasp/certificates_internal.h"
#include "privasp/channel_impl.h"
#include "privasp/tls_party.h"

namespace sotto {
namespace {

static_assert(std::endian::native == std::endian::little, "lengths are little-endian");

constexpr const char* kClosed = "closed by the peer";

bool IsOver(Deadline deadline) { return std::chrono::steady_clock::now() >= deadline; }

// "certificate expired" of "sslv3 alert certificate expired".
std::string AlertName(unsigned long error) {
  const char* reason = ERR_reason_error_string(error);
  std::string text = reason == nullptr ? "unknown" : reason;
  const std::size_t at = text.find("alert ");
  return at == std::string::npos ? text : text.substr(at + 6);
}

}  // namespace

Channel::Impl::~Impl() {
  if (!shut) CloseNotify();
}

std::string Channel::Impl::Who() const {
  if (!known) return address;
  return fmt::format("{} '{}' at {}", RoleName(peer.role), peer.name, address);
}

std::string Channel::Impl::Reason() {
  unsigned long error = ERR_peek_last_error();
  if (error == 0 && state.error != 0 && SSL_is_init_finished(ssl.get()) == 1) {
    // Nothing more can be sent; the alert that says why may have come. Frames stay where they are.
    char ignored = 0;
    SSL_peek(ssl.get(), &ignored, 1);
    error = ERR_peek_last_error();
  }
  const int reason = ERR_GET_LIB(error) == ERR_LIB_SSL ? ERR_GET_REASON(error) : 0;
  std::string text;
  if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED) {
    text = "the peer's certificate " + VerifyReason(SSL_get_verify_result(ssl.get()));
  } else if (reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE) {
    text = "the peer shows no certificate";
  } else if (reason > SSL_AD_REASON_OFFSET && reason < SSL_AD_REASON_OFFSET + 256) {
    text = fmt::format("the peer refuses the connection: {}", AlertName(error));
  } else if (state.error == ECONNRESET || state.error == EPIPE || state.ended ||
             (SSL_get_shutdown(ssl.get()) & SSL_RECEIVED_SHUTDOWN) != 0) {
    text = kClosed;
  } else if (state.error != 0) {
    text = std::strerror(state.error);
  } else {
    text = fmt::format("TLS 1.3 fails: {}", OpensslReason());
  }
  ERR_clear_error();
  return text;
}

void Channel::Impl::CloseNotify() {
  const std::lock_guard lock(call);
  if (!known || !failure.empty()) return;
  ERR_clear_error();
  SSL_shutdown(ssl.get());
  ERR_clear_error();
}

void Channel::Impl::Fail(const std::string& what, bool may_end) {
  const std::lock_guard lock(call);
  if (failure.empty()) failure = what;
  for (Turn* const waiting : turns) waiting->Wake();
  ::shutdown(socket.Descriptor(), SHUT_RDWR);
  const std::string text =
      fmt::format("{}: {}", Who(), shut ? "the connection was shut here" : failure);
  if (may_end && !shut && failure == kClosed) throw ChannelClosed(text);
  throw Error(text);
}

template <class Call>
void Channel::Impl::Drive(const Call& function, Deadline deadline, const char* doing,
                          bool may_end) {
  while (true) {
    short events = 0;
    std::string reason;
    if (shut) Fail(kClosed);
    {
      const std::lock_guard lock(call);
      ERR_clear_error();
      const int result = function(ssl.get());
      if (result > 0) return;
      switch (SSL_get_error(ssl.get(), result)) {
        case SSL_ERROR_WANT_READ:
          events = POLLIN;
          break;
        case SSL_ERROR_WANT_WRITE:
          events = POLLOUT;
          break;
        default:
          reason = Reason();
      }
    }
    if (!reason.empty()) Fail(reason, may_end);
    if (IsOver(deadline) || !WaitFor(socket.Descriptor(), events, deadline)) {
      Fail(fmt::format("{} took until the deadline", doing));
    }
  }
}

void Channel::Impl::Handshake(const TlsParty& party, bool accepts, Deadline deadline) {
  const int descriptor = socket.Descriptor(), yes = 1;
  ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK);
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  state.descriptor = descriptor;
  ssl.reset(Succeeded(SSL_new(party.impl().context.get()), "start a connection"));
  BIO* const bio = MakeSocketBio(state).release();
  SSL_set_bio(ssl.get(), bio, bio);
  if (accepts) {
    SSL_set_accept_state(ssl.get());
  } else {
    SSL_set_connect_state(ssl.get());
  }
  Drive([](SSL* tls) { return SSL_do_handshake(tls); }, deadline, "the handshake");
  X509* const certificate = SSL_get0_peer_certificate(ssl.get());
  if (certificate == nullptr || SSL_get_verify_result(ssl.get()) != X509_V_OK) {
    Fail("the peer shows no valid certificate");
  }
  peer = IdentityOf(certificate, address);
  known = true;
  if (peer.pin == party.Own().pin && peer.role != party.Own().role) {
    Fail(fmt::format("the peer has the public key of this {}: one key has one role",
                     RoleName(party.Own().role)));
  }
}

Channel::Impl::Turn::Turn(Impl& impl, Patience& patience) : impl_(impl) {
  std::unique_lock lock(impl.call);
  impl.turns.push_back(this);
  const auto ready = [&] { return impl.turns.front() == this || !impl.failure.empty(); };
  while (!mine_.wait_until(lock, patience.until, ready)) {
    patience.Moved(impl.moved);  // whoever is before this one gets on
    if (IsOver(patience.until)) break;
  }
  if (impl.failure.empty() && impl.turns.front() == this) {
    patience.Moved(After(0.0));
    return;
  }
  const std::string reason = impl.failure;
  Leave();
  lock.unlock();
  impl.Fail(reason.empty() ? "sending took until the deadline" : reason);
}

Channel::Impl::Turn::~Turn() {
  const std::lock_guard lock(impl_.call);
  Leave();
}

void Channel::Impl::Turn::Leave() {
  std::erase(impl_.turns, this);
  if (!impl_.turns.empty()) impl_.turns.front()->Wake();
}

void Channel::Impl::Write(std::span<const std::uint8_t> bytes, Patience& patience) {
  while (true) {
    std::size_t n = 0;
    Drive([&](SSL* tls) { return SSL_write_ex(tls, bytes.data(), bytes.size(), &n); },
          patience.until, "sending");
    bytes = bytes.subspan(n);
    if (bytes.empty()) return;
    const Deadline now = After(0.0);
    patience.Moved(now);
    if (now >= patience.until) Fail("sending took until the deadline");
    const std::lock_guard lock(call);
    moved = now;
  }
}

void Channel::Impl::Read(std::span<std::uint8_t> bytes, Patience& patience, bool may_end) {
  while (!bytes.empty()) {
    std::size_t n = 0;
    Drive([&](SSL* tls) { return SSL_read_ex(tls, bytes.data(), bytes.size(), &n); },
          patience.until, "receiving", may_end);
    may_end = false;
    bytes = bytes.subspan(n);
    const Deadline now = After(0.0);
    patience.Moved(now);
    if (!bytes.empty() && now >= patience.until) Fail("receiving took until the deadline");
  }
}

void Channel::Impl::TakeNewKey(Deadline deadline) {
  // With its message half sent OpenSSL would receive nothing before it has sent the other half; two
  // sides in that state would wait for each other. So it is sent when there is room for it.
  if (!WaitFor(socket.Descriptor(), POLLOUT, deadline)) Fail("sending took until the deadline");
  Drive(
      [](SSL* tls) {
        const bool asked = SSL_get_key_update_type(tls) != SSL_KEY_UPDATE_NONE;
        if (!asked && SSL_key_update(tls, SSL_KEY_UPDATE_NOT_REQUESTED) != 1) return 0;
        return SSL_do_handshake(tls);
      },
      deadline, "sending");
  records_of_key = 0;
}

std::unique_ptr<Channel> MakeChannel(const TlsParty& party, Socket socket, std::string address,
                                     bool accepts, Deadline deadline) {
  auto impl = std::make_unique<Channel::Impl>();
  impl->socket = std::move(socket);
  impl->address = std::move(address);
  impl->Handshake(party, accepts, deadline);
  return std::make_unique<Channel>(std::move(impl));
}

Channel::Channel(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Channel::~Channel() = default;

std::unique_ptr<Channel> Channel::Connect(const TlsParty& party, const std::string& address,
                                          Deadline deadline) {
  return MakeChannel(party, ConnectTo(address, deadline), address, /*accepts=*/false, deadline);
}

const PartyIdentity& Channel::Peer() const { return impl_->peer; }

void Channel::Require(Role role, const std::string& pin) const {
  if (Peer().role != role) {
    throw Error(fmt::format("{}: {} is wanted here", impl_->Who(), RoleName(role)));
  }
  if (!pin.empty() && Peer().pin != pin) {
    throw Error(
        fmt::format("{}: its key is {}, the one that is pinned {}", impl_->Who(), Peer().pin, pin));
  }
}

void Channel::Send(std::span<const std::uint8_t> frame, Patience patience) {
  constexpr std::size_t kMost = std::numeric_limits<std::uint32_t>::max();
  Impl& impl = *impl_;
  if (frame.size() > kMost) {
    throw Error(fmt::format("{}: a frame of {} bytes is too long: {} are allowed", impl.Who(),
                            frame.size(), kMost));
  }
  const Impl::Turn turn(impl, patience);
  if (impl.records_of_key >= impl.most_records_of_key) impl.TakeNewKey(patience.until);
  // Length and content begin in one record, and a small frame is one packet.
  const auto length = static_cast<std::uint32_t>(frame.size());
  const std::size_t head = std::min(frame.size(), Impl::kRecord - sizeof length);
  const std::span first = std::span(impl.first).first(sizeof length + head);
  std::memcpy(first.data(), &length, sizeof length);
  if (head > 0) std::memcpy(first.data() + sizeof length, frame.data(), head);
  impl.Write(first, patience);
  OPENSSL_cleanse(first.data(), first.size());
  if (head < frame.size()) impl.Write(frame.subspan(head), patience);
  impl.records_of_key += 1 + frame.size() / Impl::kRecord;
  impl.sent += sizeof length + frame.size();
}

SecretBytes Channel::Receive(std::size_t limit, Patience patience) {
  constexpr std::size_t kAtFirst = std::size_t{1} << 20;  // of memory, for what was only promised
  Impl& impl = *impl_;
  if (impl.mid_frame) impl.Fail("an earlier frame was not received");
  impl.mid_frame = true;
  std::array<std::uint8_t, 4> header{};
  impl.Read(header, patience, /*may_end=*/true);
  const auto length = std::bit_cast<std::uint32_t>(header);
  if (length > limit) {
    throw FrameTooLong(fmt::format("{}: a frame of {} bytes is refused: at most {} are allowed",
                                   impl.Who(), length, limit));
  }
  SecretBytes frame;
  while (frame.size() < length) {
    const std::size_t had = frame.size();
    frame.resize(std::min<std::size_t>(length, std::max(kAtFirst, 2 * had)));
    impl.Read(std::span(frame).subspan(had), patience);
  }
  impl.mid_frame = false;
  impl.received += header.size() + frame.size();
  return frame;
}

bool Channel::Readable(Deadline deadline) const {
  {
    const std::lock_guard lock(impl_->call);
    if (SSL_has_pending(impl_->ssl.get()) == 1) return true;
  }
  return WaitFor(impl_->socket.Descriptor(), POLLIN, deadline);
}

void Channel::KeepShortQueue() {
  // Two pieces of a long message (pieces.h): enough to keep a line busy while the next are made.
  constexpr int kMostUnsent = 1 << 17;
  ::setsockopt(impl_->socket.Descriptor(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kMostUnsent,
               sizeof kMostUnsent);
}

void Channel::Shut() {
  if (impl_->shut.exchange(true)) return;
  impl_->CloseNotify();
  ::shutdown(impl_->socket.Descriptor(), SHUT_RDWR);
}

std::uint64_t Channel::BytesSent() const { return impl_->sent; }
std::uint64_t Channel::BytesReceived() const { return impl_->received; }

}  // namespace sotto
