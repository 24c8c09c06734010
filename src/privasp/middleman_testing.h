// For tests: a middleman of TCP connections who can fall silent without closing anything, as a
// route does that loses every packet, or carry little at a time, as a thin line does.
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <condition_variable>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "privasp/tls_socket.h"

namespace sotto::testing {

class Middleman {
 public:
  // Listens on the loopback, at a free port; what connects there is connected to `to`.
  // `bytes_per_s`: each way of each connection; 0: as fast as it goes.
  explicit Middleman(std::string to, double bytes_per_s = 0.0)
      : to_(std::move(to)),
        bytes_per_s_(bytes_per_s),
        port_("127.0.0.1:0"),
        accepting_([this] { AcceptLoop(); }) {}
  Middleman(const Middleman&) = delete;
  Middleman& operator=(const Middleman&) = delete;
  ~Middleman() {
    {
      const std::scoped_lock lock(mutex_);
      stopping_ = true;
      changed_.notify_all();
    }
    accepting_.join();
    Reap(true);
  }

  std::string Address() const { return port_.Address(); }
  // `there`: from who connected to `to`; `back`: the other way. What is held goes on its way later.
  void Stall(bool there, bool back) {
    const std::scoped_lock lock(mutex_);
    stalled_[kThere] = there;
    stalled_[kBack] = back;
    changed_.notify_all();
  }
  // How many connections there have been.
  std::size_t Connections() const { return count_; }

 private:
  static constexpr double kForEver = 3600.0;  // Reap ends each wait
  static constexpr double kConnectSeconds = 5.0;

  enum Way { kThere, kBack };
  struct Connection {
    Socket near, far;
    std::thread there, back;
    std::atomic<int> running{2};
  };

  void AcceptLoop() {
    for (;;) {
      const int descriptor = port_.Accept(After(0.1));
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

  void Connect(int descriptor) {
    Socket near(descriptor);
    try {
      Socket far = ConnectTo(to_, After(kConnectSeconds));
      // What does not go through is held at who sends it, and not here; but with less than some of
      // the loopback's packets of 64 kB TCP would wait for its timers.
      constexpr int kHeld = 1 << 17;
      for (const int end : {near.Descriptor(), far.Descriptor()}) {
        if (bytes_per_s_ > 0.0) ::setsockopt(end, SOL_SOCKET, SO_RCVBUF, &kHeld, sizeof kHeld);
      }
      Connection& connection = connections_.emplace_back();
      connection.near = std::move(near);
      connection.far = std::move(far);
      connection.there = std::thread([this, &connection] { Forward(connection, kThere); });
      connection.back = std::thread([this, &connection] { Forward(connection, kBack); });
      ++count_;
    } catch (const Error&) {
      // Nobody is there, and who connected finds itself sent away.
    }
  }

  void Forward(Connection& connection, Way way) {
    const int near = connection.near.Descriptor(), far = connection.far.Descriptor();
    if (way == kThere) {
      Carry(near, far, way);
    } else {
      Carry(far, near, way);
    }
    --connection.running;
  }

  void Carry(int from, int to, Way way) {
    std::vector<char> buffer(bytes_per_s_ > 0.0 ? std::size_t{1} << 14 : std::size_t{1} << 16);
    for (;;) {
      if (!WaitFor(from, POLLIN, After(kForEver))) break;
      const ssize_t count = ::recv(from, buffer.data(), buffer.size(), 0);
      if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      {
        // The end of a connection is held back as well.
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return !stalled_[way] || stopping_; });
        if (bytes_per_s_ > 0.0 && count > 0) {
          changed_.wait_until(lock, After(static_cast<double>(count) / bytes_per_s_),
                              [&] { return stopping_; });
        }
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

  // False when the connection is over.
  static bool SendAll(int to, const char* bytes, std::size_t count) {
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

  void Reap(bool all) {
    std::erase_if(connections_, [&](Connection& connection) {
      if (!all && connection.running > 0) return false;
      ::shutdown(connection.near.Descriptor(), SHUT_RDWR);
      ::shutdown(connection.far.Descriptor(), SHUT_RDWR);
      connection.there.join();
      connection.back.join();
      return true;
    });
  }

  const std::string to_;
  const double bytes_per_s_;
  const ListeningPort port_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stalled_[2] = {};
  bool stopping_ = false;
  std::atomic<std::size_t> count_{0};
  std::list<Connection> connections_;  // of the thread that accepts
  std::thread accepting_;
};

}  // namespace sotto::testing
