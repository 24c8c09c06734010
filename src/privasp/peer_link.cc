#include "privasp/peer_link.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "mpc/wire.h"

namespace sotto {
namespace {

// Long messages that wait to be sent, of 24 MB at 1024 units; more wait where they come from.
constexpr std::size_t kMostLong = 4;
// Exchanges that came before their client's input: as many as clients can have under way and more.
constexpr std::size_t kMostSlots = 4096;
constexpr const char* kNotThere = "the other server is not there";
constexpr auto kRetry = std::chrono::milliseconds(100);

}  // namespace

PeerLink::PeerLink(const TlsParty& party, const PartyConfig& config, const EventLog& log,
                   std::function<void(bool)> changed, std::function<void(SecretBytes)> handle,
                   std::function<void()> malformed)
    : party_(party),
      config_(config),
      log_(log),
      changed_(std::move(changed)),
      handle_(std::move(handle)),
      malformed_(std::move(malformed)) {}

PeerLink::~PeerLink() { Stop(); }

void PeerLink::Start() {
  connecting_ = std::thread([this] { ConnectLoop(); });
}

void PeerLink::Stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    if (channel_) channel_->Shut();
    arrived_.notify_all();
  }
  if (connecting_.joinable()) connecting_.join();
}

std::shared_ptr<Channel> PeerLink::Current() const {
  const std::scoped_lock lock(mutex_);
  return channel_;
}

bool PeerLink::Up() const { return Current() != nullptr; }

void PeerLink::ConnectLoop() {
  const PeerConfig& peer = config_.Peer(Role::kFirstServer);
  std::string last;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (arrived_.wait_for(lock, kRetry, [&] { return stopping_; })) return;
    }
    try {
      const std::shared_ptr<Channel> channel =
          Channel::Connect(party_, peer.address, After(config_.limits.link_s));
      channel->Require(Role::kFirstServer, peer.pin);
      last.clear();
      Serve(channel);
    } catch (const std::exception& error) {
      if (last != error.what()) log_.Warn("no link", {{"reason", error.what()}});
      last = error.what();
    }
  }
}

void PeerLink::Serve(const std::shared_ptr<Channel>& channel) {
  if (const auto former = Current()) former->Shut();
  const std::scoped_lock one(serving_);
  {
    const std::scoped_lock lock(mutex_);
    if (stopping_) return;
    slots_.clear();
    channel_ = channel;
  }
  channel->KeepShortQueue();
  log_.Info("link up", {{"peer", channel->Peer().name}});
  std::string reason;
  std::thread talking;
  try {
    talking = std::thread([this, &channel] { Talk(channel); });
    changed_(true);
    Receive(channel);
  } catch (const std::exception& error) {
    reason = error.what();
  }
  {
    const std::scoped_lock lock(mutex_);
    channel_ = nullptr;
    long_.clear();
    said_ = 0;
    arrived_.notify_all();
  }
  channel->Shut();
  if (talking.joinable()) talking.join();
  changed_(false);
  log_.Warn("link down", {{"reason", reason}});
}

void PeerLink::Receive(const std::shared_ptr<Channel>& channel) {
  PieceJoiner joiner;
  for (;;) {
    SecretBytes frame =
        channel->Receive(kLongestBetweenServers, Patience::WhileMoving(config_.limits.link_s));
    try {
      Take(std::move(frame), joiner);
    } catch (const Error&) {
      malformed_();
      throw;
    }
  }
}

void PeerLink::Take(SecretBytes frame, PieceJoiner& joiner) {
  switch (KindOf(frame)) {
    case MessageKind::kExchange:
      Deliver(ExchangeMessage::Parse(frame));
      break;
    case MessageKind::kPing:
      PingMessage::Parse(frame);
      break;
    case MessageKind::kPiece:
      if (auto message = joiner.Add(PieceMessage::Parse(frame))) handle_(std::move(*message));
      break;
    default:
      handle_(std::move(frame));
  }
}

