#include "stalling_proxy.h"

#include <poll.h>
#include <sys/socket.h>

#include <utility>
#include <vector>

#include "base/error.h"

namespace sotto::testing {
namespace {

constexpr double kForEver = 3600.0;  // Shut ends each wait
constexpr double kConnectSeconds = 5.0;

// False when the connection is over.
bool SendAll(int to, const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t sent = ::send(to, bytes, count, MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return false;
    if (sent < 0) {
      if (!WaitFor(to, POLLOUT, After(kForEver))) return false;
      continue;
    }
    bytes += sent;
    count -= static_cast<std::size_t>(sent);
  }
  return true;
}

}  // namespace

StallingProxy::StallingProxy(std::string to)
    : to_(std::move(to)), listener_("127.0.0.1:0"), accepting_([this] { AcceptLoop(); }) {}

StallingProxy::~StallingProxy() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  accepting_.join();
  Reap(true);
}

void StallingProxy::Stall(bool there, bool back) {
  const std::scoped_lock lock(mutex_);
  stalled_[kThere] = there;
  stalled_[kBack] = back;
  changed_.notify_all();
}

void StallingProxy::AcceptLoop() {
  for (;;) {
    const int descriptor = listener_.Accept(After(0.1));
    {
      const std::scoped_lock lock(mutex_);
      if (stopping_) {
        const Socket unwanted(descriptor);
        return;
      }
    }
    Reap(false);
    if (descriptor >= 0) Connect(descriptor);
  }
}

void StallingProxy::Connect(int descriptor) {
  Socket near(descriptor);
  try {
    Socket far = ConnectTo(to_, After(kConnectSeconds));
    Connection& connection = connections_.emplace_back();
    connection.near = std::move(near);
    connection.far = std::move(far);
    connection.there = std::thread([this, &connection] { Forward(connection, kThere); });
    connection.back = std::thread([this, &connection] { Forward(connection, kBack); });
  } catch (const Error&) {
    // Nobody is there, and who connected finds itself sent away.
  }
}

void StallingProxy::Forward(Connection& connection, Way way) {
  const int near = connection.near.Descriptor(), far = connection.far.Descriptor();
  if (way == kThere) {
    Carry(near, far, way);
  } else {
    Carry(far, near, way);
  }
  --connection.running;
}

void StallingProxy::Carry(int from, int to, Way way) {
  std::vector<char> buffer(std::size_t{1} << 16);
  for (;;) {
    if (!WaitFor(from, POLLIN, After(kForEver))) break;
    const ssize_t count = ::recv(from, buffer.data(), buffer.size(), 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    {
      // The end of a connection is held back as well.
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return !stalled_[way] || stopping_; });
      if (stopping_) break;
    }
    if (count < 0) break;
    if (count == 0) {
      ::shutdown(to, SHUT_WR);
      return;
    }
    if (!SendAll(to, buffer.data(), static_cast<std::size_t>(count))) break;
  }
  ::shutdown(from, SHUT_RDWR);
  ::shutdown(to, SHUT_RDWR);
}

void StallingProxy::Reap(bool all) {
  std::erase_if(connections_, [&](Connection& connection) {
    if (!all && connection.running > 0) return false;
    ::shutdown(connection.near.Descriptor(), SHUT_RDWR);
    ::shutdown(connection.far.Descriptor(), SHUT_RDWR);
    connection.there.join();
    connection.back.join();
    return true;
  });
}

}  // namespace sotto::testing
