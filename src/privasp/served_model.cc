#include "privasp/served_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/private_folder.h"
#include "base/random.h"

namespace sotto {
namespace {

// Pieces that are taken out of the store at a time: one sync of the disk for all of them.
constexpr std::uint32_t kBlock = 8;
constexpr std::uint64_t kLargestModel = std::uint64_t{1} << 30;

constexpr const char* kRetired = "retired";

bool IsShared(const ModelCard& card) { return card.scenario == Scenario::kSharedModel; }

}  // namespace

ServedModel::ServedModel(std::filesystem::path folder, bool second, const PartyConfig& config,
                         Holdings& holdings, const EventLog& log, std::function<void()> wake,
                         const LoadModelMessage* load)
    : folder_(std::move(folder)),
      second_(second),
      limits_(config.limits),
      policy_(config.policy),
      holdings_(holdings),
      log_(log),
      wake_(std::move(wake)),
      server_(std::make_unique<Server>(second)) {
  if (load != nullptr) {
    MakePrivateFolder(folder_, "");
    offer_ = load->offer;
    // Checked before it is kept.
    const ModelCard card = IsShared(offer_.card) ? ModelShareMessage::Parse(load->model).card
                                                 : PublicModelMessage::Parse(load->model).card;
    if (card != offer_.card) throw Error("a model whose card is not that of its offer");
    if (offer_.front_end.Fingerprint() != offer_.fingerprint) {
      throw Error(fmt::format("features of fingerprint '{}'; this program computes '{}'",
                              offer_.fingerprint, offer_.front_end.Fingerprint()));
    }
    CheckPolicy();
    Save("model", load->Serialise());
  }
  Restore();
  store_ = std::make_unique<MaterialStore>(folder_ / "store", Card().id, limits_.stock);
}

void ServedModel::CheckPolicy() const {
  const std::string policy = Card().decision_only ? "decision" : "score";
  if (policy_.empty() || policy_ == policy) return;
  throw Error(fmt::format("model '{}' is of policy {}; this server's configuration says {}",
                          offer_.name, policy, policy_));
}

void ServedModel::Restore() {
  const LoadModelMessage load = LoadModelMessage::Parse(Load("model"));
  offer_ = load.offer;
  CheckPolicy();  // the configuration may be another than when it was loaded
  draining_ = std::filesystem::exists(folder_ / kRetired);
  loaded_at_ = std::filesystem::last_write_time(folder_ / "model");
  if (!IsShared(Card())) {
    server_->LoadPublicModel(PublicModelMessage::Parse(load.model));
    stage_ = Stage::kReady;
    return;
  }
  if (!std::filesystem::exists(folder_ / "masks")) return;
  const SecretBytes masks = Load("masks");
  masks_ = DigestOf(masks);
  server_->LoadModel(ModelShareMessage::Parse(load.model), MaskShareMessage::Parse(masks));
  stage_ = Stage::kNeedsOpened;
  if (!std::filesystem::exists(folder_ / "opened")) return;
  server_->FinishModel(OpenedMaskMessage::Parse(Load("opened")));
  stage_ = Stage::kReady;
}

void ServedModel::Save(const char* name, std::span<const std::uint8_t> bytes) const {
  try {
    WritePrivateFile(folder_ / name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                     IfExists::kReplace);
  } catch (const Error& error) {
    throw Refused(Reason::kStorage, error.what());
  }
}

SecretBytes ServedModel::Load(const char* name) const {
  std::string text = ReadTextFile(folder_ / name, kLargestModel);
  SecretBytes bytes(text.begin(), text.end());
  Wipe(text);
  return bytes;
}

// --- The dealer ---

ModelDemand ServedModel::Demand() const {
  const std::scoped_lock lock(mutex_);
  ModelDemand demand{Card(), masks_, 0};
  // Before both servers have the model its material could not be checked.
  if (stage_ == Stage::kReady && peer_here_ && !draining_) {
    demand.room = static_cast<std::uint32_t>(store_->Room());
  }
  return demand;
}

void ServedModel::TakeMasks(const MaskShareMessage& masks) {
  const std::scoped_lock lock(mutex_);
  if (stage_ != Stage::kNeedsMasks) throw Refused(Reason::kModel, "masks where none are needed");
  if (masks.model != Card().id) throw Refused(Reason::kModel, "masks of another model");
  const SecretBytes bytes = masks.Serialise();
  server_->LoadModel(ModelShareMessage::Parse(LoadModelMessage::Parse(Load("model")).model), masks);
  Save("masks", bytes);
  masks_ = DigestOf(bytes);
  stage_ = Stage::kNeedsOpened;
}

void ServedModel::TakeSegment(const SegmentMessage& segment) {
  {
    const std::scoped_lock lock(mutex_);
    if (stage_ != Stage::kReady || draining_) {
      throw Refused(Reason::kModel, "material for a model that takes none");
    }
  }
  store_->Add(segment.id, segment.pieces);
}

// --- The other server ---

AnnounceMessage ServedModel::Announce() const {
  const std::scoped_lock lock(mutex_);
  return {Card(),    offer_.Fingerprint(), server_->Hello(), stage_ == Stage::kNeedsOpened,
          draining_, store_->Segments()};
}

void ServedModel::LinkChanged() {
  const std::scoped_lock lock(mutex_);
  peer_here_ = false;
  peer_segments_.clear();
  BurnMemory();
  more_.notify_all();
}

// With the lock held.
void ServedModel::BurnMemory() {
  ++link_;
  coming_ = 0;
  pending_.clear();
  reserved_.clear();
  burnt_.clear();
  server_->BurnAll();
  server_->ForgetIds();
}

ServedModel::Reply ServedModel::PeerSays(const AnnounceMessage& peer) {
  if (peer.card != Card() || peer.offer != offer_.Fingerprint()) {
    throw Error("the other server has another model of this id");
  }
  // Nobody computes with the old key while another is agreed on.
  const std::unique_lock alone(meeting_);
  const std::scoped_lock lock(mutex_);
  if (met_.public_key != peer.hello.public_key) {
    BurnMemory();
    server_->Meet(peer.hello);
    met_ = peer.hello;
  }
  const bool first_time = !peer_here_;
  peer_here_ = true;
  peer_segments_.clear();
  for (const SegmentState& segment : peer.segments) peer_segments_[segment.id] = segment;
  if (peer.draining) DrainLocked();
  return {first_time, peer.needs_opened && stage_ != Stage::kNeedsMasks};
}

OpenedMaskMessage ServedModel::OwnOpened() const {
  // Made anew: it is 24 MB that are needed once.
  Server again(second_);
  return again.LoadModel(ModelShareMessage::Parse(LoadModelMessage::Parse(Load("model")).model),
                         MaskShareMessage::Parse(Load("masks")));
}

void ServedModel::TakeOpened(const OpenedMaskMessage& opened) {
  const std::unique_lock alone(meeting_);
  const std::scoped_lock lock(mutex_);
  if (stage_ != Stage::kNeedsOpened) return;  // it was sent twice
  server_->FinishModel(opened);
  stage_ = Stage::kReady;
  Save("opened", opened.Serialise());  // where this fails, the other is asked again after a start
}

// With the lock held.
std::size_t ServedModel::CommonUnspent() const {
  std::size_t sum = 0;
  for (const SegmentState& own : store_->Segments()) {
    const auto peer = peer_segments_.find(own.id);
    if (peer == peer_segments_.end()) continue;
    sum += own.pieces - std::min(own.pieces, std::max(own.spent, peer->second.spent));
  }
  return sum;
}

std::vector<ClaimMessage> ServedModel::MakeClaims() {
  std::vector<ClaimMessage> plan, claims;
  std::uint64_t link = 0;
  {
    const std::scoped_lock lock(mutex_);
    link = link_;
    if (second_ || draining_ || !peer_here_ || stage_ != Stage::kReady) return {};
    std::size_t ready = server_->Stock() + coming_;
    // Who waits comes first, with no more than is missing: a whole block takes several times as
    // long. The rest follows when that is handed out.
    const bool waited_for = ready < wanted_;
    const std::size_t target = waited_for ? wanted_ : limits_.ready;
    for (const SegmentState& own : store_->Segments()) {
      const auto peer = peer_segments_.find(own.id);
      if (peer == peer_segments_.end()) continue;
      std::uint32_t first = std::max(own.spent, peer->second.spent);
      while (ready < target && first < own.pieces) {
        std::uint32_t count = std::min(kBlock, own.pieces - first);
        if (waited_for) count = std::min(count, static_cast<std::uint32_t>(target - ready));
        plan.push_back({Card().id, own.id, first, count});
        first += count;
        ready += count;
        coming_ += count;
      }
    }
  }
  // Without the lock: the disk takes its time.
  for (const ClaimMessage& claim : plan) {
    try {
      auto pieces = store_->Claim(claim.segment, claim.first, claim.count);
      const std::scoped_lock lock(mutex_);
      store_fails_ = false;
      if (link != link_) continue;  // burnt, as all that was in memory
      pending_[{claim.segment, claim.first}] = std::move(pieces);
      claims.push_back(claim);
    } catch (const Error& error) {
      log_.Warn("claim failed", {{"reason", error.what()}});
      {
        const std::scoped_lock lock(mutex_);
        store_fails_ = true;
        has_lost_ = true;
      }
      HasCome(claim.count, link);
    }
  }
  return claims;
}

bool ServedModel::HasLost() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(has_lost_, false);
}