void PeerLink::Deliver(ExchangeMessage message) {
  const std::scoped_lock lock(mutex_);
  const SlotKey key{message.ids.front(), message.decision};
  const auto found = slots_.find(key);
  if (found == slots_.end() && slots_.size() >= kMostSlots) return;  // its query will time out
  Slot& slot = slots_[key];
  slot.since = std::chrono::steady_clock::now();
  slot.message = std::move(message);
  if (slot.waited_for) arrived_.notify_all();
}

void PeerLink::SendFrame(Channel& channel, std::span<const std::uint8_t> frame) {
  try {
    channel.Send(frame, Patience::WhileMoving(config_.limits.link_s));
  } catch (const Error& error) {
    channel.Shut();
    throw Refused(Reason::kPeer, error.what());
  }
  bytes_sent_ += frame.size() + 4;
}

void PeerLink::Send(std::span<const std::uint8_t> message) {
  const auto channel = Current();
  if (!channel) throw Refused(Reason::kPeer, kNotThere);
  if (message.size() <= kLongestPiece) {
    SendFrame(*channel, message);
    return;
  }
  std::unique_lock lock(mutex_);
  const auto waits = [&] {
    return std::any_of(long_.begin(), long_.end(), [&](const SecretBytes& other) {
      return std::equal(message.begin(), message.end(), other.begin(), other.end());
    });
  };
  if (channel_ == channel && waits()) return;
  arrived_.wait(lock, [&] { return channel_ != channel || long_.size() < kMostLong; });
  if (channel_ != channel) throw Refused(Reason::kPeer, kNotThere);
  long_.emplace_back(message.begin(), message.end());
  arrived_.notify_all();
}

void PeerLink::Talk(const std::shared_ptr<Channel>& channel) {
  try {
    for (;;) {
      const SecretBytes frame = NextToSay(channel);
      if (frame.empty()) return;
      SendFrame(*channel, frame);
    }
  } catch (const std::exception&) {
    channel->Shut();  // the thread that receives says that the link is down
  }
}

SecretBytes PeerLink::NextToSay(const std::shared_ptr<Channel>& channel) {
  constexpr double kSignsWithin = 10.0;  // link_s
  std::unique_lock lock(mutex_);
  arrived_.wait_until(lock, After(config_.limits.link_s / kSignsWithin),
                      [&] { return channel_ != channel || !long_.empty(); });
  if (channel_ != channel) return {};
  ForgetOldSlots();
  if (long_.empty()) return PingMessage{}.Serialise();
  const PieceMessage piece = CutPiece(long_.front(), said_);
  said_ += piece.bytes.size();
  if (said_ == long_.front().size()) {
    long_.pop_front();
    said_ = 0;
    arrived_.notify_all();
  }
  return piece.Serialise();
}

// Exchanges that nobody has waited for. With the lock held.
void PeerLink::ForgetOldSlots() {
  const auto oldest =
      std::chrono::steady_clock::now() - std::chrono::duration<double>(2 * config_.limits.query_s);
  std::erase_if(slots_, [&](const auto& slot) {
    return !slot.second.waited_for && slot.second.since < oldest;
  });
}

ExchangeMessage PeerLink::Swap(const ExchangeMessage& own, Deadline deadline) {
  const SlotKey key{own.ids.front(), own.decision};
  const auto channel = Current();
  if (!channel) throw Refused(Reason::kPeer, kNotThere);
  SendFrame(*channel, own.Serialise());
  std::unique_lock lock(mutex_);
  slots_[key].waited_for = true;
  slots_[key].since = std::chrono::steady_clock::now();
  const auto there = [&] {
    const auto slot = slots_.find(key);
    return channel_ != channel || slot == slots_.end() || slot->second.message.has_value();
  };
  const bool in_time = arrived_.wait_until(lock, deadline, there);
  auto slot = slots_.extract(key);
  if (!slot.empty() && slot.mapped().message) return std::move(*slot.mapped().message);
  throw Refused(Reason::kPeer, in_time ? "the link to the other server broke"
                                       : "the other server did not answer in time");
}

}  // namespace sotto
