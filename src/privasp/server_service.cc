#include "privasp/server_service.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/digest.h"
#include "base/error.h"
#include "base/private_folder.h"
#include "mpc/wire.h"

namespace sotto {
namespace {

constexpr auto kTick = std::chrono::milliseconds(100);
constexpr std::size_t kSmallFrame = std::size_t{1} << 16;
constexpr std::size_t kTrustedFrame = std::size_t{1} << 30;
// Connections that are no client's: dealer, provider, the other server, status, handshakes.
constexpr std::size_t kOtherConnections = 32;
constexpr const char* kStoppingText = "the server is shutting down";

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
      listener_(config_.listen),
      quota_(config_.limits.quota_per_hour),
      holdings_(config_.limits.reserved, config_.limits.reserved_total),
      started_(std::chrono::steady_clock::now()),
      link_(
          party_, config_, log_, [this](bool up) { LinkChanged(up); },
          [this](SecretBytes frame) { HandlePeer(std::move(frame)); },
          [this] { Count(ReasonName(Reason::kMalformed)); }) {
  OpenModels();
  working_ = std::thread([this] { WorkLoop(); });
  accepting_ = std::thread([this] { AcceptLoop(); });
  if (second_) link_.Start();
  log_.Info("listening", {{"address", Address()}, {"role", RoleName(party_.Own().role)}});
}

ServerService::~ServerService() { Stop(); }

void ServerService::Stop() {
  if (stopping_.exchange(true)) return;
  log_.Info("stopping");
  listener_.Shut();
  accepting_.join();
  // Who is being answered gets the answer, and who asks meanwhile is refused.
  const Deadline last = After(config_.limits.query_s + 1.0);
  while (!SayGoodbye() && std::chrono::steady_clock::now() < last) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  link_.Stop();
  Reap(true);
  {
    const std::scoped_lock lock(work_mutex_);
    work_ended_ = true;
    work_.notify_all();
  }
  working_.join();
  log_.Info("stopped");
}

// --- Connections ---

void ServerService::AcceptLoop() {
  while (!stopping_) {
    try {
      const int descriptor = listener_.Accept(After(1.0));
      Reap(false);
      if (descriptor >= 0) TakeConnection(descriptor);
    } catch (const std::exception& error) {
      log_.Warn("accepting", {{"reason", error.what()}});
      std::this_thread::sleep_for(kTick);
    }
  }
}

void ServerService::TakeConnection(int descriptor) {
  const std::scoped_lock lock(connections_mutex_);
  // More than this are not even told why: that costs a handshake.
  if (connections_.size() >= config_.limits.connections + kOtherConnections) {
    ::close(descriptor);
    Count("refused_connections");
    return;
  }
  Connection& connection = connections_.emplace_back();
  connection.handshake = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  try {
    connection.thread = std::thread([this, &connection, descriptor] {
      RunConnection(connection, descriptor);
      connection.ended = true;
    });
  } catch (const std::exception&) {
    ::close(descriptor);
    ::close(connection.handshake);
    connections_.pop_back();
    throw;
  }
}

void ServerService::Reap(bool all) {
  std::list<Connection> over;
  {
    const std::scoped_lock lock(connections_mutex_);
    for (auto it = connections_.begin(); it != connections_.end();) {
      const auto next = std::next(it);
      if (all) {
        const std::scoped_lock one(it->mutex);
        if (it->handshake >= 0) ::shutdown(it->handshake, SHUT_RDWR);
        if (it->channel) it->channel->Shut();
      }
      if (all || it->ended) over.splice(over.end(), connections_, it);
      it = next;
    }
  }
  for (Connection& connection : over) connection.thread.join();
}

bool ServerService::SayGoodbye() {
  const std::scoped_lock lock(connections_mutex_);
  const auto busy = [](Connection& connection) {
    const std::scoped_lock one(connection.mutex);
    return connection.answering && !connection.ended;
  };
  if (std::any_of(connections_.begin(), connections_.end(), busy)) return false;
  const SecretBytes goodbye = RefusalMessage{Reason::kStopping, kStoppingText}.Serialise();
  for (Connection& connection : connections_) {
    const std::scoped_lock one(connection.mutex);
    if (!connection.channel || connection.answering || connection.ended ||
        connection.channel->Peer().role == Role::kSecondServer) {
      continue;
    }
    try {
      // Whoever asks next reads this as the answer.
      connection.channel->Send(goodbye, After(0.1));
    } catch (const Error&) {
      // It is gone.
    }
    connection.channel->Shut();
  }
  return true;
}

// Nothing where it fails.
std::shared_ptr<Channel> ServerService::Handshake(Connection& self, int descriptor) {
  std::shared_ptr<Channel> channel;
  try {
    channel = ListeningPort::Handshake(party_, descriptor, After(config_.limits.request_s));
  } catch (const std::exception& error) {
    Count("failed_handshakes");
    log_.Warn("no connection", {{"reason", error.what()}});
  }
  const std::scoped_lock lock(self.mutex);
  ::close(std::exchange(self.handshake, -1));
  self.channel = channel;
  return channel;
}

void ServerService::Admit(const PartyIdentity& peer) {
  CheckPeer(peer);
  const std::scoped_lock lock(connections_mutex_);
  if (stopping_) throw Refused(Reason::kStopping, kStoppingText);
  if (peer.role != Role::kClient) return;
  if (clients_ >= config_.limits.connections) {
    throw Refused(Reason::kBusy, fmt::format("{} clients are connected", clients_));
  }
  ++clients_;
}

void ServerService::RunConnection(Connection& self, int descriptor) {
  const std::shared_ptr<Channel> channel = Handshake(self, descriptor);
  if (!channel) return;
  const PartyIdentity& peer = channel->Peer();
  try {
    Admit(peer);
  } catch (const Refused& refused) {
    Count(ReasonName(refused.Why()));
    log_.Warn("connection refused",
              {{"reason", ReasonName(refused.Why())}, {"text", refused.what()}});
    try {
      // It stays open until AcceptLoop comes by, so that the peer reads this.
      channel->Send(RefusalMessage{refused.Why(), refused.what()}.Serialise(), After(1.0));
    } catch (const Error&) {
      // It did not wait for it.
    }
    return;
  }
  try {
    if (peer.role == Role::kSecondServer) {
      link_.Serve(channel);
    } else {
      Converse(self, *channel);
    }
  } catch (const std::exception& error) {
    log_.Info("connection ended", {{"peer", peer.name}, {"reason", error.what()}});
  }
  if (peer.role == Role::kClient) {
    const std::scoped_lock lock(connections_mutex_);
    --clients_;
  }
  channel->Shut();
}

// The certificate was signed by the authority; the parties that must not collude are pinned.
void ServerService::CheckPeer(const PartyIdentity& peer) const {
  for (const auto& [role, expected] : config_.peers) {
    if (expected.pin == peer.pin && role != peer.role) {
      throw Refused(Reason::kRole, fmt::format("{}: its key is that of {}, its certificate says {}",
                                               peer.name, RoleName(role), RoleName(peer.role)));
    }
    if (role == peer.role && expected.pin != peer.pin) {
      throw Refused(Reason::kRole, fmt::format("{}: says it is {}, whose key is another", peer.name,
                                               RoleName(role)));
    }
  }
  if (peer.pin == party_.Own().pin || peer.role == party_.Own().role) {
    throw Refused(Reason::kRole, fmt::format("{}: is of this server's own role or key", peer.name));
  }
  if (peer.role == Role::kFirstServer) {
    throw Refused(Reason::kRole, fmt::format("{}: the first server connects to nobody", peer.name));
  }
}

std::size_t ServerService::LargestFrame(Role role) const {
  if (role != Role::kClient) return kTrustedFrame;
  std::size_t largest = kSmallFrame;
  for (const auto& model : AllModels()) {
    largest = std::max(largest, kSmallFrame + kMaxBatch * model->Card().inputs * 8);
  }
  return largest;
}

void ServerService::Converse(Connection& self, Channel& channel) {
  const PartyIdentity& peer = channel.Peer();
  for (;;) {
    if (!channel.Readable(After(config_.limits.idle_s))) throw Error("nothing was asked for long");
    {
      const std::scoped_lock lock(self.mutex);
      self.answering = true;
    }
    const Deadline deadline = After(config_.limits.request_s);
    SecretBytes frame;
    try {
      frame = channel.Receive(LargestFrame(peer.role), deadline);
    } catch (const ChannelClosed&) {
      return;
    } catch (const Error&) {
      // Too long, cut off, or not all of it in time. Nothing can be said on this channel any more.
      if (!stopping_) Count(ReasonName(Reason::kMalformed));
      throw;
    }
    SecretBytes answer;
    bool end = false;
    try {
      if (stopping_) throw Refused(Reason::kStopping, kStoppingText);
      answer = Answer(peer, frame);
    } catch (const Refused& refused) {
      Count(ReasonName(refused.Why()));
      log_.Info(
          "refused",
          {{"peer", peer.name}, {"reason", ReasonName(refused.Why())}, {"text", refused.what()}});
      answer = RefusalMessage{refused.Why(), refused.what()}.Serialise();
      end = refused.Why() == Reason::kMalformed;
    }
    channel.Send(answer, deadline);
    {
      const std::scoped_lock lock(self.mutex);
      self.answering = false;
    }
    if (end || stopping_) return;
    for (const auto& model : AllModels()) model->Tidy();
  }
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
      Retire(RetireMessage::Parse(frame).name);
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

// --- Models ---

void ServerService::OpenModels() {
  const std::filesystem::path folder = config_.state / "models";
  MakePrivateFolder(folder, "");
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.is_directory()) continue;
    if (!std::filesystem::exists(entry.path() / "model")) {
      // A model that was being loaded, or destroyed, when the server ended.
      std::filesystem::remove_all(entry.path());
      continue;
    }
    auto model = std::make_shared<ServedModel>(
        entry.path(), second_, config_, holdings_, log_, [this] { Do([] {}); }, nullptr);
    log_.Info("model here", {{"model", model->Offer().name}, {"id", HexText(model->Card().id)}});
    models_[model->Card().id] = std::move(model);
  }
}

void ServerService::LoadModel(const LoadModelMessage& load) {
  const ModelId& id = load.offer.card.id;
  const std::scoped_lock one(loading_);
  {
    const std::scoped_lock lock(models_mutex_);
    if (models_.contains(id)) throw Refused(Reason::kModel, "a model of this id is here already");
    if (models_.size() >= kMostModels) {
      throw Refused(Reason::kModel, fmt::format("{} models are here already", models_.size()));
    }
  }
  const std::filesystem::path folder = config_.state / "models" / HexText(id);
  std::shared_ptr<ServedModel> model;
  try {
    model = std::make_shared<ServedModel>(
        folder, second_, config_, holdings_, log_, [this] { Do([] {}); }, &load);
  } catch (const Error& error) {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
    const auto* refused = dynamic_cast<const Refused*>(&error);
    throw Refused(refused != nullptr ? refused->Why() : Reason::kModel, error.what());
  }
  {
    const std::scoped_lock lock(models_mutex_);
    models_[id] = model;
  }
  log_.Info("model loaded", {{"model", load.offer.name}, {"id", HexText(id)}});
  Do([this, model] { Announce(*model); });
}

void ServerService::Retire(const std::string& name) {
  bool any = false;
  for (const auto& model : AllModels()) {
    if (model->Offer().name != name) continue;
    model->Drain();
    Do([this, model] { Announce(*model); });
    any = true;
    log_.Info("model retired", {{"model", name}, {"id", HexText(model->Card().id)}});
  }
  if (!any) throw Refused(Reason::kModel, fmt::format("no model '{}' is here", name));
}

ServerService::Models ServerService::AllModels() const {
  const std::scoped_lock lock(models_mutex_);
  Models all;
  for (const auto& [id, model] : models_) all.push_back(model);
  return all;
}

std::shared_ptr<ServedModel> ServerService::FindOrNull(const ModelId& id) const {
  const std::scoped_lock lock(models_mutex_);
  const auto found = models_.find(id);
  return found == models_.end() ? nullptr : found->second;
}

std::shared_ptr<ServedModel> ServerService::Find(const ModelId& id) const {
  auto model = FindOrNull(id);
  if (!model) throw Refused(Reason::kModel, "no model of this id is here");
  return model;
}

// The newest that fits and is ready.
std::shared_ptr<ServedModel> ServerService::Offered(const AskOfferMessage& asked) const {
  std::shared_ptr<ServedModel> best;
  bool any = false;
  for (const auto& model : AllModels()) {
    if (!asked.name.empty() && model->Offer().name != asked.name) continue;
    if (asked.id != ModelId{} && model->Card().id != asked.id) continue;
    any = true;
    if (!model->Active()) continue;
    const bool better = !best || std::pair(model->Usable(), model->LoadedAt()) >
                                     std::pair(best->Usable(), best->LoadedAt());
    if (better) best = model;
  }
  if (best) return best;
  throw Refused(Reason::kModel,
                any ? fmt::format("model '{}' is not ready: {}", asked.name,
                                  link_.Up() ? "it waits for the dealer or the other server"
                                             : "the other server is not there")
                    : fmt::format("no model '{}' is here", asked.name));
}

// A model of a name takes the place of older ones as soon as it has material. The first server says
// when and the second follows, so that a client never finds one model here and another there; what
// the first does not have any more goes too.
void ServerService::DrainReplaced() {
  const Models all = AllModels();
  for (const auto& newer : all) {
    if (!newer->Usable()) continue;
    for (const auto& older : all) {
      if (older->Draining() || older->Offer().name != newer->Offer().name ||
          older->LoadedAt() >= newer->LoadedAt() || (second_ && older->Active())) {
        continue;
      }
      older->Drain();
      Announce(*older);
      log_.Info("model replaced", {{"model", older->Offer().name},
                                   {"id", HexText(older->Card().id)},
                                   {"by", HexText(newer->Card().id)}});
    }
  }
}

void ServerService::DropDrained() {
  for (const auto& model : AllModels()) {
    if (!model->Draining() || !model->Idle()) continue;
    {
      const std::scoped_lock lock(models_mutex_);
      models_.erase(model->Card().id);
    }
    model->Destroy();
    log_.Info("model gone", {{"model", model->Offer().name}, {"id", HexText(model->Card().id)}});
  }
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
      link_.Tick();
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
  }
}

ServiceStatus ServerService::Status() const {
  const auto now = std::chrono::steady_clock::now();
  const auto since = [&](auto then) { return std::chrono::duration<double>(now - then).count(); };
  ServiceStatus status;
  status.role = RoleName(party_.Own().role);
  status.name = party_.Own().name;
  status.up_s = since(started_);
  {
    const std::scoped_lock lock(connections_mutex_);
    status.clients = clients_;
  }
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
