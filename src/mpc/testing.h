// For tests of the room mpc: nets at the edge of what is allowed, and all parties in one place with
// every message taken to bytes and back.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "base/random.h"
#include "mpc/draws.h"
#include "mpc/parties.h"

namespace sotto::testing {

// Weights and biases of any sign that use up the ranges CheckRanges allows.
inline IntegerNet RandomNet(std::uint32_t inputs, std::uint32_t units, std::uint64_t seed) {
  SeededRng rng(seed);
  const auto between = [&](std::int64_t limit) {
    return static_cast<std::int64_t>(rng.Below(static_cast<std::uint64_t>(2 * limit + 1))) - limit;
  };
  IntegerNet net;
  net.inputs = inputs;
  net.units = units;
  net.x_max = 8 << IntegerNet::kFractionBits;
  const std::int64_t layer = (std::int64_t{1} << IntegerNet::kLayerBits) - 1;
  const std::int64_t weight =
      std::min<std::int64_t>(layer / 4 * 3 / net.x_max / inputs, (1 << 15) - 1);
  for (std::uint32_t i = 0; i < units; ++i) {
    std::int64_t norm = 0;
    for (std::uint32_t j = 0; j < inputs; ++j) {
      net.w1.push_back(static_cast<std::int32_t>(between(weight)));
      norm += std::abs(net.w1.back());
    }
    net.b1.push_back(i % 7 == 0 ? 0 : between(layer - norm * net.x_max));
  }
  const std::int64_t score = (std::int64_t{1} << IntegerNet::kScoreBits) - 1;
  for (std::uint32_t i = 0; i < units; ++i) {
    net.w2.push_back(static_cast<std::int32_t>(between(score / 2 / layer / units)));
  }
  net.b_out = between(score / 4);
  net.threshold = between(score / 8);
  CheckRanges(net);
  return net;
}

// Inputs that take unit `unit` to its largest sum (or, with sign −1, its smallest).
inline std::vector<std::int32_t> ExtremeInput(const IntegerNet& net, std::uint32_t unit, int sign) {
  std::vector<std::int32_t> x;
  for (std::uint32_t j = 0; j < net.inputs; ++j) {
    const std::int32_t w = net.w1[std::size_t{unit} * net.inputs + j];
    x.push_back(w * sign < 0 ? -net.x_max : net.x_max);
  }
  return x;
}

inline std::vector<std::int32_t> RandomInput(const IntegerNet& net, SeededRng& rng) {
  std::vector<std::int32_t> x;
  const auto range = static_cast<std::uint64_t>(net.x_max) * 5 / 2;  // a fifth of it is clipped
  for (std::uint32_t j = 0; j < net.inputs; ++j) {
    x.push_back(static_cast<std::int32_t>(rng.Below(range + 1)) -
                static_cast<std::int32_t>(range / 2));
  }
  return x;
}

// What the plain net answers, by the provider's policy.
inline std::int64_t PlainAnswer(const IntegerNet& net, std::span<const std::int32_t> x) {
  const std::int64_t score = Evaluate(net, x);
  return net.decision_only ? static_cast<std::int64_t>(score >= net.threshold) : score;
}

// Everything that was sent for one query.
struct QueryTranscript {
  std::vector<DealtQuery> material;
  std::array<ReservationMessage, 2> reservations;
  std::array<InputMessage, 2> inputs;
  std::vector<std::array<ExchangeMessage, 2>> exchanges;
  std::array<ResultMessage, 2> results;
  std::vector<std::int64_t> answers;
  std::array<std::size_t, 2> input_bytes{};
  std::size_t exchange_bytes = 0, material_bytes = 0;
};

// Everything that was sent to set up a shared model.
struct SetUpTranscript {
  std::array<HelloMessage, 2> hellos;       // of each server to the other
  std::array<ModelShareMessage, 2> model;   // to each server
  std::array<MaskShareMessage, 2> masks;    // likewise
  std::array<OpenedMaskMessage, 2> opened;  // by each server to the other
};

// As it would arrive.
template <class Message>
Message Sent(const Message& message, std::size_t* bytes = nullptr) {
  const SecretBytes sent = message.Serialise();
  if (bytes != nullptr) *bytes = sent.size();
  return Message::Parse(sent);
}

inline SetUpTranscript SetUp(std::array<Server, 2>& servers,
                             const std::array<ModelShareMessage, 2>& model,
                             const std::array<MaskShareMessage, 2>& masks) {
  SetUpTranscript t{{servers[0].Hello(), servers[1].Hello()}, model, masks, {}};
  for (std::size_t p = 0; p < 2; ++p) {
    t.opened[p] = servers[p].LoadModel(Sent(model[p]), Sent(masks[p]));
  }
  for (std::size_t p = 0; p < 2; ++p) servers[p].FinishModel(Sent(t.opened[1 - p]));
  return t;
}

class Deployment {
 public:
  // How material and inputs are drawn and results finished, where not as the parties do.
  using Deal = std::function<std::vector<DealtQuery>(std::size_t count)>;
  using Ask = std::function<std::array<InputMessage, 2>(const std::array<ReservationMessage, 2>&,
                                                        std::span<const std::int32_t>)>;
  Deal deal;
  Ask ask;
  std::function<void(const Server&, ResultMessage&)> finish;

