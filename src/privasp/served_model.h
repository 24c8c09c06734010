// One model at one server: what the provider and the dealer sent, kept on disk (mode 0600) so that
// a server that starts again goes on; its store of material; and the part of it that is in memory,
// ready for queries.
//
// Material goes from the store into memory in blocks, which both servers take out together: the
// first server spends a block durably, asks the second to do the same (Claim), and uses it when the
// second has said that it did. What either has spent before is refused, so a store that was copied
// back from before, at one of the two servers, gives nothing out twice. What is in memory when a
// server ends is burnt.
#pragma once

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <variant>
#include <vector>

#include "mpc/parties.h"
#include "privasp/config.h"
#include "privasp/event_log.h"
#include "privasp/material_store.h"
#include "privasp/quota.h"
#include "privasp/service_messages.h"

namespace sotto {

// Safe to use from several threads. Everything may throw Refused or Error.
class ServedModel {
 public:
  // `folder`: of this model alone. With a message: a model that is new; without: one that is there.
  // `holdings` are the server's, of all models; `wake` is called when somebody waits for material.
  ServedModel(std::filesystem::path folder, bool second, const PartyConfig& config,
              Holdings& holdings, const EventLog& log, std::function<void()> wake,
              const LoadModelMessage* load);

  const OfferMessage& Offer() const { return offer_; }
  const ModelCard& Card() const { return offer_.card; }
  std::filesystem::file_time_type LoadedAt() const { return loaded_at_; }

  // --- The dealer ---
  ModelDemand Demand() const;
  void TakeMasks(const MaskShareMessage& masks);
  void TakeSegment(const SegmentMessage& segment);

  // --- The other server ---
  AnnounceMessage Announce() const;
  // The link has come up, or gone: what is in memory is burnt, since the other's may differ.
  void LinkChanged();
  // What the other server says of its model. Throws Error where that is another one.
  struct Reply {
    bool announce = false;     // it may not know of ours yet
    bool send_opened = false;  // it needs our OpenedMask
  };
  Reply PeerSays(const AnnounceMessage& peer);
  OpenedMaskMessage OwnOpened() const;
  void TakeOpened(const OpenedMaskMessage& opened);
  // First server: takes blocks out of the store until enough is ready, and returns what to ask the
  // second for.
  std::vector<ClaimMessage> MakeClaims();
  // Whether that failed since it was last asked: the second has to hear what is lost, or its half
  // takes the room for more.
  bool HasLost();
  // Second server: the same of its store.
  bool FollowClaim(const ClaimMessage& claim);
  // First server: the second has done so, or refuses.
  void FinishClaim(const ClaimedMessage& answer);
  // First server: what it has burnt since it was last asked. Second server: it burns them too.
  std::vector<BurnMessage> BurntHere();
  void FollowBurn(const BurnMessage& burn);

  // --- Clients ---
  // Both servers hold the same model and have met.
  bool Active() const;
  // Active, and there is material.
  bool Usable() const;
  // `ids`: what the first server reserved, at the second; empty at the first. Waits for material
  // that is on its way from the store until the deadline.
  ReservationMessage Reserve(const std::string& pin, std::uint32_t count,
                             const std::vector<QueryId>& ids, Deadline deadline);
  using Swap = std::function<ExchangeMessage(const ExchangeMessage&)>;
  // The whole query; `swap` gives the other server's message for one's own. Whatever fails burns
  // it.
  ResultMessage Query(const std::string& pin, const InputMessage& input, const Swap& swap);
  // Wipes what finished queries leave. After the result is on its way.
  void Tidy();

  // --- The end ---
  // Also after the next start.
  void Drain();
  bool Draining() const;
  bool Idle() const;  // nothing is reserved or under way
  // Every so often: reservations past their time are burnt, segments that the other server lacks
  // go. Returns how many reservations were burnt.
  std::size_t Sweep();
  // Erases everything of this model from the disk.
  void Destroy();

  struct Status {
    std::size_t stored = 0, ready = 0, reserved = 0, running = 0;
  };
  Status Now() const;

 private:
  enum class Stage { kNeedsMasks, kNeedsOpened, kReady };
  struct Reserved {
    std::string pin;
    Deadline until;
    Holdings::Hold hold;
  };
  using BlockKey = std::pair<SegmentId, std::uint32_t>;

  void CheckPolicy() const;
  void Restore();
  void Save(const char* name, std::span<const std::uint8_t> bytes) const;
  SecretBytes Load(const char* name) const;
  // `link`: the one that the pieces were claimed over. Where it throws they are burnt.
  void AddReady(std::vector<SecretBytes> pieces, std::uint64_t link);
  // What MakeClaims went for is ready, or will not come.
  void HasCome(std::size_t pieces, std::uint64_t link);
  void BurnMemory();
  void DrainLocked();
  std::uint64_t Link() const;
  // Pieces of segments that both servers hold, not spent at either.
  std::size_t CommonUnspent() const;

  const std::filesystem::path folder_;
  const bool second_;
  const ServiceLimits limits_;
  const std::string policy_;
  Holdings& holdings_;
  const EventLog& log_;
  const std::function<void()> wake_;
  OfferMessage offer_;
  std::filesystem::file_time_type loaded_at_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<MaterialStore> store_;
  // Held shared by who computes with the key that the two servers agreed on, alone by who agrees on
  // another.
  mutable std::shared_mutex meeting_;

  mutable std::mutex mutex_;
  std::condition_variable more_;  // material has become ready
  Stage stage_ = Stage::kNeedsMasks;
  bool draining_ = false;
  bool peer_here_ = false;  // it has announced the same model since the link came up
  Digest masks_{};
  HelloMessage met_;
  std::map<SegmentId, SegmentState> peer_segments_;
  std::map<SegmentId, Deadline> alone_;  // segments that the other server lacks, since when
  std::map<BlockKey, std::vector<SecretBytes>> pending_;  // claimed here, the other is asked
  std::map<QueryId, Reserved> reserved_;
  std::vector<QueryId> burnt_;  // first server: the second is not told yet
  bool store_fails_ = false;    // at the last claim
  bool has_lost_ = false;       // since HasLost
  std::uint64_t link_ = 0;      // how often what is in memory was burnt
  std::size_t coming_ = 0;      // pieces that MakeClaims went for
  std::size_t wanted_ = 0;      // by who waits
  std::size_t running_ = 0;     // queries
};

}  // namespace sotto
