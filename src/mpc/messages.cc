#include "mpc/messages.h"

#include <string>
#include <utility>

#include "mpc/wire.h"

namespace sotto {
namespace {

void WriteCard(WireWriter& to, const ModelCard& card) {
  to.Fixed(card.id);
  to.Number(static_cast<std::uint8_t>(card.scenario));
  to.Number(card.inputs);
  to.Number(card.units);
  to.Number(card.x_max);
  to.Number(static_cast<std::uint8_t>(card.decision_only));
}

ModelCard ReadCard(WireReader& from) {
  ModelCard card;
  from.Fixed(card.id, "model");
  const auto scenario = from.Number<std::uint8_t>("scenario");
  if (scenario != 1 && scenario != 2) from.Refuse("scenario", scenario, "1 or 2");
  card.scenario = static_cast<Scenario>(scenario);
  card.inputs = from.Number<std::uint32_t>("inputs");
  card.units = from.Number<std::uint32_t>("units");
  for (const auto& [field, size] :
       {std::pair("inputs", card.inputs), std::pair("units", card.units)}) {
    if (size < 1 || size > kMaxLayer) from.Refuse(field, size, "1 to " + std::to_string(kMaxLayer));
  }
  card.x_max = from.Number<std::int32_t>("x_max");
  if (card.x_max < 1) from.Refuse("x_max", 0, "at least 1");
  card.decision_only = from.Flag("decision_only");
  return card;
}

// Weights and biases in the sizes of the card, for both kinds of model.
template <class Model>
SecretBytes WriteModel(MessageKind kind, const Model& model) {
  WireWriter to(kind, model.w1.size() + model.b1.size() + model.w2.size());
  WriteCard(to, model.card);
  to.Fixed(model.w1);
  to.Fixed(model.b1);
  to.Fixed(model.w2);
  to.Number(model.b_out);
  return to.Take();
}

template <class Model>
Model ReadModel(MessageKind kind, const char* name, std::span<const std::uint8_t> bytes) {
  WireReader from(bytes, kind, name);
  Model model;
  model.card = ReadCard(from);
  from.Sized(model.w1, std::size_t{model.card.inputs} * model.card.units, "w1");
  from.Sized(model.b1, model.card.units, "b1");
  from.Sized(model.w2, model.card.units, "w2");
  model.b_out = from.Number<std::uint64_t>("b_out");
  from.Finish();
  return model;
}

void WriteGate(WireWriter& to, const GateHalf& half) {
  to.Number(static_cast<std::uint8_t>(half.gate));
  to.Number(static_cast<std::uint8_t>(half.keys.shape.bits));
  to.Number(static_cast<std::uint8_t>(half.keys.second));
  to.Fixed(half.keys.cipher);
  to.Counted(half.mask);
  to.Fixed(half.payload);
  to.Fixed(half.flipped);
  to.Fixed(half.keys.words);
}

std::size_t ValuesOf(const GateHalf& half) {
  return half.mask.size() + half.payload.size() + half.flipped.size() + half.keys.words.size();
}

GateHalf ReadGate(WireReader& from) {
  GateHalf half;
  const auto gate = from.Number<std::uint8_t>("gate");
  if (gate != 1 && gate != 2 && gate != 4) from.Refuse("gate", gate, "1, 2 or 4");
  half.gate = static_cast<Gate>(gate);
  const auto bits = from.Number<std::uint8_t>("bits");
  if (bits < 1 || bits > 62) from.Refuse("bits", bits, "1 to 62");
  half.keys.second = from.Flag("second");
  from.Fixed(half.keys.cipher, "cipher");
  from.Counted(half.mask, kMaxLayer, "mask");
  if (half.mask.empty()) from.Refuse("mask", 0, "at least one value");
  half.keys.shape = {bits, gate, half.mask.size()};
  from.Sized(half.payload, gate * half.mask.size(), "payload");
  from.Sized(half.flipped, gate * half.mask.size(), "flipped");
  from.Sized(half.keys.words, half.keys.shape.KeyWords(), "keys");
  return half;
}

std::vector<QueryId> ReadIds(WireReader& from) {
  std::vector<QueryId> ids;
  from.Counted(ids, kMaxBatch, "ids");
  if (ids.empty()) from.Refuse("ids", 0, "1 to " + std::to_string(kMaxBatch));
  return ids;
}

}  // namespace

SecretBytes ModelCard::Serialise() const {
  WireWriter to(MessageKind::kModelCard);
  WriteCard(to, *this);
  return to.Take();
}

ModelCard ModelCard::Parse(std::span<const std::uint8_t> bytes) {
  WireReader from(bytes, MessageKind::kModelCard, "model card");
  const ModelCard card = ReadCard(from);
  from.Finish();
  return card;
}

SecretBytes HelloMessage::Serialise() const {
  WireWriter to(MessageKind::kHello);
  to.Fixed(public_key);
  return to.Take();
}

HelloMessage HelloMessage::Parse(std::span<const std::uint8_t> bytes) {
  WireReader from(bytes, MessageKind::kHello, "hello");
  HelloMessage hello;
  from.Fixed(hello.public_key, "public key");
  from.Finish();
  return hello;
}

SecretBytes PublicModelMessage::Serialise() const {
  return WriteModel(MessageKind::kPublicModel, *this);
}

PublicModelMessage PublicModelMessage::Parse(std::span<const std::uint8_t> bytes) {
  return ReadModel<PublicModelMessage>(MessageKind::kPublicModel, "public model", bytes);
}

SecretBytes ModelShareMessage::Serialise() const {
  return WriteModel(MessageKind::kModelShare, *this);
}

ModelShareMessage ModelShareMessage::Parse(std::span<const std::uint8_t> bytes) {
  return ReadModel<ModelShareMessage>(MessageKind::kModelShare, "model share", bytes);
}

SecretBytes MaskShareMessage::Serialise() const {
  WireWriter to(MessageKind::kMaskShare);
  to.Fixed(model);
  to.Fixed(matrix);
  to.Fixed(weights);
  return to.Take();
}

MaskShareMessage MaskShareMessage::Parse(std::span<const std::uint8_t> bytes) {
  WireReader from(bytes, MessageKind::kMaskShare, "mask share");
  MaskShareMessage message;
  from.Fixed(message.model, "model");
  from.Fixed(message.matrix, "matrix");
  from.Fixed(message.weights, "weights");
  from.Finish();
  return message;
}

SecretBytes OpenedMaskMessage::Serialise() const {
  WireWriter to(MessageKind::kOpenedMask, matrix.size() + weights.size());
  to.Fixed(model);
  to.Counted(weights);
  to.Counted(matrix);
  return to.Take();
}

OpenedMaskMessage OpenedMaskMessage::Parse(std::span<const std::uint8_t> bytes) {
  WireReader from(bytes, MessageKind::kOpenedMask, "opened mask");
  OpenedMaskMessage message;
  from.Fixed(message.model, "model");
  from.Counted(message.weights, kMaxLayer, "weights");
  from.Counted(message.matrix, kMaxLayer * kMaxLayer, "matrix");
  from.Finish();
  return message;
}

SecretBytes MaterialMessage::Serialise() const {
  WireWriter to(MessageKind::kMaterial, (linear ? linear->product.size() : 0) + ValuesOf(relu) +
                                            (decision ? ValuesOf(*decision) : 0));
  to.Fixed(id);
  to.Fixed(model);
  to.Number(static_cast<std::uint8_t>(second));
  to.Number(static_cast<std::uint8_t>(linear.has_value()));
  if (linear) {
    to.Fixed(linear->input_mask);
    to.Counted(linear->product);
  }
  WriteGate(to, relu);
  to.Number(static_cast<std::uint8_t>(decision.has_value()));
  if (decision) WriteGate(to, *decision);
  return to.Take();
}

MaterialMessage MaterialMessage::Parse(std::span<const std::uint8_t> bytes) {
  WireReader from(bytes, MessageKind::kMaterial, "material");
  MaterialMessage message;
  from.Fixed(message.id, "id");
  from.Fixed(message.model, "model");
  message.second = from.Flag("second");
  if (from.Flag("linear")) {
    message.linear.emplace();
    from.Fixed(message.linear->input_mask, "input mask");
    from.Counted(message.linear->product, kMaxLayer, "product");
  }
  message.relu = ReadGate(from);
  if (from.Flag("decision")) message.decision = ReadGate(from);
  from.Finish();
  return message;
}

SecretBytes ReservationMessage::Serialise() const {
  WireWriter to(MessageKind::kReservation);
  to.Fixed(model);
  to.Counted(ids);
  to.Counted(input_masks);
  return to.Take();
}

ReservationMessage ReservationMessage::Parse(std::span<const std::uint8_t> bytes) {
  WireReader from(bytes, MessageKind::kReservation, "reservation");
  ReservationMessage message;
  from.Fixed(message.model, "model");
  message.ids = ReadIds(from);
  from.Counted(message.input_masks, kMaxBatch, "input masks");
  from.Finish();
  return message;
}

SecretBytes InputMessage::Serialise() const {
  WireWriter to(MessageKind::kInput);
  to.Fixed(model);
  to.Counted(ids);
  to.Counted(values);
  to.Number(static_cast<std::uint8_t>(committed.has_value()));
  if (committed) {
    to.Fixed(committed->share_seed);
    to.Fixed(committed->salt);
    for (const Digest& commitment : committed->commitments) to.Fixed(commitment);
  }
  return to.Take();
}

InputMessage InputMessage::Parse(std::span<const std::uint8_t> bytes) {
  WireReader from(bytes, MessageKind::kInput, "input");
  InputMessage message;
  from.Fixed(message.model, "model");
  message.ids = ReadIds(from);
  from.Counted(message.values, kMaxBatch * kMaxLayer, "values");
  if (from.Flag("committed")) {
    message.committed.emplace();
    from.Fixed(message.committed->share_seed, "share seed");
    from.Fixed(message.committed->salt, "salt");
    for (Digest& commitment : message.committed->commitments) from.Fixed(commitment, "commitment");
  }
  from.Finish();
  return message;
}

SecretBytes ExchangeMessage::Serialise() const {
  WireWriter to(MessageKind::kExchange);
  to.Counted(ids);
  to.Number(static_cast<std::uint8_t>(decision));
  to.Fixed(digest);
  to.Counted(values);
  return to.Take();
}

ExchangeMessage ExchangeMessage::Parse(std::span<const std::uint8_t> bytes) {
  WireReader from(bytes, MessageKind::kExchange, "exchange");
  ExchangeMessage message;
  message.ids = ReadIds(from);
  message.decision = from.Flag("decision");
  from.Fixed(message.digest, "digest");
  from.Counted(message.values, kMaxBatch * kMaxLayer, "values");
  from.Finish();
  return message;
}

SecretBytes ResultMessage::Serialise() const {
  WireWriter to(MessageKind::kResult);
  to.Counted(ids);
  to.Number(static_cast<std::uint8_t>(decision));
  to.Counted(values);
  return to.Take();
}

ResultMessage ResultMessage::Parse(std::span<const std::uint8_t> bytes) {
  WireReader from(bytes, MessageKind::kResult, "result");
  ResultMessage message;
  message.ids = ReadIds(from);
  message.decision = from.Flag("decision");
  from.Counted(message.values, kMaxBatch, "values");
  from.Finish();
  return message;
}

}  // namespace sotto
