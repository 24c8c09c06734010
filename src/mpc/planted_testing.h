// Bugs that the security tests must find, planted where randomness is drawn. Nothing of this is
// reachable from the parties: they draw afresh (draws.h).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "mpc/testing.h"

namespace sotto {

// Friend of Dealer and Server.
struct PlantedAccess {
  static const DealerModel& ModelOf(const Dealer& dealer, const ModelId& id) {
    return dealer.Find(id);
  }
  static void DropZeroShare(const Server& server, ResultMessage& result) {
    for (std::size_t u = 0; u < result.ids.size(); ++u) {
      result.values[u] -= server.link_.ZeroShare(result.ids[u], result.decision);
    }
  }
};

namespace testing {

struct PlantedBugs {
  bool reused_input_mask = false;    // A of the first query for all
  int mask_bits = 64;                // r below 2^mask_bits; 0: r = 0
  bool reused_half_of_mask = false;  // the second server's share of r: that of the first query
  bool constant_seeds = false;       // the dealer's seeds are zero
  bool repeated_seeds = false;       // each query draws as the one before, every second time
  bool no_salt = false;              // commitments without salt
  bool no_zero_share = false;
  // No bug, but a condition: the client's share seed and the salt of one server are the same in
  // every query, so that what varies does not come from that server's own material.
  int fixed_for_server = -1;

  bool operator==(const PlantedBugs&) const = default;
};

// The same where a shared model is set up.
struct PlantedSetUpBugs {
  int masks_serve = 1;             // so many models
  int fixed_mask_for_server = -1;  // its seeds of B and b2 are zero
  bool constant_share = false;     // the first server's share of the model is always the same
};

// A server's halves of a gate's mask, all but uniform on Z_2^64.
inline void ShortenMask(GateDraw& draw, int bits) {
  const std::uint64_t below = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  for (std::size_t i = 0; i < draw.mask[0].size(); ++i) {
    const std::uint64_t r = (draw.mask[0][i] + draw.mask[1][i]) & below;
    draw.mask[1][i] = r - draw.mask[0][i];
  }
}

// A deployment whose dealer, client and servers draw with these bugs.
class PlantedDeployment : public Deployment {
 public:
  PlantedDeployment(IntegerNet net, Scenario scenario, const PlantedBugs& bugs)
      : Deployment(std::move(net), scenario), bugs_(bugs) {
    deal = [this](std::size_t count) { return DealPlanted(count); };
    ask = [this](const auto& reservations, auto x) {
      return MakeInputsFrom(DrawInput(), Card(), reservations, x);
    };
    if (bugs_.no_zero_share) finish = PlantedAccess::DropZeroShare;
  }

 private:
  std::vector<DealtQuery> DealPlanted(std::size_t count) {
    std::vector<QueryDraw> draws;
    for (std::size_t u = 0; u < count; ++u, ++dealt_) {
      QueryDraw draw = QueryDraw::Fresh(Card());
      if (bugs_.constant_seeds) {
        draw.linear = LinearDraw{};
        const RingVector zero(Card().units);
        draw.relu = GateDraw{{zero, zero}, {}, {}, {}};
        for (std::size_t p = 0; p < 2; ++p) ExpandSeed(Seed{}, p, draw.relu.mask[p]);
      }
      if (bugs_.repeated_seeds && dealt_ % 2 == 1) {
        draw.linear = last_.linear;
        draw.relu = last_.relu;
      }
      if (bugs_.reused_input_mask && dealt_ > 0) draw.linear.input_masks = last_.linear.input_masks;
      if (bugs_.reused_half_of_mask && dealt_ > 0) draw.relu.mask[1] = last_.relu.mask[1];
      ShortenMask(draw.relu, bugs_.mask_bits);
      ShortenMask(draw.decision, bugs_.mask_bits);
      last_ = draw;
      draws.push_back(std::move(draw));
    }
    return DealQueriesFrom(PlantedAccess::ModelOf(TheDealer(), Card().id), draws);
  }

  InputDraw DrawInput() {
    InputDraw draw = InputDraw::Fresh();
    if (bugs_.no_salt) draw.salts = {};
    if (bugs_.fixed_for_server >= 0) {
      const auto p = static_cast<std::size_t>(bugs_.fixed_for_server);
      draw.share = fixed_.share;
      draw.salts[p] = fixed_.salts[p];
    }
    return draw;
  }

  PlantedBugs bugs_;
  InputDraw fixed_ = InputDraw::Fresh();
  QueryDraw last_;
  std::size_t dealt_ = 0;
};

// Sets shared models up, one after the other and each at servers of its own, with these bugs.
class PlantedSetUps {
 public:
  explicit PlantedSetUps(const PlantedSetUpBugs& bugs) : bugs_(bugs) {}

  SetUpTranscript Next(const IntegerNet& net) {
    const Provider provider(net, Scenario::kSharedModel);
    const ModelCard& card = provider.Card();
    std::array<Server, 2> servers{Server(false), Server(true)};
    return SetUp(servers, Shares(provider), Masks(card));
  }

 private:
  std::array<ModelShareMessage, 2> Shares(const Provider& provider) const {
    std::array<ModelShareMessage, 2> shares = provider.ShareModel();
    if (!bugs_.constant_share) return shares;
    const auto fix = [](std::span<std::uint64_t> first, std::span<std::uint64_t> second) {
      AddTo(second, first);
      ExpandSeed(Seed{}, 0, first);
      SubtractFrom(second, first);
    };
    fix(shares[0].w1, shares[1].w1);
    fix(shares[0].b1, shares[1].b1);
    fix(shares[0].w2, shares[1].w2);
    fix({&shares[0].b_out, 1}, {&shares[1].b_out, 1});
    return shares;
  }

  std::array<MaskShareMessage, 2> Masks(const ModelCard& card) {
    if (set_up_++ % bugs_.masks_serve == 0) {
      Dealer dealer;
      dealer.AddModel(card);
      masks_ = dealer.Masks(card.id);
    }
    for (MaskShareMessage& masks : masks_) masks.model = card.id;
    if (bugs_.fixed_mask_for_server >= 0) {
      masks_[static_cast<std::size_t>(bugs_.fixed_mask_for_server)] = {card.id, {}, {}};
    }
    return masks_;
  }

  PlantedSetUpBugs bugs_;
  std::array<MaskShareMessage, 2> masks_;
  int set_up_ = 0;
};

}  // namespace testing
}  // namespace sotto
