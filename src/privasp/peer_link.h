// The connection of the two servers: the second connects to the first, and again when it breaks.
// Exchanges of queries go over it beside each other; all other messages go to one handler. Long
// ones go in pieces, between which exchanges pass, so that a slow line delays no query for long.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "privasp/config.h"
#include "privasp/event_log.h"
#include "privasp/pieces.h"
#include "privasp/service_messages.h"

namespace sotto {

class PeerLink {
 public:
  // `changed(up)` and `handle` are called from the thread that receives, and must not wait long: a
  // query's exchange would wait with them. `malformed`: what came is no message, which ends the
  // connection.
  PeerLink(const TlsParty& party, const PartyConfig& config, const EventLog& log,
           std::function<void(bool up)> changed, std::function<void(SecretBytes)> handle,
           std::function<void()> malformed);
  PeerLink(const PeerLink&) = delete;
  PeerLink& operator=(const PeerLink&) = delete;
  ~PeerLink();

  // The second server begins to connect.
  void Start();
  // The first server: the second has connected. Takes the place of a connection that is there.
  // Returns when it has ended.
  void Serve(const std::shared_ptr<Channel>& channel);
  void Stop();

  bool Up() const;
  // Throws Refused (kPeer) when the link is down or does not take it in time. A long message is
  // sent later, and only once where it waits already; shorter ones may overtake it.
  void Send(std::span<const std::uint8_t> message);
  // Sends one's own message and waits for the other server's of the same query.
  ExchangeMessage Swap(const ExchangeMessage& own, Deadline deadline);
  std::uint64_t BytesSent() const { return bytes_sent_; }

 private:
  // A query's next message from the other server. It may come before our own client's input.
  struct Slot {
    std::optional<ExchangeMessage> message;
    Deadline since;
    bool waited_for = false;
  };
  using SlotKey = std::pair<QueryId, bool>;

  void ConnectLoop();
  void Receive(const std::shared_ptr<Channel>& channel);
  void Take(SecretBytes frame, PieceJoiner& joiner);
  // The link's own voice, as long as this channel is: long messages, and signs of life several
  // times within link_s, whatever all others are waiting for.
  void Talk(const std::shared_ptr<Channel>& channel);
  // The next piece of a long message; a sign of life when it is time for one, and none came. Empty
  // when the channel has ended.
  SecretBytes NextToSay(const std::shared_ptr<Channel>& channel);
  void SendFrame(Channel& channel, std::span<const std::uint8_t> frame);
  void Deliver(ExchangeMessage message);
  void ForgetOldSlots();
  std::shared_ptr<Channel> Current() const;

  const TlsParty& party_;
  const PartyConfig& config_;
  const EventLog& log_;
  const std::function<void(bool)> changed_;
  const std::function<void(SecretBytes)> handle_;
  const std::function<void()> malformed_;

  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::shared_ptr<Channel> channel_;
  std::map<SlotKey, Slot> slots_;
  std::deque<SecretBytes> long_;  // messages that are to be sent
  std::size_t said_ = 0;          // bytes of the first of them
  bool stopping_ = false;
  std::atomic<std::uint64_t> bytes_sent_{0};
  std::mutex serving_;  // one connection at a time
  std::thread connecting_;
};

}  // namespace sotto
