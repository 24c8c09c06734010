#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "base/files.h"
#include "privasp/channel.h"
#include "privasp/channel_impl.h"

namespace sotto {

ListeningPort::ListeningPort(const std::string& address) {
  Socket socket = ListenOn(address);
  address_ = OwnAddress(socket.Descriptor());
  if (::pipe2(wake_, O_CLOEXEC | O_NONBLOCK) != 0) {
    throw Error("no pipe for a listening port: " + SystemReason());
  }
  descriptor_ = socket.Release();
}

ListeningPort::~ListeningPort() {
  for (const int descriptor : {descriptor_, wake_[0], wake_[1]}) ::close(descriptor);
}

std::string ListeningPort::Address() const { return address_; }

int ListeningPort::Accept(Deadline deadline) const {
  while (WaitFor(descriptor_, POLLIN, deadline, wake_[0])) {
    if (WaitFor(wake_[0], POLLIN, After(0))) return -1;
    const int accepted = ::accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (accepted >= 0) return accepted;
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      // The connection waits until others have ended; so does this, instead of asking at once.
      constexpr double kPause = 0.05;
      if (WaitFor(wake_[0], POLLIN, std::min(deadline, After(kPause)))) return -1;
    } else if (errno == EBADF || errno == EINVAL || errno == ENOTSOCK || errno == EOPNOTSUPP) {
      throw Error("cannot accept on " + address_ + ": " + SystemReason());
    }
    // Everything else is the trouble of the one connection, which is gone.
    if (std::chrono::steady_clock::now() >= deadline) return -1;
  }
  return -1;
}

void ListeningPort::Shut() {
  // The byte is never read, so that every Accept from now on sees it. A full pipe has woken all.
  [[maybe_unused]] const ssize_t n = ::write(wake_[1], "", 1);
}

std::unique_ptr<Channel> ListeningPort::Handshake(const TlsParty& party, int descriptor,
                                                  Deadline deadline) {
  if (descriptor < 0) throw Error("nobody has connected");
  Socket socket(descriptor);
  std::string address = PeerAddress(descriptor);
  return MakeChannel(party, std::move(socket), std::move(address), /*accepts=*/true, deadline);
}

}  // namespace sotto
