#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/random.h"
#include "mpc/draws.h"
#include "mpc/parties.h"

namespace sotto {

InputDraw InputDraw::Fresh() {
  InputDraw draw{FreshSeed(), {}};
  for (Digest& salt : draw.salts) SecureRandomBytes(salt);
  return draw;
}

std::array<InputMessage, 2> MakeInputsFrom(const InputDraw& draw, const ModelCard& card,
                                           const std::array<ReservationMessage, 2>& reservations,
                                           std::span<const std::int32_t> x) {
  const std::size_t batch = reservations[0].ids.size();
  RingVector clipped(x.size());
  std::transform(x.begin(), x.end(), clipped.begin(), [&](std::int32_t value) {
    return static_cast<std::uint64_t>(std::int64_t{std::clamp(value, -card.x_max, card.x_max)});
  });
  std::array<InputMessage, 2> inputs;
  for (InputMessage& input : inputs) {
    input.model = card.id;
    input.ids = reservations[0].ids;
  }
  if (card.scenario == Scenario::kSharedModel) {
    for (std::size_t u = 0; u < batch; ++u) {
      const std::array<Seed, 2> masks = {reservations[0].input_masks[u],
                                         reservations[1].input_masks[u]};
      const auto values = std::span(clipped).subspan(u * card.inputs, card.inputs);
      SubtractFrom(values, InputMask(masks, card.inputs));
    }
    inputs[0].values = clipped;
    inputs[1].values = std::move(clipped);
    return inputs;
  }
  RingVector first(clipped.size());
  ExpandSeed(draw.share, 0, first);
  SubtractFrom(clipped, first);
  const std::array<Digest, 2> commitments = {Commit(draw.salts[0], false, draw.share),
                                             Commit(draw.salts[1], true, BytesOf(clipped))};
  inputs[0].committed = {draw.share, draw.salts[0], commitments};
  inputs[1].committed = {{}, draw.salts[1], commitments};
  inputs[1].values = std::move(clipped);
  return inputs;
}

std::array<InputMessage, 2> Client::Ask(const std::array<ReservationMessage, 2>& reservations,
                                        std::span<const std::int32_t> x) const {
  const auto& ids = reservations[0].ids;
  const std::size_t masks = card_.scenario == Scenario::kSharedModel ? ids.size() : 0;
  for (const ReservationMessage& reservation : reservations) {
    if (reservation.model != card_.id) throw Error("mpc client: a reservation of another model");
    if (reservation.ids != ids) throw Error("mpc client: the servers reserved different ids");
    if (reservation.input_masks.size() != masks) {
      throw Error(fmt::format("mpc client: a reservation with {} input masks; {} expected",
                              reservation.input_masks.size(), masks));
    }
  }
  if (ids.empty() || x.size() != ids.size() * card_.inputs) {
    throw Error(fmt::format("mpc client: {} input values for {} utterances; {} each expected",
                            x.size(), ids.size(), card_.inputs));
  }
  return MakeInputsFrom(InputDraw::Fresh(), card_, reservations, x);
}

std::vector<std::int64_t> Client::Answer(const std::array<ResultMessage, 2>& results) const {
  if (results[0].ids != results[1].ids || results[0].ids.size() != results[0].values.size()) {
    throw Error("mpc client: the servers' results are not of one query");
  }
  for (const ResultMessage& result : results) {
    if (result.decision == card_.decision_only) continue;
    throw Error("mpc client: a result that is not of the model's policy");
  }
  std::vector<std::int64_t> answers;
  for (const std::uint64_t sum : Open(results[0].values, results[1].values)) {
    if (card_.decision_only && sum > 1) {
      throw Error(fmt::format("mpc client: a decision of {}; 0 or 1 expected", sum));
    }
    answers.push_back(static_cast<std::int64_t>(sum));
  }
  return answers;
}

}  // namespace sotto
