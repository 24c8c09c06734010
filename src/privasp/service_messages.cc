#include "privasp/service_messages.h"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "mpc/wire.h"

namespace sotto {
namespace {

constexpr std::size_t kLongestText = 1 << 16;
constexpr std::size_t kLongestName = 64;
constexpr std::size_t kFingerprintLetters = 16;
constexpr std::size_t kMostSegments = 1 << 16;

// A message without fields.
SecretBytes Empty(MessageKind kind) { return WireWriter(kind).Take(); }

template <class Message>
Message ParseEmpty(MessageKind kind, const char* name, std::span<const std::uint8_t> bytes) {
  WireReader(bytes, kind, name).Finish();
  return {};
}

void WriteFloats(WireWriter& to, const std::vector<float>& values) {
  std::vector<std::uint32_t> bits(values.size());
  std::transform(values.begin(), values.end(), bits.begin(),
                 [](float value) { return std::bit_cast<std::uint32_t>(value); });
  to.Counted(bits);
}

std::vector<float> ReadFloats(WireReader& from, const char* field) {
  std::vector<std::uint32_t> bits;
  from.Counted(bits, kMaxLayer, field);
  std::vector<float> values(bits.size());
  std::transform(bits.begin(), bits.end(), values.begin(),
                 [](std::uint32_t word) { return std::bit_cast<float>(word); });
  return values;
}

// A message inside a message.
template <class Message>
void WriteInner(WireWriter& to, const Message& message) {
  to.Counted(message.Serialise());
}

template <class Message>
Message ReadInner(WireReader& from, std::size_t limit, const char* field) {
  SecretBytes bytes;
  from.Counted(bytes, limit, field);
  return Message::Parse(bytes);
}

constexpr std::size_t kLongestCard = 64;
constexpr std::size_t kLongestOffer = std::size_t{1} << 20;
constexpr std::size_t kLongestModel = std::size_t{1} << 30;

}  // namespace

const char* ReasonName(Reason reason) {
  constexpr const char* kNames[] = {"malformed", "role",     "busy",    "quota",
                                    "model",     "features", "stock",   "reservation",
                                    "input",     "peer",     "storage", "stopping"};
  return kNames[static_cast<std::size_t>(reason) - 1];
}

Digest DigestOf(std::span<const std::uint8_t> bytes) {
  Digest digest{};
  crypto_generichash(digest.data(), digest.size(), bytes.data(), bytes.size(), nullptr, 0);
  return digest;
}

void CheckModelName(const std::string& name) {
  const bool good = !name.empty() && name.size() <= kLongestName &&
                    std::all_of(name.begin(), name.end(), [](char c) {
                      return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                             (c >= 'a' && c <= 'z') || c == '.' || c == '_' || c == '-';
                    });
  if (good) return;
  throw Error(fmt::format("model name '{}': 1 to {} letters, digits, '.', '_' and '-' allowed",
                          name, kLongestName));
}

SecretBytes RefusalMessage::Serialise() const {
  WireWriter to(MessageKind::kRefusal);
  to.Number(static_cast<std::uint8_t>(reason));
  to.Counted(text);
  return to.Take();
}

RefusalMessage RefusalMessage::Parse(std::span<const std::uint8_t> bytes) {
  WireReader from(bytes, MessageKind::kRefusal, "refusal");
  RefusalMessage message;
  const auto reason = from.Number<std::uint8_t>("reason");
  if (reason < 1 || reason > static_cast<std::uint8_t>(kLastReason)) {
    from.Refuse("reason", reason, fmt::format("1 to {}", static_cast<int>(kLastReason)));
  }
  message.reason = static_cast<Reason>(reason);
  from.Counted(message.text, kLongestText, "text");
  from.Finish();
  return message;
}

SecretBytes AcceptedMessage::Serialise() const { return Empty(MessageKind::kAccepted); }
AcceptedMessage AcceptedMessage::Parse(std::span<const std::uint8_t> bytes) {
  return ParseEmpty<AcceptedMessage>(MessageKind::kAccepted, "accepted", bytes);
}

SecretBytes AskOfferMessage::Serialise() const {
  WireWriter to(MessageKind::kAskOffer);
  to.Counted(name);
  to.Fixed(id);
  return to.Take();
}

AskOfferMessage AskOfferMessage::Parse(std::span<const std::uint8_t> bytes) {
  WireReader from(bytes, MessageKind::kAskOffer, "question for an offer");
  AskOfferMessage message;
  from.Counted(message.name, kLongestName, "name");
  from.Fixed(message.id, "id");
  from.Finish();
  return message;
}

SecretBytes OfferMessage::Serialise() const {
  WireWriter to(MessageKind::kOffer, (front_end.mean.size() + front_end.scale.size()) / 2 + 16);
  to.Counted(name);
  WriteInner(to, card);
  WriteFloats(to, front_end.mean);
  WriteFloats(to, front_end.scale);
  to.Number(front_end.x_max);
  to.Counted(fingerprint);
  to.Number(threshold);
  return to.Take();
}

OfferMessage OfferMessage::Parse(std::span<const std::uint8_t> bytes) {
  WireReader from(bytes, MessageKind::kOffer, "offer");
  OfferMessage message;
  from.Counted(message.name, kLongestName, "name");
  CheckModelName(message.name);
  message.card = ReadInner<ModelCard>(from, kLongestCard, "card");
  message.front_end.mean = ReadFloats(from, "mean");
  message.front_end.scale = ReadFloats(from, "scale");
  message.front_end.x_max = from.Number<std::int32_t>("x_max");
  from.Counted(message.fingerprint, kFingerprintLetters, "fingerprint");
  message.threshold = from.Number<std::int64_t>("threshold");
  from.Finish();
  if (message.front_end.mean.size() != message.card.inputs ||
      message.front_end.scale.size() != message.card.inputs ||
      message.front_end.x_max != message.card.x_max) {
    throw Error("offer message: a front end that is not that of the card");
  }
  return message;
}

Digest OfferMessage::Fingerprint() const {
  const SecretBytes bytes = Serialise();
  return DigestOf(bytes);
}

SecretBytes AskReservationMessage::Serialise() const {
  WireWriter to(MessageKind::kAskReservation);
  to.Fixed(model);
  to.Counted(fingerprint);
  to.Number(count);
  to.Counted(ids);
  return to.Take();
}

AskReservationMessage AskReservationMessage::Parse(std::span<const std::uint8_t> bytes) {
  WireReader from(bytes, MessageKind::kAskReservation, "question for a reservation");
  AskReservationMessage message;
  from.Fixed(message.model, "model");
  from.Counted(message.fingerprint, kFingerprintLetters, "fingerprint");
  message.count = from.Number<std::uint32_t>("count");
  if (message.count < 1 || message.count > kMaxBatch) {
    from.Refuse("count", message.count, fmt::format("1 to {}", kMaxBatch));
  }
  from.Counted(message.ids, kMaxBatch, "ids");
  if (!message.ids.empty() && message.ids.size() != message.count) {
    from.Refuse("ids", message.ids.size(), "none, or as many as counted");
  }
  from.Finish();
  return message;
}

SecretBytes LoadModelMessage::Serialise() const {
  WireWriter to(MessageKind::kLoadModel, model.size() / 8 + kLongestOffer / 8);
  WriteInner(to, offer);
  to.Counted(model);
  return to.Take();
}

LoadModelMessage LoadModelMessage::Parse(std::span<const std::uint8_t> bytes) {
  WireReader from(bytes, MessageKind::kLoadModel, "model to load");
  LoadModelMessage message;
  message.offer = ReadInner<OfferMessage>(from, kLongestOffer, "offer");
  from.Counted(message.model, kLongestModel, "model");
  from.Finish();
  return message;
}

SecretBytes RetireMessage::Serialise() const {
  WireWriter to(MessageKind::kRetire);
  to.Counted(name);
  to.Fixed(id);
  return to.Take();
}

RetireMessage RetireMessage::Parse(std::span<const std::uint8_t> bytes) {
  WireReader from(bytes, MessageKind::kRetire, "retirement");
  RetireMessage message;
  from.Counted(message.name, kLongestName, "name");
  from.Fixed(message.id, "id");
  from.Finish();
  return message;
}

SecretBytes AskStatusMessage::Serialise() const { return Empty(MessageKind::kAskStatus); }
AskStatusMessage AskStatusMessage::Parse(std::span<const std::uint8_t> bytes) {
  return ParseEmpty<AskStatusMessage>(MessageKind::kAskStatus, "question for the status", bytes);
}

SecretBytes StatusMessage::Serialise() const {
  WireWriter to(MessageKind::kStatus, json.size() / 8);
  to.Counted(json);
  return to.Take();
}

StatusMessage StatusMessage::Parse(std::span<const std::uint8_t> bytes) {
  WireReader from(bytes, MessageKind::kStatus, "status");
  StatusMessage message;
  from.Counted(message.json, std::size_t{1} << 24, "json");
  from.Finish();
  return message;
}

SecretBytes AskDemandMessage::Serialise() const { return Empty(MessageKind::kAskDemand); }
AskDemandMessage AskDemandMessage::Parse(std::span<const std::uint8_t> bytes) {
  return ParseEmpty<AskDemandMessage>(MessageKind::kAskDemand, "question for the demand", bytes);
}

SecretBytes DemandMessage::Serialise() const {
  WireWriter to(MessageKind::kDemand);
  to.Number(static_cast<std::uint32_t>(models.size()));
  for (const ModelDemand& model : models) {
    WriteInner(to, model.card);
    to.Fixed(model.masks);
    to.Number(model.room);
  }
  return to.Take();
}

DemandMessage DemandMessage::Parse(std::span<const std::uint8_t> bytes) {
  WireReader from(bytes, MessageKind::kDemand, "demand");
  DemandMessage message;
  const auto count = from.Number<std::uint32_t>("models");
  if (count > kMostModels) from.Refuse("models", count, fmt::format("at most {}", kMostModels));
  for (std::uint32_t i = 0; i < count; ++i) {
    ModelDemand& model = message.models.emplace_back();
    model.card = ReadInner<ModelCard>(from, kLongestCard, "card");
    from.Fixed(model.masks, "masks");
    model.room = from.Number<std::uint32_t>("room");
  }
  from.Finish();
  return message;
}

SecretBytes SegmentMessage::Serialise() const {
  std::size_t bytes = 0;
  for (const SecretBytes& piece : pieces) bytes += piece.size() + 8;
  WireWriter to(MessageKind::kSegment, bytes / 8);
  to.Fixed(id);
  to.Fixed(model);
  to.Number(static_cast<std::uint32_t>(pieces.size()));
  for (const SecretBytes& piece : pieces) to.Counted(piece);
  return to.Take();
}

SegmentMessage SegmentMessage::Parse(std::span<const std::uint8_t> bytes) {
  WireReader from(bytes, MessageKind::kSegment, "segment");
  SegmentMessage message;
  from.Fixed(message.id, "id");
  from.Fixed(message.model, "model");
  const auto count = from.Number<std::uint32_t>("pieces");
  if (count < 1 || count > MaterialStore::kMaxPieces) {
    from.Refuse("pieces", count, fmt::format("1 to {}", MaterialStore::kMaxPieces));
  }
  message.pieces.resize(count);
  for (SecretBytes& piece : message.pieces) {
    from.Counted(piece, MaterialStore::kMaxPieceBytes, "piece");
  }
  from.Finish();
  return message;
}

SecretBytes AnnounceMessage::Serialise() const {
  WireWriter to(MessageKind::kAnnounce, 4 * segments.size());
  WriteInner(to, card);
  to.Fixed(offer);
  to.Fixed(hello.public_key);
  to.Number(static_cast<std::uint8_t>(needs_opened));
  to.Number(static_cast<std::uint8_t>(draining));
  to.Number(static_cast<std::uint32_t>(segments.size()));
  for (const SegmentState& segment : segments) {
    to.Fixed(segment.id);
    to.Number(segment.pieces);
    to.Number(segment.spent);
  }
  return to.Take();
}

AnnounceMessage AnnounceMessage::Parse(std::span<const std::uint8_t> bytes) {
  WireReader from(bytes, MessageKind::kAnnounce, "announcement");
  AnnounceMessage message;
  message.card = ReadInner<ModelCard>(from, kLongestCard, "card");
  from.Fixed(message.offer, "offer");
  from.Fixed(message.hello.public_key, "public key");
  message.needs_opened = from.Flag("needs opened");
  message.draining = from.Flag("draining");
  const auto count = from.Number<std::uint32_t>("segments");
  if (count > kMostSegments) {
    from.Refuse("segments", count, fmt::format("at most {}", kMostSegments));
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    SegmentState segment;
    from.Fixed(segment.id, "segment");
    segment.pieces = from.Number<std::uint32_t>("pieces");
    segment.spent = from.Number<std::uint32_t>("spent");
    if (segment.pieces > MaterialStore::kMaxPieces || segment.spent > segment.pieces) {
      from.Refuse("spent", segment.spent, "no more than there are");
    }
    message.segments.push_back(segment);
  }
  from.Finish();
  return message;
}

namespace {

void WriteClaim(WireWriter& to, const ClaimMessage& claim) {
  to.Fixed(claim.model);
  to.Fixed(claim.segment);
  to.Number(claim.first);
  to.Number(claim.count);
}

ClaimMessage ReadClaim(WireReader& from) {
  ClaimMessage claim;
  from.Fixed(claim.model, "model");
  from.Fixed(claim.segment, "segment");
  claim.first = from.Number<std::uint32_t>("first");
  claim.count = from.Number<std::uint32_t>("count");
  for (const auto& [field, number] :
       {std::pair("first", claim.first), std::pair("count", claim.count)}) {
    if (number > MaterialStore::kMaxPieces) {
      from.Refuse(field, number, fmt::format("at most {}", MaterialStore::kMaxPieces));
    }
  }
  return claim;
}

}  // namespace

SecretBytes ClaimMessage::Serialise() const {
  WireWriter to(MessageKind::kClaim);
  WriteClaim(to, *this);
  return to.Take();
}

ClaimMessage ClaimMessage::Parse(std::span<const std::uint8_t> bytes) {
  WireReader from(bytes, MessageKind::kClaim, "claim");
  const ClaimMessage claim = ReadClaim(from);
  from.Finish();
  return claim;
}

SecretBytes ClaimedMessage::Serialise() const {
  WireWriter to(MessageKind::kClaimed);
  WriteClaim(to, claim);
  to.Number(static_cast<std::uint8_t>(done));
  return to.Take();
}

ClaimedMessage ClaimedMessage::Parse(std::span<const std::uint8_t> bytes) {
  WireReader from(bytes, MessageKind::kClaimed, "claimed");
  ClaimedMessage message;
  message.claim = ReadClaim(from);
  message.done = from.Flag("done");
  from.Finish();
  return message;
}

SecretBytes BurnMessage::Serialise() const {
  WireWriter to(MessageKind::kBurn);
  to.Fixed(model);
  to.Counted(ids);
  return to.Take();
}

BurnMessage BurnMessage::Parse(std::span<const std::uint8_t> bytes) {
  WireReader from(bytes, MessageKind::kBurn, "burn");
  BurnMessage message;
  from.Fixed(message.model, "model");
  from.Counted(message.ids, kMaxBatch, "ids");
  if (message.ids.empty()) from.Refuse("ids", 0, fmt::format("1 to {}", kMaxBatch));
  from.Finish();
  return message;
}

SecretBytes PingMessage::Serialise() const { return Empty(MessageKind::kPing); }
PingMessage PingMessage::Parse(std::span<const std::uint8_t> bytes) {
  return ParseEmpty<PingMessage>(MessageKind::kPing, "ping", bytes);
}

SecretBytes PieceMessage::Serialise() const {
  WireWriter to(MessageKind::kPiece);
  to.Number(total);
  to.Number(at);
  to.Counted(bytes);
  return to.Take();
}

PieceMessage PieceMessage::Parse(std::span<const std::uint8_t> bytes) {
  WireReader from(bytes, MessageKind::kPiece, "piece");
  PieceMessage message;
  message.total = from.Number<std::uint64_t>("total");
  if (message.total > kLongestBetweenServers) {
    from.Refuse("total", message.total, fmt::format("at most {}", kLongestBetweenServers));
  }
  message.at = from.Number<std::uint64_t>("at");
  from.Counted(message.bytes, kLongestPiece, "bytes");
  if (message.bytes.empty()) from.Refuse("bytes", 0, fmt::format("1 to {}", kLongestPiece));
  if (message.at > message.total || message.bytes.size() > message.total - message.at) {
    from.Refuse("at", message.at, "what is inside the message");
  }
  from.Finish();
  return message;
}

}  // namespace sotto
