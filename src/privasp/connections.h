// Who is connected to a server, a thread each: accepts, shakes hands, lets in who may come, and
// carries questions to who answers them and answers back.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <thread>

#include "privasp/config.h"
#include "privasp/event_log.h"
#include "privasp/service_messages.h"

namespace sotto {

// What a server does with those who are connected; called from their threads. `answer` throws
// Refused.
struct ConnectionHost {
  std::function<SecretBytes(const PartyIdentity& peer, std::span<const std::uint8_t> question)>
      answer;
  std::function<void()> answered;  // when an answer is on its way
  // The second server has connected; returns when its connection has ended.
  std::function<void(const std::shared_ptr<Channel>&)> serve;
  std::function<std::size_t(Role)> largest;  // bytes of a question
  std::function<void(const char* what)> count;
};

class Connections {
 public:
  // Listens. Throws Error: the port is in use.
  Connections(const TlsParty& party, const PartyConfig& config, const EventLog& log,
              ConnectionHost host);
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;
  ~Connections();

  void Start();  // to accept
  std::string Address() const { return port_.Address(); }
  std::size_t Clients() const;

  // Accepts nobody any more. Who is being answered gets the answer until the deadline, who asks
  // meanwhile is refused, all others are told why they are sent away.
  void Finish(Deadline deadline);
  // After Finish: ends what is left.
  void End();

 private:
  struct Connection {
    std::thread thread;
    std::mutex mutex;
    int handshake = -1;      // a copy of the descriptor, to end a handshake by
    bool sent_away = false;  // in the middle of it
    std::shared_ptr<Channel> channel;
    bool answering = false;
    std::atomic<bool> ended{false};
  };

  void AcceptLoop();
  void Take(int descriptor);
  bool MakeRoom();
  std::shared_ptr<Channel> Handshake(Connection& self, int descriptor);
  void Run(Connection& self, int descriptor);
  void Check(const PartyIdentity& peer) const;
  void Admit(const PartyIdentity& peer);
  void Converse(Connection& self, Channel& channel);
  // Counts and logs it.
  SecretBytes Refusal(const char* event, const PartyIdentity& peer, const Refused& refused) const;
  bool SayGoodbye();
  void Reap(bool all);

  const TlsParty& party_;
  const PartyConfig& config_;
  const EventLog& log_;
  const ConnectionHost host_;
  ListeningPort port_;
  mutable std::mutex mutex_;
  std::list<Connection> connections_;  // the oldest first
  std::size_t clients_ = 0;
  std::atomic<bool> stopping_{false};
  std::thread accepting_;
};

}  // namespace sotto
