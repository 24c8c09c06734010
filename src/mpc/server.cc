#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "mpc/parties.h"

namespace sotto {
namespace {

Error Refused(const std::string& what) { return Error("mpc server: " + what); }

void CheckGate(const char* name, const GateHalf& half, Gate gate, unsigned bits, std::size_t count,
               bool second) {
  if (half.gate == gate && half.keys.shape == DcfShape{bits, ValuesOf(gate), count} &&
      half.keys.second == second) {
    return;
  }
  throw Refused(fmt::format("material whose {} gate is of another shape than the model's", name));
}

}  // namespace

Server::Server(bool second) : second_(second), link_(second) {}

void Server::LoadPublicModel(const PublicModelMessage& model) {
  if (model_.ready) throw Refused("a second model; one expected");
  if (model.card.scenario != Scenario::kPublicModel) throw Refused("a public model of scenario 2");
  model_.card = model.card;
  model_.weights = {model.card.units, model.card.inputs, model.w1};
  model_.w2 = model.w2;
  // The biases are public: the first server's share is all of them.
  model_.b1 = second_ ? RingVector(model.card.units) : model.b1;
  model_.b_out = second_ ? 0 : model.b_out;
  model_.ready = true;
}

OpenedMaskMessage Server::LoadModel(ModelShareMessage model, const MaskShareMessage& masks) {
  if (model_.ready) throw Refused("a second model; one expected");
  const ModelCard& card = model.card;
  if (card.scenario != Scenario::kSharedModel) throw Refused("a shared model of scenario 1");
  if (masks.model != card.id) throw Refused("masks of another model");
  model_.card = card;
  model_.b1 = std::move(model.b1);
  model_.b_out = model.b_out;
  model_.shared.opened = HideMatrix({card.units, card.inputs, std::move(model.w1)}, masks.matrix);
  RingVector weight_mask(card.units);
  ExpandSeed(masks.weights, 0, weight_mask);
  model_.w2 = std::move(model.w2);
  SubtractFrom(model_.w2, weight_mask);
  mask_seed_ = masks.matrix;
  return {card.id, model_.shared.opened.values, model_.w2};
}

void Server::FinishModel(const OpenedMaskMessage& peer) {
  const ModelCard& card = model_.card;
  if (model_.ready || card.inputs == 0) throw Refused("an opened mask where none is expected");
  if (peer.model != card.id) throw Refused("the other server's opened mask is of another model");
  if (peer.matrix.size() != model_.shared.opened.values.size() ||
      peer.weights.size() != card.units) {
    throw Refused("the other server's opened mask is of another size");
  }
  model_.shared = FinishMatrix(second_, std::move(model_.shared.opened),
                               {card.units, card.inputs, peer.matrix}, mask_seed_);
  AddTo(model_.w2, peer.weights);
  mask_seed_ = Seed{};
  model_.ready = true;
}

void Server::CheckMaterial(const MaterialMessage& material) const {
  const ModelCard& card = model_.card;
  const bool shared = card.scenario == Scenario::kSharedModel;
  if (!model_.ready || material.model != card.id) throw Refused("material of another model");
  if (material.second != second_) throw Refused("material of the other server");
  if (material.linear.has_value() != shared ||
      (shared && material.linear->product.size() != card.units) ||
      material.decision.has_value() != card.decision_only) {
    throw Refused("material of another scenario, policy or size than the model's");
  }
  CheckGate("ReLU", material.relu, shared ? Gate::kWeightedRelu : Gate::kRelu,
            IntegerNet::kLayerBits, card.units, second_);
  if (material.decision) {
    CheckGate("decision", *material.decision, Gate::kSign, IntegerNet::kScoreBits, 1, second_);
  }
}

void Server::AddMaterial(std::vector<MaterialMessage> materials) {
  for (const MaterialMessage& material : materials) CheckMaterial(material);
  const std::size_t units = model_.card.units, inputs = model_.card.inputs;
  const bool shared = model_.card.scenario == Scenario::kSharedModel;
  RingVector masks(shared ? materials.size() * inputs : 0), products(materials.size() * units);
  if (shared) {
    for (std::size_t u = 0; u < materials.size(); ++u) {
      ExpandSeed(materials[u].linear->input_mask, 0, std::span(masks).subspan(u * inputs, inputs));
    }
    Multiply(model_.shared.opened, masks, materials.size(), products);
  }
  for (std::size_t u = 0; u < materials.size(); ++u) {
    MaterialMessage& material = materials[u];
    RingVector offset = HideShare(material.relu, model_.b1);
    AddTo(offset, std::span(products).subspan(u * units, units));
    if (shared) {
      AddTo(offset, material.linear->product);
      material.linear->product = {};
    }
    const QueryId id = material.id;
    const std::scoped_lock lock(mutex_);
    if (!seen_.insert(id).second) throw Refused("material with an id that was here before");
    stock_.emplace(id, Prepared{std::move(material), std::move(offset)});
  }
}

std::size_t Server::Stock() const {
  const std::scoped_lock lock(mutex_);
  return stock_.size();
}

ReservationMessage Server::Reserve(std::size_t count) {
  Forget();
  std::vector<QueryId> ids;
  const std::scoped_lock lock(mutex_);
  if (count < 1 || count > kMaxBatch || count > stock_.size()) {
    throw Refused(fmt::format("{} utterances asked for; 1 to {} allowed, {} in stock", count,
                              kMaxBatch, stock_.size()));
  }
  for (auto it = stock_.begin(); ids.size() < count; ++it) ids.push_back(it->first);
  return Spend(ids);
}

ReservationMessage Server::Reserve(std::span<const QueryId> ids) {
  Forget();
  const std::scoped_lock lock(mutex_);
  if (ids.empty() || ids.size() > kMaxBatch) {
    throw Refused(fmt::format("{} ids; 1 to {} allowed", ids.size(), kMaxBatch));
  }
  return Spend(ids);
}

// With the lock held.
ReservationMessage Server::Spend(std::span<const QueryId> ids) {
  if (std::set<QueryId>(ids.begin(), ids.end()).size() != ids.size()) {
    throw Refused("one id twice in a query");
  }
  for (const QueryId& id : ids) {
    if (!stock_.contains(id)) throw Refused("an id that is not in stock, or spent");
  }
  ReservationMessage reservation{model_.card.id, {ids.begin(), ids.end()}, {}};
  for (const QueryId& id : ids) {
    auto node = stock_.extract(id);
    auto& linear = node.mapped().material.linear;
    if (linear) reservation.input_masks.push_back(linear->input_mask);
    linear.reset();  // A is the client's now
    reserved_.insert(std::move(node));
  }
  return reservation;
}

void Server::Burn(std::span<const QueryId> ids) {
  const std::scoped_lock lock(mutex_);
  for (const QueryId& id : ids) {
    stock_.erase(id);
    reserved_.erase(id);
    active_.erase(id);
  }
}

void Server::BurnAll() {
  // Wiped after the lock is given back.
  std::map<QueryId, Prepared> stock, reserved;
  std::map<QueryId, Query> active;
  const std::scoped_lock lock(mutex_);
  stock.swap(stock_);
  reserved.swap(reserved_);
  active.swap(active_);
}

void Server::ForgetIds() {
  const std::scoped_lock lock(mutex_);
  std::erase_if(seen_, [&](const QueryId& id) {
    return !stock_.contains(id) && !reserved_.contains(id) && !active_.contains(id);
  });
}

void Server::Forget() {
  std::vector<Query> finished;
  const std::scoped_lock lock(mutex_);
  finished.swap(finished_);
}

RingVector Server::SeededInput(const InputMessage& input) const {
  const ModelCard& card = model_.card;
  const std::size_t wanted = input.ids.size() * card.inputs;
  const bool seeded = input.committed && !second_;
  if (input.model != card.id) throw Refused("an input for another model");
  if (input.committed.has_value() != (card.scenario == Scenario::kPublicModel)) {
    throw Refused("an input of another scenario");
  }
  if (input.values.size() != (seeded ? 0 : wanted)) {
    throw Refused(fmt::format("an input of {} values; {} expected", input.values.size(),
                              seeded ? 0 : wanted));
  }
  if (!input.committed) return {};
  const auto& committed = *input.committed;
  const Digest own = second_ ? Commit(committed.salt, true, BytesOf(input.values))
                             : Commit(committed.salt, false, committed.share_seed);
  if (own != committed.commitments[second_ ? 1 : 0]) {
    throw Refused("an input that is not the share its commitment says");
  }
  if (second_) return {};
  RingVector values(wanted);
  ExpandSeed(committed.share_seed, 0, values);
  return values;
}

ExchangeMessage Server::Take(const InputMessage& input) {
  Query query;
  query.ids = input.ids;
  {
    const std::scoped_lock lock(mutex_);
    for (const QueryId& id : input.ids) {
      const auto node = reserved_.extract(id);
      if (node.empty()) throw Refused("an input for an id that is not reserved, or used");
      query.prepared.push_back(std::move(node.mapped()));
    }
  }
  const RingVector seeded = SeededInput(input);
  const RingVector& own = seeded.empty() ? input.values : seeded;
  const std::size_t batch = input.ids.size(), units = model_.card.units;
  query.hidden.resize(batch * units);
  if (input.committed) {
    const auto& commitments = input.committed->commitments;
    query.digest = link_.Bind(model_.card, input.ids, {commitments[0].data(), sizeof(commitments)});
    Multiply(model_.weights, own, batch, query.hidden);
  } else {
    query.digest = link_.Bind(model_.card, input.ids, BytesOf(own));
    Multiply(model_.shared.share, own, batch, query.hidden);
  }
  for (std::size_t u = 0; u < batch; ++u) {
    AddTo(std::span(query.hidden).subspan(u * units, units), query.prepared[u].offset);
  }
  ExchangeMessage message{query.ids, false, query.digest, query.hidden};
  const std::scoped_lock lock(mutex_);
  active_.insert_or_assign(input.ids.front(), std::move(query));
  return message;
}

// Σ w2·ReLU(z): w2·(ẑ·d − d·r), and of the mask of w2 the same from the gate's last two values.
std::uint64_t Server::ScoreShare(const GateHalf& relu,
                                 std::span<const std::uint64_t> opened) const {
  const RingVector d = SelectShares(relu, opened);
  const std::size_t n = opened.size();
  std::uint64_t score = model_.b_out;
  for (std::size_t i = 0; i < n; ++i) score += model_.w2[i] * (opened[i] * d[i] - d[n + i]);
  if (relu.gate == Gate::kWeightedRelu) {
    for (std::size_t i = 0; i < n; ++i) score += opened[i] * d[2 * n + i] - d[3 * n + i];
  }
  return score;
}

std::variant<ExchangeMessage, ResultMessage> Server::Exchange(const ExchangeMessage& peer) {
  if (peer.ids.empty()) throw Refused("an exchange without ids");
  Query query;
  {
    const std::scoped_lock lock(mutex_);
    auto node = active_.extract(peer.ids.front());
    if (node.empty()) throw Refused("an exchange for a query that is not under way");
    query = std::move(node.mapped());
  }
  if (peer.ids != query.ids || peer.decision != query.decision || peer.digest != query.digest ||
      peer.values.size() != query.hidden.size()) {
    throw Refused("the other server takes the query for another; refused by both");
  }
  const RingVector opened = Open(query.hidden, peer.values);
  const std::size_t batch = query.ids.size(), count = opened.size() / batch;
  RingVector shares(batch);
  for (std::size_t u = 0; u < batch; ++u) {
    const GateHalf& gate =
        query.decision ? *query.prepared[u].material.decision : query.prepared[u].material.relu;
    const auto own = std::span(opened).subspan(u * count, count);
    shares[u] = query.decision ? SelectShares(gate, own)[0] : ScoreShare(gate, own);
  }
  if (query.decision == model_.card.decision_only) {
    for (std::size_t u = 0; u < batch; ++u) {
      shares[u] += link_.ZeroShare(query.ids[u], query.decision);
    }
    ResultMessage result{query.ids, query.decision, std::move(shares)};
    const std::scoped_lock lock(mutex_);
    finished_.push_back(std::move(query));
    return result;
  }
  query.decision = true;
  query.hidden.clear();
  for (std::size_t u = 0; u < batch; ++u) {
    query.hidden.push_back(HideShare(*query.prepared[u].material.decision, {&shares[u], 1})[0]);
  }
  ExchangeMessage message{query.ids, true, query.digest, query.hidden};
  const std::scoped_lock lock(mutex_);
  active_.insert_or_assign(message.ids.front(), std::move(query));
  return message;
}

}  // namespace sotto