bool ServedModel::FollowClaim(const ClaimMessage& claim) {
  try {
    const std::uint64_t link = Link();
    AddReady(store_->Claim(claim.segment, claim.first, claim.count), link);
    return true;
  } catch (const std::exception& error) {
    log_.Warn("claim refused", {{"reason", error.what()}});
    return false;
  }
}

void ServedModel::FinishClaim(const ClaimedMessage& answer) {
  std::vector<SecretBytes> pieces;
  std::uint64_t link = 0;
  {
    const std::scoped_lock lock(mutex_);
    link = link_;
    auto node = pending_.extract({answer.claim.segment, answer.claim.first});
    if (node.empty()) return;  // of a link before this one: burnt
    auto& peer = peer_segments_[answer.claim.segment];
    // What the second refuses is spent there; it announces its segments behind this message.
    peer.spent = std::max(peer.spent, answer.claim.first + answer.claim.count);
    if (answer.done) pieces = std::move(node.mapped());
  }
  try {
    AddReady(std::move(pieces), link);
  } catch (const std::exception& error) {
    log_.Warn("material refused", {{"reason", error.what()}});
  }
  HasCome(answer.claim.count, link);
}

void ServedModel::HasCome(std::size_t pieces, std::uint64_t link) {
  const std::scoped_lock lock(mutex_);
  if (link == link_) coming_ -= pieces;
  more_.notify_all();
}

