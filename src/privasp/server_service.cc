#include "privasp/server_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/digest.h"
#include "base/error.h"
#include "mpc/wire.h"

namespace sotto {
namespace {

constexpr auto kTick = std::chrono::milliseconds(100);
constexpr std::size_t kSmallFrame = std::size_t{1} << 16;
constexpr std::size_t kTrustedFrame = std::size_t{1} << 30;

const PartyConfig& Checked(const PartyConfig& config, const PartyIdentity& own) {
  if (own.role != Role::kFirstServer && own.role != Role::kSecondServer) {
    throw Error(fmt::format("a server's certificate is of role server1 or server2; this one is {}",
                            RoleName(own.role)));
  }
  CheckConfig(config, own);
  return config;
}

template <class Message>
SecretBytes Bytes(const Message& message) {
  return message.Serialise();
}

// From the other server: what is counted, as a refusal would be, and not answered.
class NoMessage : public Refused {
 public:
  using Refused::Refused;
};

template <class Message>
Message Parsed(std::span<const std::uint8_t> bytes) {
  try {
    return Message::Parse(bytes);
  } catch (const Error& error) {
    throw NoMessage(Reason::kMalformed, error.what());
  }
}

[[noreturn]] void RefuseKind(const PartyIdentity& peer) {
  throw Refused(Reason::kRole,
                fmt::format("role {} may not ask this of a server", RoleName(peer.role)));
}

}  // namespace

ServerService::ServerService(const PartyConfig& config, EventLog log)
    : config_(config),
      log_(std::move(log)),
      party_(config_.files),
      second_(Checked(config_, party_.Own()).state.empty() ||
              party_.Own().role == Role::kSecondServer),
      quota_(config_.limits.quota_per_hour),
      holdings_(config_.limits.reserved, config_.limits.reserved_total),
      started_(std::chrono::steady_clock::now()),
      link_(
          party_, config_, log_, [this](bool up) { LinkChanged(up); },
          [this](SecretBytes frame) { HandlePeer(std::move(frame)); },
          [this] { Count(ReasonName(Reason::kMalformed)); }),
      connections_(
          party_, config_, log_,
          {.answer = [this](const PartyIdentity& peer,
                            std::span<const std::uint8_t> frame) { return Answer(peer, frame); },
           .answered =
               [this] {
                 for (const auto& model : AllModels()) model->Tidy();
               },
           .serve = [this](const std::shared_ptr<Channel>& channel) { link_.Serve(channel); },
           .largest = [this](Role role) { return LargestFrame(role); },
           .count = [this](const char* what) { Count(what); }}) {
  OpenModels();
  working_ = std::thread([this] { WorkLoop(); });
  connections_.Start();
  if (second_) link_.Start();
  log_.Info("listening", {{"address", Address()}, {"role", RoleName(party_.Own().role)}});
}

ServerService::~ServerService() { Stop(); }

void ServerService::Stop() {
  if (stopping_.exchange(true)) return;
  log_.Info("stopping");
  connections_.Finish(After(config_.limits.query_s + 1.0));
  link_.Stop();
  connections_.End();
  {
    const std::scoped_lock lock(work_mutex_);
    work_ended_ = true;
    work_.notify_all();
  }
  working_.join();
  log_.Info("stopped");
}

// --- Questions ---

std::size_t ServerService::LargestFrame(Role role) const {
  if (role != Role::kClient) return kTrustedFrame;
  std::size_t largest = kSmallFrame;
  for (const auto& model : AllModels()) {
    largest = std::max(largest, kSmallFrame + kMaxBatch * model->Card().inputs * 8);
  }
  return largest;
}

SecretBytes ServerService::Answer(const PartyIdentity& peer, std::span<const std::uint8_t> frame) {
  MessageKind kind{};
  try {
    kind = KindOf(frame);
    if (kind == MessageKind::kAskStatus) {
      AskStatusMessage::Parse(frame);
      return Bytes(StatusMessage{FormatStatus(Status())});
    }
    switch (peer.role) {
      case Role::kClient:
        return AnswerClient(peer, frame);
      case Role::kProvider:
        return AnswerProvider(frame);
      case Role::kDealer:
        return AnswerDealer(frame);
      default:
        RefuseKind(peer);
    }
  } catch (const Refused&) {
    throw;
  } catch (const Error& error) {
    throw Refused(Reason::kMalformed, error.what());
  }
}

SecretBytes ServerService::AnswerClient(const PartyIdentity& peer,
                                        std::span<const std::uint8_t> frame) {
  switch (KindOf(frame)) {
    case MessageKind::kAskOffer:
      return Bytes(Offered(AskOfferMessage::Parse(frame))->Offer());
    case MessageKind::kAskReservation:
      return Bytes(Reserve(peer, AskReservationMessage::Parse(frame)));
    case MessageKind::kInput:
      return Bytes(Query(peer, InputMessage::Parse(frame)));
    default:
      RefuseKind(peer);
  }
}

SecretBytes ServerService::AnswerProvider(std::span<const std::uint8_t> frame) {
  switch (KindOf(frame)) {
    case MessageKind::kLoadModel:
      LoadModel(LoadModelMessage::Parse(frame));
      break;
    case MessageKind::kRetire:
      Retire(RetireMessage::Parse(frame));
      break;
    default:
      RefuseKind({Role::kProvider, {}, {}});
  }
  return Bytes(AcceptedMessage{});
}

// What fails there and is not refused is the disk's.
void ServerService::Store(const std::function<void()>& write) const {
  try {
    write();
  } catch (const Refused&) {
    throw;
  } catch (const std::exception& error) {
    log_.Warn("not stored", {{"reason", error.what()}});
    throw Refused(Reason::kStorage, error.what());
  }
}

SecretBytes ServerService::AnswerDealer(std::span<const std::uint8_t> frame) {
  {
    const std::scoped_lock lock(counts_mutex_);
    dealer_seen_ = std::chrono::steady_clock::now();
  }
  switch (KindOf(frame)) {
    case MessageKind::kAskDemand: {
      AskDemandMessage::Parse(frame);
      DemandMessage demand;
      for (const auto& model : AllModels()) {
        if (!model->Draining()) demand.models.push_back(model->Demand());
      }
      return Bytes(demand);
    }
    case MessageKind::kMaskShare: {
      const auto masks = MaskShareMessage::Parse(frame);
      const auto model = Find(masks.model);
      Store([&] { model->TakeMasks(masks); });
      log_.Info("masks taken", {{"model", model->Offer().name}});
      Do([this, model] {
        Announce(*model);
        if (link_.Up()) link_.Send(model->OwnOpened().Serialise());
      });
      break;
    }
    case MessageKind::kSegment: {
      const auto segment = SegmentMessage::Parse(frame);
      const auto model = Find(segment.model);
      Store([&] { model->TakeSegment(segment); });
      Count("utterances_stored", segment.pieces.size());
      Do([this, model] { Announce(*model); });
      break;
    }
    default:
      RefuseKind({Role::kDealer, {}, {}});
  }
  return Bytes(AcceptedMessage{});
}

ReservationMessage ServerService::Reserve(const PartyIdentity& peer,
                                          const AskReservationMessage& asked) {
  const auto model = Find(asked.model);
  if (asked.fingerprint != model->Offer().fingerprint) {
    throw Refused(Reason::kFeatures,
                  fmt::format("features of fingerprint '{}'; the model takes '{}'",
                              asked.fingerprint, model->Offer().fingerprint));
  }
  if (asked.ids.empty() == second_) {
    throw Refused(Reason::kReservation, "the first server names ids, the second is told them");
  }
  if (!link_.Up()) throw Refused(Reason::kPeer, "the other server is not there");
  if (!quota_.Take(peer.pin, asked.count, std::chrono::steady_clock::now())) {
    throw Refused(Reason::kQuota,
                  fmt::format("more than {} utterances in an hour", config_.limits.quota_per_hour));
  }
  ReservationMessage reservation;
  try {
    reservation = model->Reserve(peer.pin, asked.count, asked.ids, After(config_.limits.query_s));
  } catch (const Error&) {
    quota_.GiveBack(peer.pin, asked.count);
    throw;
  }
  Count("utterances_reserved", asked.count);
  const std::scoped_lock lock(work_mutex_);
  poked_ = true;
  work_.notify_one();
  return reservation;
}

ResultMessage ServerService::Query(const PartyIdentity& peer, const InputMessage& input) {
  const auto model = Find(input.model);
  const Deadline deadline = After(config_.limits.query_s);
  ResultMessage result = model->Query(
      peer.pin, input, [&](const ExchangeMessage& own) { return link_.Swap(own, deadline); });
  Count("utterances_answered", input.ids.size());
  return result;
}

void ServerService::Count(const char* what, std::uint64_t by) const {
  const std::scoped_lock lock(counts_mutex_);
  counts_[what] += by;
}

// --- The other server, and what is done beside the queries ---

void ServerService::LinkChanged(bool up) {
  for (const auto& model : AllModels()) model->LinkChanged();
  if (!up) return;
  // Behind what was still to be done of the link before, which brings nothing into this one.
  Do([this] {
    for (const auto& model : AllModels()) {
      model->LinkChanged();
      Announce(*model);
    }
  });
}

void ServerService::Announce(const ServedModel& model) {
  if (link_.Up()) link_.Send(model.Announce().Serialise());
}

void ServerService::HandlePeer(SecretBytes frame) {
  // A std::function is copied.
  auto shared = std::make_shared<SecretBytes>(std::move(frame));
  Do([this, shared] {
    try {
      TakeFromPeer(*shared);
    } catch (const NoMessage& error) {
      Count(ReasonName(error.Why()));
      throw;
    }
  });
}

void ServerService::TakeFromPeer(std::span<const std::uint8_t> bytes) {
  switch (KindOf(bytes)) {
    case MessageKind::kAnnounce: {
      const auto peer = Parsed<AnnounceMessage>(bytes);
      const auto model = FindOrNull(peer.card.id);
      if (!model) break;  // it will be told when this one has come here too
      const ServedModel::Reply reply = model->PeerSays(peer);
      if (reply.announce) Announce(*model);
      if (reply.send_opened) link_.Send(model->OwnOpened().Serialise());
      break;
    }
    case MessageKind::kOpenedMask: {
      const auto opened = Parsed<OpenedMaskMessage>(bytes);
      const auto model = Find(opened.model);
      model->TakeOpened(opened);
      Announce(*model);
      break;
    }
    case MessageKind::kClaim: {
      const auto claim = Parsed<ClaimMessage>(bytes);
      if (!second_) throw NoMessage(Reason::kRole, "a claim at the first server");
      const auto model = FindOrNull(claim.model);
      const bool done = model && model->FollowClaim(claim);
      link_.Send(ClaimedMessage{claim, done}.Serialise());
      if (model && !done) Announce(*model);
      break;
    }
    case MessageKind::kClaimed: {
      const auto answer = Parsed<ClaimedMessage>(bytes);
      Find(answer.claim.model)->FinishClaim(answer);
      break;
    }
    case MessageKind::kBurn: {
      const auto burn = Parsed<BurnMessage>(bytes);
      if (const auto model = FindOrNull(burn.model)) model->FollowBurn(burn);
      break;
    }
    case MessageKind::kRefusal:
      throw Error("the other server refuses: " + Parsed<RefusalMessage>(bytes).text);
    default:
      throw NoMessage(Reason::kRole, "a message that no server sends to another");
  }
}

void ServerService::Do(std::function<void()> task) {
  const std::scoped_lock lock(work_mutex_);
  tasks_.push_back(std::move(task));
  poked_ = true;
  work_.notify_one();
}

void ServerService::WorkLoop() {
  auto ticked = std::chrono::steady_clock::now();
  for (;;) {
    std::deque<std::function<void()>> tasks;
    {
      std::unique_lock lock(work_mutex_);
      work_.wait_for(lock, kTick, [&] { return poked_ || work_ended_; });
      if (work_ended_) return;
      poked_ = false;
      tasks.swap(tasks_);
    }
    for (const auto& task : tasks) {
      try {
        task();
      } catch (const std::exception& error) {
        log_.Warn("between the servers", {{"reason", error.what()}});
      }
    }
    try {
      Round();
      if (std::chrono::steady_clock::now() - ticked < kTick) continue;
      ticked = std::chrono::steady_clock::now();
      DrainReplaced();
      DropDrained();
      for (const auto& model : AllModels()) Sweep(*model);
    } catch (const std::exception& error) {
      log_.Warn("housekeeping", {{"reason", error.what()}});
    }
  }
}

void ServerService::Sweep(ServedModel& model) {
  const std::size_t burnt = model.Sweep();
  if (burnt > 0) Count("reservations_burnt", burnt);
  // Else the second server would keep in memory what no client asks it for.
  for (const BurnMessage& burn : model.BurntHere()) {
    if (link_.Up()) link_.Send(burn.Serialise());
  }
}

// Material out of the stores, in step with the other server.
void ServerService::Round() {
  if (!link_.Up()) return;
  for (const auto& model : AllModels()) {
    for (const ClaimMessage& claim : model->MakeClaims()) link_.Send(claim.Serialise());
    if (model->HasLost()) Announce(*model);
  }
}

ServiceStatus ServerService::Status() const {
  const auto now = std::chrono::steady_clock::now();
  const auto since = [&](auto then) { return std::chrono::duration<double>(now - then).count(); };
  ServiceStatus status;
  status.role = RoleName(party_.Own().role);
  status.name = party_.Own().name;
  status.up_s = since(started_);
  status.clients = connections_.Clients();
  status.link = link_.Up();
  for (const auto& model : AllModels()) {
    const ServedModel::Status is = model->Now();
    const ModelCard& card = model->Card();
    status.models.push_back({.name = model->Offer().name,
                             .id = HexText(card.id),
                             .scenario = static_cast<std::uint64_t>(card.scenario),
                             .units = card.units,
                             .policy = card.decision_only ? "decision" : "score",
                             .fingerprint = model->Offer().fingerprint,
                             .state = model->Draining() ? "draining"
                                      : model->Active() ? "active"
                                                        : "waiting",
                             .stored = is.stored,
                             .ready = is.ready,
                             .reserved = is.reserved,
                             .running = is.running});
  }
  const std::scoped_lock lock(counts_mutex_);
  if (dealer_seen_ != std::chrono::steady_clock::time_point{}) {
    // It may have come since `now`.
    status.dealer_seen_s_ago = std::max(0.0, since(dealer_seen_));
  }
  status.counts = counts_;
  return status;
}

}  // namespace sotto
