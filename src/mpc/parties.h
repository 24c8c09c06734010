// The four kinds of parties of the secure comparison of docs/mpc.md. Each object holds what its
// party may know and speaks in messages; who carries them (and over what) is not its business.
//
// Once:       provider → servers: the model (in clear or in shares); dealer → servers: masks; the
//             servers meet and open the masked model to each other.
// Ahead:      dealer → servers: material, one piece for each utterance.
// A query:    servers → client: a reservation each; client → servers: an input each; server ↔
// server:
//             one exchange (two in decision mode); servers → client: a result each.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <variant>
#include <vector>

#include "mpc/integer_net.h"
#include "mpc/messages.h"
#include "mpc/ring.h"
#include "mpc/server_link.h"

namespace sotto {

struct DealerModel;

// Owns the net.
class Provider {
 public:
  // Error when the net's ranges do not fit the protocol (CheckRanges).
  Provider(IntegerNet net, Scenario scenario);

  const ModelCard& Card() const { return card_; }
  PublicModelMessage PublicModel() const;
  // Fresh shares at each call.
  std::array<ModelShareMessage, 2> ShareModel() const;

 private:
  std::uint64_t FoldedBias() const;

  IntegerNet net_;
  ModelCard card_;
};

// Deals correlated randomness, and sees nothing that depends on a secret of another party.
class Dealer {
 public:
  Dealer();
  ~Dealer();

  void AddModel(const ModelCard& card);
  // A model that a dealer had before, by what its Masks were (none in scenario 1).
  void RestoreModel(const ModelCard& card, const std::array<MaskShareMessage, 2>& masks);
  bool Has(const ModelId& model) const;
  // Nothing happens where it is not there.
  void RemoveModel(const ModelId& model);
  // Scenario 2, once for each server.
  std::array<MaskShareMessage, 2> Masks(const ModelId& model) const;
  // Material for `count` utterances, for the first and the second server.
  std::vector<std::array<MaterialMessage, 2>> Deal(const ModelId& model, std::size_t count) const;

 private:
  const DealerModel& Find(const ModelId& model) const;

  std::map<ModelId, DealerModel> models_;

  friend struct PlantedAccess;  // of the security tests
};

// Has recordings, and learns scores or decisions, as the provider's policy is.
class Client {
 public:
  explicit Client(const ModelCard& card) : card_(card) {}

  // Inputs for the first and the second server: batch × inputs at 2^13, clipped to ±x_max here. The
  // reservations are those of both servers for the same ids.
  std::array<InputMessage, 2> Ask(const std::array<ReservationMessage, 2>& reservations,
                                  std::span<const std::int32_t> x) const;
  // The scores at 2^39, or 1 for accepted and 0.
  std::vector<std::int64_t> Answer(const std::array<ResultMessage, 2>& results) const;

 private:
  ModelCard card_;
};

// One of the two servers, for one model. Safe to use from several threads; queries do not wait for
// each other. Every message that does not fit is refused with Error, and the query it belongs to is
// burnt.
class Server {
 public:
  explicit Server(bool second);

  // The other server's key; before the first query, or again between queries.
  HelloMessage Hello() const { return link_.Hello(); }
  void Meet(const HelloMessage& peer) { link_.Meet(peer); }

  void LoadPublicModel(const PublicModelMessage& model);
  // Returns the message for the other server; its counterpart goes to FinishModel.
  OpenedMaskMessage LoadModel(ModelShareMessage model, const MaskShareMessage& masks);
  void FinishModel(const OpenedMaskMessage& peer);

  // Takes in material ahead of need. An id that was ever here is refused.
  void AddMaterial(std::vector<MaterialMessage> materials);
  std::size_t Stock() const;

  // Spends material for `count` utterances; the other server is asked for the same ids. From here
  // on they serve this client's query or nobody's.
  ReservationMessage Reserve(std::size_t count);
  ReservationMessage Reserve(std::span<const QueryId> ids);
  // Gives up what is reserved or under way.
  void Burn(std::span<const QueryId> ids);
  // All that is in stock, reserved or under way: the other server was lost, or met anew.
  void BurnAll();
  // Forgets which ids were here, which else takes memory for each of them for ever. For who takes
  // material from a store that gives each id once (privasp/material_store.h).
  void ForgetIds();

  // Returns the message for the other server.
  ExchangeMessage Take(const InputMessage& input);
  // The other server's exchange: checked against this server's view of the query first. In decision
  // mode the answer to the first is a second exchange. Who carries messages holds back one that
  // comes before the client's input: here it is an exchange of no query.
  std::variant<ExchangeMessage, ResultMessage> Exchange(const ExchangeMessage& peer);
  // Wipes the material of finished queries, some 2 MB for each utterance. For when their results
  // are on the way; the next reservation does it too.
  void Forget();

 private:
  struct Model {
    ModelCard card;
    PublicMatrix weights;  // scenario 1
    SharedMatrix shared;   // scenario 2
    RingVector b1;         // this server's share
    RingVector w2;         // known to both: w2, or w2 less its mask
    std::uint64_t b_out = 0;
    bool ready = false;
  };
  // Material with all that is known before the input: r, b1, and G in scenario 2.
  struct Prepared {
    MaterialMessage material;
    RingVector offset;
  };
  struct Query {
    std::vector<QueryId> ids;
    std::vector<Prepared> prepared;
    Digest digest{};
    RingVector hidden;  // what this server sent
    bool decision = false;
  };

  void CheckMaterial(const MaterialMessage& material) const;
  ReservationMessage Spend(std::span<const QueryId> ids);
  // Checks the input; what its seed stands for, or nothing where the values are there.
  RingVector SeededInput(const InputMessage& input) const;
  std::uint64_t ScoreShare(const GateHalf& relu, std::span<const std::uint64_t> opened) const;

  const bool second_;
  ServerLink link_;
  Model model_;
  Seed mask_seed_;  // until FinishModel

  mutable std::mutex mutex_;
  std::map<QueryId, Prepared> stock_, reserved_;
  std::set<QueryId> seen_;
  std::map<QueryId, Query> active_;  // by the first id
  std::vector<Query> finished_;

  friend struct PlantedAccess;  // of the security tests
};

}  // namespace sotto
