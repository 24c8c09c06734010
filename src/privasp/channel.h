// Frames over TLS 1.3 (RFC 8446; OpenSSL) with both sides authenticated by certificates
// (certificates.h). A frame is its length, 4 bytes, little-endian, and its bytes. Every wait has a
// deadline; what fails throws Error with one line that names the peer.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "base/error.h"
#include "mpc/secret.h"
#include "privasp/certificates.h"

namespace sotto {

using Deadline = std::chrono::steady_clock::time_point;
inline Deadline After(double seconds) {
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<Deadline::duration>(std::chrono::duration<double>(seconds));
}

// How long a frame may take: until a moment, or for as long as it gets on.
struct Patience {
  Deadline until;
  std::chrono::duration<double> still{};  // not 0: how far ahead of bytes that move `until` is

  Patience(Deadline last) : until(last) {}  // NOLINT(google-explicit-constructor): the usual one
  // A slow line is no dead one: only `seconds` in which nothing moves are too long. Bytes move in
  // records of TLS, of 16 kB where there are as many.
  static Patience WhileMoving(double seconds) {
    Patience patience(After(seconds));
    patience.still = std::chrono::duration<double>(seconds);
    return patience;
  }
  void Moved(Deadline when) {
    if (still.count() == 0.0) return;
    until = std::max(until, when + std::chrono::duration_cast<Deadline::duration>(still));
  }
};

// The other side has ended the connection.
class ChannelClosed : public Error {
 public:
  using Error::Error;
};

// A frame that is longer than was allowed. Nothing more can be received, but an answer be sent.
class FrameTooLong : public Error {
 public:
  using Error::Error;
};

struct TlsFiles {
  std::filesystem::path certificate, key, authority;
};

// One party's identity, ready for connections in both directions. Throws Error that names the file:
// key of another certificate, key readable by others, a certificate that is expired, not yet valid
// or not of this authority.
class TlsParty {
 public:
  explicit TlsParty(const TlsFiles& files);
  TlsParty(const TlsParty&) = delete;
  TlsParty& operator=(const TlsParty&) = delete;
  ~TlsParty();

  const PartyIdentity& Own() const;

  struct Impl;
  const Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// One connection. One thread may receive while several send. Nagle's delay is off.
class Channel {
 public:
  struct Impl;
  explicit Channel(std::unique_ptr<Impl> impl);
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel();

  // `address` is "host:port" ("[::1]:port" for IPv6). Throws Error: refused, handshake failed,
  // certificate expired or foreign. In TLS 1.3 the accepting side looks at the certificate last:
  // one that it refuses is an Error of the first Send or Receive.
  static std::unique_ptr<Channel> Connect(const TlsParty& party, const std::string& address,
                                          Deadline deadline);

  const PartyIdentity& Peer() const;
  // Throws Error unless the peer has this role and, where `pin` is not empty, this key.
  void Require(Role role, const std::string& pin) const;

  // Several senders take turns in the order in which they came.
  void Send(std::span<const std::uint8_t> frame, Patience patience);
  // Throws Error: closed by the peer (ChannelClosed where no part of a frame had come), past the
  // deadline, a frame of more than `limit` bytes (FrameTooLong), which is not read. Memory grows as
  // the bytes come, whatever the length says. After an Error the channel is of no more use, except
  // that what the peer had sent before Send failed may still be received.
  SecretBytes Receive(std::size_t limit, Patience patience);
  // True when a frame (or the end) has begun to arrive within the deadline; waits without lock.
  bool Readable(Deadline deadline) const;

  // Few bytes wait in the system to be sent, instead of megabytes: a small frame is soon on its way
  // behind larger ones, and a slow line is seen to move.
  void KeepShortQueue();
  // From any thread: who waits in Receive or Send gets an Error at once.
  void Shut();

  std::uint64_t BytesSent() const;  // of frames and their lengths, without TLS
  std::uint64_t BytesReceived() const;

 private:
  std::unique_ptr<Impl> impl_;
};

// Listens on "host:port"; port 0 takes a free one. Error: the port is in use.
class ListeningPort {
 public:
  explicit ListeningPort(const std::string& address);
  ListeningPort(const ListeningPort&) = delete;
  ListeningPort& operator=(const ListeningPort&) = delete;
  ~ListeningPort();

  std::string Address() const;  // with the port that was taken

  // The next connection, before its handshake; -1 after Shut or when the deadline is over.
  int Accept(Deadline deadline) const;
  void Shut();  // from any thread

  // The handshake of a descriptor that Accept gave, which it takes over.
  static std::unique_ptr<Channel> Handshake(const TlsParty& party, int descriptor,
                                            Deadline deadline);

 private:
  int descriptor_ = -1;
  int wake_[2] = {-1, -1};
  std::string address_;
};

}  // namespace sotto
