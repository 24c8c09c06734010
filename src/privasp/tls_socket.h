// TCP sockets that never block, and OpenSSL's way to them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "privasp/channel.h"
#include "privasp/tls_handles.h"

namespace sotto {

// A descriptor with an owner.
class Socket {
 public:
  explicit Socket(int descriptor = -1) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Socket();
  int Descriptor() const { return descriptor_; }
  int Release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

// Waits for `events` (poll); false when the deadline is over. `other` (or −1) wakes too.
bool WaitFor(int descriptor, short events, Deadline deadline, int other = -1);

Socket ConnectTo(const std::string& address, Deadline deadline);
Socket ListenOn(const std::string& address);

// "127.0.0.1:5000", "[::1]:5000" of this end or the other.
std::string OwnAddress(int descriptor);
std::string PeerAddress(int descriptor);

// A BIO that reads and writes a socket without SIGPIPE, which OpenSSL's own raises, and keeps how
// the socket ended. `state` outlives it.
struct SocketState {
  int descriptor = -1;
  bool ended = false;  // the other side sends no more
  int error = 0;       // errno
};
BioHandle MakeSocketBio(SocketState& state);

}  // namespace sotto