void ServedModel::AddReady(std::vector<SecretBytes> pieces, std::uint64_t link) {
  std::vector<MaterialMessage> materials;
  std::vector<QueryId> ids;
  std::optional<Error> damage;
  materials.reserve(pieces.size());
  for (SecretBytes& piece : pieces) {
    try {
      ids.push_back(materials.emplace_back(MaterialMessage::Parse(piece)).id);
    } catch (const Error& error) {
      damage = error;  // the ids of the others are wanted all the same
    }
    piece = {};
  }
  try {
    if (damage) throw Error(*damage);
    const std::shared_lock computing(meeting_);
    server_->AddMaterial(std::move(materials));
  } catch (const std::exception&) {
    const std::scoped_lock lock(mutex_);
    server_->Burn(ids);
    // The second server has its halves in memory already.
    if (!second_ && link == link_) burnt_.insert(burnt_.end(), ids.begin(), ids.end());
    throw;
  }
  const std::scoped_lock lock(mutex_);
  // The other server has burnt its half in the meantime.
  if (link != link_) server_->Burn(ids);
}

std::uint64_t ServedModel::Link() const {
  const std::scoped_lock lock(mutex_);
  return link_;
}

std::vector<BurnMessage> ServedModel::BurntHere() {
  std::vector<QueryId> ids;
  {
    const std::scoped_lock lock(mutex_);
    ids.swap(burnt_);
  }
  std::vector<BurnMessage> messages;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i % kMaxBatch == 0) messages.push_back({Card().id, {}});
    messages.back().ids.push_back(ids[i]);
  }
  return messages;
}

void ServedModel::FollowBurn(const BurnMessage& burn) {
  const std::scoped_lock lock(mutex_);
  for (const QueryId& id : burn.ids) reserved_.erase(id);
  server_->Burn(burn.ids);
}

// --- Clients ---

bool ServedModel::Active() const {
  const std::scoped_lock lock(mutex_);
  return stage_ == Stage::kReady && peer_here_ && !draining_;
}

bool ServedModel::Usable() const {
  const std::scoped_lock lock(mutex_);
  return stage_ == Stage::kReady && peer_here_ && !draining_ &&
         (server_->Stock() > 0 || CommonUnspent() > 0);
}

ReservationMessage ServedModel::Reserve(const std::string& pin, std::uint32_t count,
                                        const std::vector<QueryId>& ids, Deadline deadline) {
  std::unique_lock lock(mutex_);
  if (stage_ != Stage::kReady || !peer_here_ || draining_) {
    throw Refused(Reason::kModel, "the model is not ready, or being retired");
  }
  auto holds = holdings_.Take(pin, count);
  ReservationMessage reservation;
  if (ids.empty()) {
    wanted_ += count;
    const auto enough = [&] { return server_->Stock() >= count || !peer_here_ || draining_; };
    while (!enough() && server_->Stock() + CommonUnspent() + coming_ >= count) {
      wake_();
      if (more_.wait_until(lock, deadline) == std::cv_status::timeout) break;
    }
    wanted_ -= count;
    if (!peer_here_) throw Refused(Reason::kPeer, "the other server is not there");
    if (draining_) throw Refused(Reason::kModel, "the model is being retired");
    if (server_->Stock() < count) {
      throw Refused(store_fails_ ? Reason::kStorage : Reason::kStock,
                    fmt::format("{} utterances asked for, {} are ready and {} in stock", count,
                                server_->Stock(), CommonUnspent()));
    }
    reservation = server_->Reserve(count);
  } else {
    try {
      reservation = server_->Reserve(ids);
    } catch (const Error& error) {
      throw Refused(Reason::kStock, error.what());
    }
  }
  const Deadline until = After(limits_.reservation_s);
  for (std::size_t i = 0; i < reservation.ids.size(); ++i) {
    reserved_.emplace(reservation.ids[i], Reserved{pin, until, std::move(holds[i])});
  }
  return reservation;
}

