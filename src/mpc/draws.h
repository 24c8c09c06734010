// The randomness of one use of the protocol, named piece by piece, and the functions that are exact
// in it. Callers use gates.h, Dealer and Client, which draw everything afresh from the operating
// system and forget it; a draw that serves twice or is not uniform reveals secrets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mpc/aes.h"
#include "mpc/gates.h"
#include "mpc/messages.h"

namespace sotto {

struct LinearDraw {
  std::array<Seed, 2> input_masks;
  Seed product_share;
  static LinearDraw Fresh() { return {{FreshSeed(), FreshSeed()}, FreshSeed()}; }
};
// `masked` is B·A for the A of the draw.
std::array<LinearHalf, 2> DealLinearFrom(const LinearDraw& draw,
                                         std::span<const std::uint64_t> masked);

struct GateDraw {
  Shares mask;
  Seed shares;
  std::array<Seed, 2> roots;
  AesBlock cipher{};
  static GateDraw Fresh(std::size_t count);
};
std::array<GateHalf, 2> DealGateFrom(const GateDraw& draw, Gate gate, unsigned bits,
                                     std::span<const std::uint64_t> weights);

// A = A_0 + A_1.
RingVector InputMask(const std::array<Seed, 2>& masks, std::size_t count);

// What the dealer knows of a model: the masks of its weights, both shares of them, in scenario 2.
struct DealerModel {
  ModelCard card;
  std::array<MaskShareMessage, 2> shares;
  RingMatrix matrix;   // B
  RingVector weights;  // b2

  explicit DealerModel(const ModelCard& card_);
  DealerModel(const ModelCard& card_, const std::array<MaskShareMessage, 2>& shares_);
};

struct QueryDraw {
  QueryId id{};
  LinearDraw linear;
  GateDraw relu, decision;
  static QueryDraw Fresh(const ModelCard& card);
};
using DealtQuery = std::array<MaterialMessage, 2>;
std::vector<DealtQuery> DealQueriesFrom(const DealerModel& model, std::span<const QueryDraw> draws);

// Of the client, scenario 1: the first server's share of x, and the salts of the commitments.
struct InputDraw {
  Seed share;
  std::array<Digest, 2> salts{};
  static InputDraw Fresh();
};
std::array<InputMessage, 2> MakeInputsFrom(const InputDraw& draw, const ModelCard& card,
                                           const std::array<ReservationMessage, 2>& reservations,
                                           std::span<const std::int32_t> x);

}  // namespace sotto
