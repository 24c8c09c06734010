// What the parties say to each other around the protocol (mpc/messages.h has the protocol's own
// messages), in the same form of bytes. Parse throws Error for bytes that are no such message.
//
// Client → server:    AskOffer → Offer; AskReservation → Reservation; Input → Result; AskStatus.
// Provider → server:  LoadModel, Retire → Accepted; AskStatus → Status.
// Dealer → server:    AskDemand → Demand; MaskShare, Segment → Accepted.
// Server ↔ server:    Announce, OpenedMask, Claim → Claimed, Exchange, Burn, Ping, at any time;
// what
//                     is long comes as Pieces.
// A server may answer each question with a Refusal.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "mpc/messages.h"
#include "privasp/material_store.h"
#include "spoof/spoof_model.h"

namespace sotto {

// Why a server does not do what it was asked to; counted by its name.
enum class Reason : std::uint8_t {
  kMalformed = 1,  // a message that is none, or of another version
  kRole,           // the certificate's role may not ask this
  kBusy,           // too many at a time
  kQuota,          // the certificate has had its utterances
  kModel,          // no model of this name, or not ready
  kFeatures,       // features of another fingerprint than the model's
  kStock,          // no material is left
  kReservation,    // ids that are not reserved for this certificate, or no longer
  kInput,          // an input that does not fit
  kPeer,           // the other server did not answer, or takes the query for another
  kStorage,        // the disk is full, or damaged
  kStopping,       // the server is shutting down
};
inline constexpr Reason kLastReason = Reason::kStopping;
const char* ReasonName(Reason reason);

struct RefusalMessage {
  Reason reason = Reason::kMalformed;
  std::string text;

  SecretBytes Serialise() const;
  static RefusalMessage Parse(std::span<const std::uint8_t> bytes);
};

// A refusal as an exception: thrown where a server decides, and at whoever asked.
class Refused : public Error {
 public:
  Refused(Reason reason, const std::string& text) : Error(text), reason_(reason) {}
  Reason Why() const { return reason_; }

 private:
  Reason reason_;
};

struct AcceptedMessage {
  SecretBytes Serialise() const;
  static AcceptedMessage Parse(std::span<const std::uint8_t> bytes);
};

struct AskOfferMessage {
  std::string name;  // of the model; empty: the one that was loaded last
  ModelId id{};      // of the model; zeros: any of the name
  SecretBytes Serialise() const;
  static AskOfferMessage Parse(std::span<const std::uint8_t> bytes);
};

// All that a client has to know of a model; the same from both servers.
struct OfferMessage {
  std::string name;
  ModelCard card;
  SpoofFrontEnd front_end;
  std::string fingerprint;     // of the front end
  std::int64_t threshold = 0;  // 2^39, where the policy is to tell scores; 0 else

  SecretBytes Serialise() const;
  static OfferMessage Parse(std::span<const std::uint8_t> bytes);
  // Of all of it: what servers and clients compare.
  Digest Fingerprint() const;
};

struct AskReservationMessage {
  ModelId model{};
  std::string fingerprint;  // of the features that will come
  std::uint32_t count = 0;
  std::vector<QueryId> ids;  // the first server names them; the second is asked for the same

  SecretBytes Serialise() const;
  static AskReservationMessage Parse(std::span<const std::uint8_t> bytes);
};

struct LoadModelMessage {
  OfferMessage offer;
  SecretBytes model;  // a PublicModelMessage or a ModelShareMessage

  SecretBytes Serialise() const;
  static LoadModelMessage Parse(std::span<const std::uint8_t> bytes);
};

struct RetireMessage {
  std::string name;  // of the models
  ModelId id{};      // of the one; zeros: all of the name

  SecretBytes Serialise() const;
  static RetireMessage Parse(std::span<const std::uint8_t> bytes);
};

struct AskStatusMessage {
  SecretBytes Serialise() const;
  static AskStatusMessage Parse(std::span<const std::uint8_t> bytes);
};

struct StatusMessage {
  std::string json;

  SecretBytes Serialise() const;
  static StatusMessage Parse(std::span<const std::uint8_t> bytes);
};

struct AskDemandMessage {
  SecretBytes Serialise() const;
  static AskDemandMessage Parse(std::span<const std::uint8_t> bytes);
};

// That a server has at a time.
inline constexpr std::size_t kMostModels = 64;

struct ModelDemand {
  ModelCard card;
  Digest masks{};          // of the MaskShareMessage that is here; zero: none is, and one is needed
  std::uint32_t room = 0;  // utterances
};

struct DemandMessage {
  std::vector<ModelDemand> models;

  SecretBytes Serialise() const;
  static DemandMessage Parse(std::span<const std::uint8_t> bytes);
};

// Material for some utterances. Both servers get the halves in one order.
struct SegmentMessage {
  SegmentId id{};
  ModelId model{};
  std::vector<SecretBytes> pieces;  // MaterialMessage each

  SecretBytes Serialise() const;
  static SegmentMessage Parse(std::span<const std::uint8_t> bytes);
};

// A model as the other server has it: when the link begins, and whenever this changes.
struct AnnounceMessage {
  ModelCard card;
  Digest offer{};
  HelloMessage hello;
  bool needs_opened = false;  // the other's OpenedMaskMessage has not come yet
  bool draining = false;
  std::vector<SegmentState> segments;

  SecretBytes Serialise() const;
  static AnnounceMessage Parse(std::span<const std::uint8_t> bytes);
};

// First → second server: let us take these pieces out of the stores.
struct ClaimMessage {
  ModelId model{};
  SegmentId segment{};
  std::uint32_t first = 0, count = 0;

  SecretBytes Serialise() const;
  static ClaimMessage Parse(std::span<const std::uint8_t> bytes);
};

struct ClaimedMessage {
  ClaimMessage claim;
  bool done = false;  // otherwise the second server's are spent, or the segment is not there

  SecretBytes Serialise() const;
  static ClaimedMessage Parse(std::span<const std::uint8_t> bytes);
};

// First → second server: these ids lead to no answer any more.
struct BurnMessage {
  ModelId model{};
  std::vector<QueryId> ids;  // 1 to kMaxBatch

  SecretBytes Serialise() const;
  static BurnMessage Parse(std::span<const std::uint8_t> bytes);
};

struct PingMessage {
  SecretBytes Serialise() const;
  static PingMessage Parse(std::span<const std::uint8_t> bytes);
};

// A part of a message between the servers that is too long to keep the line for itself (pieces.h).
struct PieceMessage {
  std::uint64_t total = 0, at = 0;  // bytes of the message, and those before this piece
  SecretBytes bytes;

  SecretBytes Serialise() const;
  static PieceMessage Parse(std::span<const std::uint8_t> bytes);
};
// Half a second at 1 Mbit/s.
inline constexpr std::size_t kLongestPiece = std::size_t{1} << 16;
// An opened mask of the largest model that a provider may send.
inline constexpr std::size_t kLongestBetweenServers = std::size_t{1} << 30;

// BLAKE2b-256: what is compared in the place of what is long or secret and random.
Digest DigestOf(std::span<const std::uint8_t> bytes);

// Names of models: 1 to 64 letters, digits, '.', '_' and '-'. Throws Error.
void CheckModelName(const std::string& name);

}  // namespace sotto
