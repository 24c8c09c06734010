// A middleman of TCP connections who can fall silent without closing anything, as a route does that
// loses every packet.
#pragma once

#include <atomic>
#include <condition_variable>
#include <list>
#include <mutex>
#include <string>
#include <thread>

#include "privasp/tls_socket.h"

namespace sotto::testing {

class StallingProxy {
 public:
  // Listens on the loopback, at a free port; what connects there is connected to `to`.
  explicit StallingProxy(std::string to);
  StallingProxy(const StallingProxy&) = delete;
  StallingProxy& operator=(const StallingProxy&) = delete;
  ~StallingProxy();

  std::string Address() const { return listener_.Address(); }
  // `there`: from who connected to `to`; `back`: the other way. What is held goes on its way later.
  void Stall(bool there, bool back);

 private:
  enum Way { kThere, kBack };
  struct Connection {
    Socket near, far;
    std::thread there, back;
    std::atomic<int> running{2};
  };

  void AcceptLoop();
  void Connect(int descriptor);
  void Forward(Connection& connection, Way way);
  void Carry(int from, int to, Way way);
  void Reap(bool all);

  const std::string to_;
  const ListeningPort listener_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stalled_[2] = {};
  bool stopping_ = false;
  std::list<Connection> connections_;  // of the thread that accepts
  std::thread accepting_;
};

}  // namespace sotto::testing
