
#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "base/random.h"
#include "mpc/draws.h"
#include "mpc/parties.h"

namespace sotto {

namespace {

std::array<MaskShareMessage, 2> FreshMasks(const ModelCard& card) {
  std::array<MaskShareMessage, 2> shares;
  if (card.scenario == Scenario::kSharedModel) {
    for (MaskShareMessage& share : shares) share = {card.id, FreshSeed(), FreshSeed()};
  }
  return shares;
}

}  // namespace

DealerModel::DealerModel(const ModelCard& card_) : DealerModel(card_, FreshMasks(card_)) {}

DealerModel::DealerModel(const ModelCard& card_, const std::array<MaskShareMessage, 2>& shares_)
    : card(card_), shares(shares_) {
  if (card.scenario != Scenario::kSharedModel) return;
  matrix = ExpandMatrix(shares[0].matrix, card.units, card.inputs);
  AddTo(matrix.values, ExpandMatrix(shares[1].matrix, card.units, card.inputs).values);
  weights = InputMask({shares[0].weights, shares[1].weights}, card.units);
}

QueryDraw QueryDraw::Fresh(const ModelCard& card) {
  QueryDraw draw{{}, LinearDraw::Fresh(), GateDraw::Fresh(card.units), GateDraw::Fresh(1)};
  SecureRandomBytes(draw.id);
  return draw;
}

std::vector<DealtQuery> DealQueriesFrom(const DealerModel& model,
                                        std::span<const QueryDraw> draws) {
  const ModelCard& card = model.card;
  const bool shared = card.scenario == Scenario::kSharedModel;
  RingVector masks, products(shared ? draws.size() * card.units : 0);
  if (shared) {
    for (const QueryDraw& draw : draws) {
      const RingVector mask = InputMask(draw.linear.input_masks, card.inputs);
      masks.insert(masks.end(), mask.begin(), mask.end());
    }
    Multiply(model.matrix, masks, draws.size(), products);
  }
  std::vector<DealtQuery> dealt(draws.size());
  for (std::size_t u = 0; u < draws.size(); ++u) {
    std::array<LinearHalf, 2> linear;
    if (shared) {
      linear =
          DealLinearFrom(draws[u].linear, std::span(products).subspan(u * card.units, card.units));
    }
    auto relu = DealGateFrom(draws[u].relu, shared ? Gate::kWeightedRelu : Gate::kRelu,
                             IntegerNet::kLayerBits, model.weights);
    auto decision = DealGateFrom(draws[u].decision, Gate::kSign, IntegerNet::kScoreBits, {});
    for (std::size_t p = 0; p < 2; ++p) {
      MaterialMessage& half = dealt[u][p];
      half.id = draws[u].id;
      half.model = card.id;
      half.second = p == 1;
      if (shared) half.linear = std::move(linear[p]);
      half.relu = std::move(relu[p]);
      if (card.decision_only) half.decision = std::move(decision[p]);
    }
  }
  return dealt;
}

Dealer::Dealer() = default;
Dealer::~Dealer() = default;

const DealerModel& Dealer::Find(const ModelId& model) const {
  const auto found = models_.find(model);
  if (found == models_.end()) throw Error("mpc dealer: a model that was never added");
  return found->second;
}

void Dealer::AddModel(const ModelCard& card) {
  if (!models_.try_emplace(card.id, card).second) {
    throw Error("mpc dealer: a model of this id is there already");
  }
}

bool Dealer::Has(const ModelId& model) const { return models_.contains(model); }

void Dealer::RemoveModel(const ModelId& model) { models_.erase(model); }

void Dealer::RestoreModel(const ModelCard& card, const std::array<MaskShareMessage, 2>& masks) {
  if (!models_.try_emplace(card.id, card, masks).second) {
    throw Error("mpc dealer: a model of this id is there already");
  }
}

std::array<MaskShareMessage, 2> Dealer::Masks(const ModelId& model) const {
  const DealerModel& found = Find(model);
  if (found.card.scenario != Scenario::kSharedModel) {
    throw Error("mpc dealer: a public model has no masks");
  }
  return found.shares;
}

std::vector<DealtQuery> Dealer::Deal(const ModelId& model, std::size_t count) const {
  const DealerModel& found = Find(model);
  std::vector<DealtQuery> dealt;
  // Eight at a time read the mask of the weights once.
  for (std::size_t done = 0; done < count; done += 8) {
    std::vector<QueryDraw> draws;
    for (std::size_t u = done; u < std::min(count, done + 8); ++u) {
      draws.push_back(QueryDraw::Fresh(found.card));
    }
    auto some = DealQueriesFrom(found, draws);
    std::move(some.begin(), some.end(), std::back_inserter(dealt));
  }
  return dealt;
}

}  // namespace sotto
