// A server of the secure comparison as a process: it listens for clients, the dealer, the provider
// and (the first server) the second one, each with its own role, and answers or refuses with a
// reason. docs/mpc.md says what it sees and what it must never do.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "privasp/config.h"
#include "privasp/connections.h"
#include "privasp/event_log.h"
#include "privasp/peer_link.h"
#include "privasp/quota.h"
#include "privasp/served_model.h"
#include "privasp/service_messages.h"
#include "privasp/service_status.h"

namespace sotto {

class ServerService {
 public:
  // Listens when it returns. Throws Error: the configuration does not fit, the port is in use, the
  // state is damaged or another process has it.
  ServerService(const PartyConfig& config, EventLog log);
  ServerService(const ServerService&) = delete;
  ServerService& operator=(const ServerService&) = delete;
  ~ServerService();

  std::string Address() const { return connections_.Address(); }
  // Takes no new queries, finishes those under way, burns what is in memory.
  void Stop();

  ServiceStatus Status() const;

 private:
  using Models = std::vector<std::shared_ptr<ServedModel>>;
  // --- Questions ---
  SecretBytes Answer(const PartyIdentity& peer, std::span<const std::uint8_t> frame);
  SecretBytes AnswerClient(const PartyIdentity& peer, std::span<const std::uint8_t> frame);
  SecretBytes AnswerProvider(std::span<const std::uint8_t> frame);
  SecretBytes AnswerDealer(std::span<const std::uint8_t> frame);
  ReservationMessage Reserve(const PartyIdentity& peer, const AskReservationMessage& asked);
  ResultMessage Query(const PartyIdentity& peer, const InputMessage& input);
  void Store(const std::function<void()>& write) const;
  std::size_t LargestFrame(Role role) const;
  void Count(const char* what, std::uint64_t by = 1) const;

  // --- Models (server_models.cc) ---
  void OpenModels();
  void LoadModel(const LoadModelMessage& load);
  void Retire(const RetireMessage& asked);
  Models AllModels() const;
  std::shared_ptr<ServedModel> FindOrNull(const ModelId& id) const;
  std::shared_ptr<ServedModel> Find(const ModelId& id) const;
  std::shared_ptr<ServedModel> Offered(const AskOfferMessage& asked) const;
  void DrainReplaced();
  void DropDrained();
  void Sweep(ServedModel& model);

  // --- The other server, and what is done beside the queries ---
  void LinkChanged(bool up);
  void HandlePeer(SecretBytes frame);
  void TakeFromPeer(std::span<const std::uint8_t> bytes);
  void Announce(const ServedModel& model);
  void Do(std::function<void()> task);
  void WorkLoop();
  void Round();

  const PartyConfig config_;
  const EventLog log_;
  const TlsParty party_;
  const bool second_;
  Quota quota_;
  Holdings holdings_;  // outlives the models
  const std::chrono::steady_clock::time_point started_;

  std::mutex loading_;  // one model at a time
  mutable std::mutex models_mutex_;
  std::map<ModelId, std::shared_ptr<ServedModel>> models_;
  mutable std::mutex counts_mutex_;
  mutable std::map<std::string, std::uint64_t> counts_;
  std::chrono::steady_clock::time_point dealer_seen_;

  std::mutex work_mutex_;
  std::condition_variable work_;
  std::deque<std::function<void()>> tasks_;
  bool poked_ = false, work_ended_ = false;

  PeerLink link_;
  Connections connections_;
  std::atomic<bool> stopping_{false};
  std::thread working_;
};

}  // namespace sotto