  Deployment(IntegerNet net, Scenario scenario)
      : provider_(std::move(net), scenario), client_(provider_.Card()) {
    dealer_.AddModel(Card());
    servers_[0].Meet(Sent(servers_[1].Hello()));
    servers_[1].Meet(Sent(servers_[0].Hello()));
    deal = [this](std::size_t count) { return dealer_.Deal(Card().id, count); };
    ask = [this](const auto& reservations, auto x) { return client_.Ask(reservations, x); };
    if (scenario == Scenario::kPublicModel) {
      for (Server& server : servers_) server.LoadPublicModel(Sent(provider_.PublicModel()));
    } else {
      SetUp(servers_, provider_.ShareModel(), dealer_.Masks(Card().id));
    }
  }

  virtual ~Deployment() = default;
  Deployment(const Deployment&) = delete;
  Deployment& operator=(const Deployment&) = delete;

  const ModelCard& Card() const { return provider_.Card(); }
  Server& At(std::size_t p) { return servers_[p]; }
  const Client& TheClient() const { return client_; }

  std::vector<DealtQuery> Stock(std::size_t count, std::size_t* bytes = nullptr) {
    std::vector<DealtQuery> dealt = deal(count);
    for (std::size_t p = 0; p < 2; ++p) {
      std::vector<MaterialMessage> material(dealt.size());
      for (std::size_t u = 0; u < dealt.size(); ++u) material[u] = Sent(dealt[u][p], bytes);
      servers_[p].AddMaterial(std::move(material));
    }
    return dealt;
  }

  std::array<ReservationMessage, 2> Reserve(std::size_t count) {
    const ReservationMessage first = Sent(servers_[0].Reserve(count));
    return {first, Sent(servers_[1].Reserve(first.ids))};
  }

  // `x` holds one utterance after the other.
  QueryTranscript Run(std::span<const std::int32_t> x) {
    QueryTranscript t;
    const std::size_t batch = x.size() / Card().inputs;
    t.material = Stock(batch, &t.material_bytes);
    t.reservations = Reserve(batch);
    t.inputs = ask(t.reservations, x);
    std::array<ExchangeMessage, 2> exchange;
    for (std::size_t p = 0; p < 2; ++p) {
      exchange[p] = servers_[p].Take(Sent(t.inputs[p], &t.input_bytes[p]));
    }
    for (bool done = false; !done;) {
      t.exchanges.push_back(exchange);
      for (std::size_t p = 0; p < 2; ++p) {
        std::size_t bytes = 0;
        auto next = servers_[p].Exchange(Sent(t.exchanges.back()[1 - p], &bytes));
        t.exchange_bytes = std::max(t.exchange_bytes, bytes);
        if (auto* result = std::get_if<ResultMessage>(&next)) {
          if (finish) finish(servers_[p], *result);
          t.results[p] = Sent(*result);
          done = true;
        } else {
          exchange[p] = std::get<ExchangeMessage>(next);
        }
      }
    }
    t.answers = client_.Answer(t.results);
    return t;
  }

 protected:
  const Dealer& TheDealer() const { return dealer_; }

 private:
  Provider provider_;
  Dealer dealer_;
  Client client_;
  std::array<Server, 2> servers_{Server(false), Server(true)};
};

}  // namespace sotto::testing