ResultMessage ServedModel::Query(const std::string& pin, const InputMessage& input,
                                 const Swap& swap) {
  std::vector<Holdings::Hold> holds;  // until the query is over
  {
    const std::scoped_lock lock(mutex_);
    const Deadline now = std::chrono::steady_clock::now();
    for (const QueryId& id : input.ids) {
      const auto reserved = reserved_.find(id);
      if (reserved == reserved_.end() || reserved->second.pin != pin ||
          reserved->second.until < now) {
        throw Refused(Reason::kReservation,
                      "an input for an id that is not reserved for this certificate, or no longer");
      }
    }
    for (const QueryId& id : input.ids) {
      auto node = reserved_.extract(id);
      if (!node.empty()) holds.push_back(std::move(node.mapped().hold));
    }
    ++running_;
  }
  bool answered = false;
  const auto finish = [&](const void*) {
    if (!answered) server_->Burn(input.ids);
    const std::scoped_lock lock(mutex_);
    --running_;
    if (!answered && !second_) burnt_.insert(burnt_.end(), input.ids.begin(), input.ids.end());
  };
  const std::unique_ptr<const void, decltype(finish)> finally(this, finish);
  try {
    ExchangeMessage own;
    try {
      const std::shared_lock computing(meeting_);
      own = server_->Take(input);
    } catch (const Error& error) {
      throw Refused(Reason::kInput, error.what());
    }
    for (;;) {
      const ExchangeMessage peer = swap(own);
      const std::shared_lock computing(meeting_);
      auto next = server_->Exchange(peer);
      if (auto* result = std::get_if<ResultMessage>(&next)) {
        answered = true;
        return std::move(*result);
      }
      own = std::get<ExchangeMessage>(std::move(next));
    }
  } catch (const Refused&) {
    throw;
  } catch (const Error& error) {
    throw Refused(Reason::kPeer, error.what());
  }
}

void ServedModel::Tidy() { server_->Forget(); }

// --- The end ---

void ServedModel::Drain() {
  const std::scoped_lock lock(mutex_);
  DrainLocked();
}

// With the lock held.
void ServedModel::DrainLocked() {
  if (draining_) return;
  draining_ = true;
  more_.notify_all();
  try {
    Save(kRetired, {});
  } catch (const Error& error) {
    log_.Warn("not retired for ever", {{"reason", error.what()}});
  }
}

bool ServedModel::Draining() const {
  const std::scoped_lock lock(mutex_);
  return draining_;
}

bool ServedModel::Idle() const {
  const std::scoped_lock lock(mutex_);
  return reserved_.empty() && running_ == 0;
}

std::size_t ServedModel::Sweep() {
  std::vector<SegmentId> orphans;
  std::vector<QueryId> late;
  {
    const std::scoped_lock lock(mutex_);
    const Deadline now = std::chrono::steady_clock::now();
    for (const auto& [id, reserved] : reserved_) {
      if (reserved.until < now) late.push_back(id);
    }
    for (const QueryId& id : late) reserved_.erase(id);
    if (!second_) burnt_.insert(burnt_.end(), late.begin(), late.end());
    std::map<SegmentId, Deadline> alone;
    if (peer_here_) {
      const auto oldest = now - std::chrono::duration<double>(limits_.orphan_s);
      for (const SegmentState& own : store_->Segments()) {
        if (peer_segments_.contains(own.id)) continue;
        const auto known = alone_.find(own.id);
        const Deadline since = known == alone_.end() ? now : known->second;
        alone[own.id] = since;
        if (since < oldest) orphans.push_back(own.id);
      }
    }
    alone_ = std::move(alone);
  }
  server_->Burn(late);
  server_->ForgetIds();
  for (const SegmentId& id : orphans) {
    store_->Drop(id);
    log_.Warn("segment dropped", {{"reason", "the other server does not have it"}});
  }
  return late.size();
}

void ServedModel::Destroy() {
  store_->Destroy();
  std::filesystem::remove(folder_ / "model");  // first: what is left without it goes at a start
  std::filesystem::remove_all(folder_);
}

ServedModel::Status ServedModel::Now() const {
  const std::scoped_lock lock(mutex_);
  return {store_->Unspent(), server_->Stock(), reserved_.size(), running_};
}

}  // namespace sotto
