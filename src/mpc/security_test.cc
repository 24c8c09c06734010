// What one party sees tells it nothing but what it may know: every word of its view, less what its
// own material predicts, looks uniform, occurs once, and has the same distribution for two secrets
// (inputs, or models) that could not differ more. The same tests find planted bugs.
//
// A statistical test proves no security (the argument is in docs/mpc.md): it finds mistakes that
// make a transcript depend on a secret. Its thresholds let an honest run fail once in some 10^6.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "mpc/planted_testing.h"

namespace sotto {
namespace {

using testing::Deployment;
using testing::PlantedBugs;
using testing::PlantedDeployment;
using testing::PlantedSetUpBugs;
using testing::PlantedSetUps;
using testing::QueryTranscript;
using testing::SetUpTranscript;

// A view in pieces of one meaning: for each query (or set-up) its words, in the same order each
// time.
using View = std::map<std::string, std::vector<RingVector>>;

using Histogram = std::array<double, 256>;

// χ² with 255 degrees of freedom lies 8 deviations above its mean with a probability near 1e-11.
constexpr double kWorst = 255 + 8 * 22.6;

double AgainstUniform(const Histogram& h) {
  double n = 0, sum = 0;
  for (const double count : h) n += count;
  for (const double count : h) sum += (count - n / 256) * (count - n / 256) / (n / 256);
  return sum;
}

double AgainstEachOther(const Histogram& a, const Histogram& b) {
  double n = 0, m = 0, sum = 0;
  for (const double count : a) n += count;
  for (const double count : b) m += count;
  for (std::size_t i = 0; i < 256; ++i) {
    if (a[i] + b[i] == 0) continue;
    const double gap = a[i] * std::sqrt(m / n) - b[i] * std::sqrt(n / m);
    sum += gap * gap / (a[i] + b[i]);
  }
  return sum;
}

Histogram BytesAt(const std::vector<RingVector>& words, unsigned byte) {
  Histogram h{};
  for (const RingVector& query : words) {
    for (const std::uint64_t word : query) ++h[(word >> (8 * byte)) & 0xFFU];
  }
  return h;
}

// Queries come in turn: one with the first secret, one with the second, and so on. Returns what is
// wrong.
std::vector<std::string> Findings(const View& view) {
  std::vector<std::string> findings;
  for (const auto& [name, queries] : view) {
    std::vector<RingVector> kinds[2], differences;
    RingVector all;
    for (std::size_t q = 0; q < queries.size(); ++q) {
      kinds[q % 2].push_back(queries[q]);
      all.insert(all.end(), queries[q].begin(), queries[q].end());
      if (q == 0) continue;
      RingVector difference = queries[q];
      SubtractFrom(difference, queries[q - 1]);
      if (q % 2 == 1) differences.push_back(std::move(difference));
    }
    for (unsigned byte = 0; byte < 8; ++byte) {
      const std::string at = name + ", byte " + std::to_string(byte);
      if (AgainstUniform(BytesAt(queries, byte)) > kWorst) findings.push_back(at + ": not uniform");
      if (AgainstUniform(BytesAt(differences, byte)) > kWorst) {
        findings.push_back(at + ": differences of two queries are not uniform");
      }
      if (AgainstEachOther(BytesAt(kinds[0], byte), BytesAt(kinds[1], byte)) > kWorst) {
        findings.push_back(at + ": depends on the secret");
      }
    }
    std::sort(all.begin(), all.end());
    if (std::adjacent_find(all.begin(), all.end()) != all.end()) {
      findings.push_back(name + ": a word occurs twice");
    }
  }
  return findings;
}

RingVector WordsOf(std::span<const std::uint8_t> bytes) {
  RingVector words(bytes.size() / 8);
  std::memcpy(words.data(), bytes.data(), words.size() * 8);
  return words;
}

RingVector Joined(std::initializer_list<std::span<const std::uint64_t>> parts) {
  RingVector all;
  for (const auto part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// The words of a gate's keys that are random: of each lane of a root the upper half (the lower has
// the control bit, the words after it hold bits), and the corrections of the first levels.
RingVector KeyWords(const GateHalf& half) {
  RingVector words;
  for (std::size_t i = 1; i < 16; i += 2) words.push_back(half.keys.words[i]);
  words.insert(words.end(), half.keys.words.begin() + 32, half.keys.words.begin() + 128);
  return words;
}

void Add(View& view, const std::string& name, RingVector words) {
  view[name].push_back(std::move(words));
}

// What server p has of the set-up of a shared model: its share, its seeds of B and b2, and what its
// peer sent. F is what both sent; with the own part of B it is W less the peer's part.
void AddServerSetUp(View& view, const SetUpTranscript& t, std::size_t p) {
  const ModelShareMessage& model = t.model[p];
  const MaskShareMessage& masks = t.masks[p];
  const std::size_t weights = model.w1.size(), units = model.w2.size();
  Add(view, "model id", WordsOf(model.card.id));
  // The last of its four words has no highest bit.
  Add(view, "the peer's key", WordsOf(std::span(t.hellos[1 - p].public_key).first(24)));
  Add(view, "share of the model", Joined({model.w1, model.b1, model.w2, {&model.b_out, 1}}));
  Add(view, "seeds of the masks", Joined({WordsOf(masks.matrix), WordsOf(masks.weights)}));
  const auto opened = [&](std::size_t of) {
    return Joined({t.opened[of].matrix, t.opened[of].weights});
  };
  Add(view, "the peer's message", opened(1 - p));
  RingVector f = Open(opened(0), opened(1)), own(weights + units);
  Add(view, "F", f);
  ExpandSeed(masks.matrix, 0, std::span(own).first(weights));
  ExpandSeed(masks.weights, 0, std::span(own).last(units));
  AddTo(f, own);
  Add(view, "F and the own part of B", std::move(f));
}

// What server p has of one query: its material, the client's message, and its peer's.
void AddServerView(View& view, const QueryTranscript& t, std::size_t p, std::size_t inputs) {
  const MaterialMessage& material = t.material[0][p];
  Add(view, "id", WordsOf(material.id));
  const auto gate = [&](const std::string& name, const GateHalf& half) {
    Add(view, name + " shares", Joined({half.mask, half.payload, half.flipped}));
    Add(view, name + " keys", KeyWords(half));
  };
  gate("ReLU", material.relu);
  if (material.decision) gate("decision", *material.decision);
  if (material.linear) {
    const Seed& seed = material.linear->input_mask;
    RingVector own(inputs);
    ExpandSeed(seed, 0, own);
    Add(view, "dealt seed", WordsOf(seed));
    Add(view, "dealt product", material.linear->product);
    Add(view, "E", t.inputs[p].values);
    AddTo(own, t.inputs[p].values);
    Add(view, "E and the own part of A", std::move(own));
  } else {
    const auto& committed = *t.inputs[p].committed;
    Add(view, "share of x", p == 0 ? WordsOf(committed.share_seed) : t.inputs[p].values);
    Add(view, "salt", WordsOf(committed.salt));
    Add(view, "the other's commitment", WordsOf(committed.commitments[1 - p]));
  }
  for (const auto& exchange : t.exchanges) {
    const std::string name = exchange[p].decision ? "decision" : "ReLU";
    const GateHalf& half = exchange[p].decision ? *material.decision : material.relu;
    Add(view, name + ", the peer's message", exchange[1 - p].values);
    RingVector opened = Open(exchange[p].values, exchange[1 - p].values);
    Add(view, name + ", opened", opened);
    SubtractFrom(opened, half.mask);
    Add(view, name + ", opened less the own part of r", std::move(opened));
    EXPECT_EQ(exchange[1 - p].digest, exchange[p].digest) << "the server can make it itself";
  }
  Add(view, "digest", WordsOf(t.exchanges[0][1 - p].digest));
}

// What the client has: seeds and results. Of the two results one follows from the answer and the
// other.
void AddClientView(View& view, const QueryTranscript& t) {
  for (std::size_t p = 0; p < 2; ++p) {
    for (const Seed& seed : t.reservations[p].input_masks) {
      Add(view, "seed of server " + std::to_string(p), WordsOf(seed));
    }
  }
  Add(view, "id", WordsOf(t.reservations[0].ids[0]));
  Add(view, "the first server's result", t.results[0].values);
}

struct Views {
  View server[2], client;
};

// A small net. Second weights are multiples of 2^12: a share of the score that is not re-randomised
// shows the low bits of the bias.
IntegerNet SmallNet(bool decision_only) {
  IntegerNet net = testing::RandomNet(12, 8, 21);
  net.decision_only = decision_only;
  for (std::int32_t& w : net.w2) w &= ~0xFFF;
  return net;
}

// Of the same size, with nothing in it.
IntegerNet EmptyNet(bool decision_only) {
  IntegerNet net = SmallNet(decision_only);
  std::fill(net.w1.begin(), net.w1.end(), 0);
  std::fill(net.b1.begin(), net.b1.end(), 0);
  std::fill(net.w2.begin(), net.w2.end(), 0);
  net.b_out = net.threshold = 0;
  return net;
}

// Without a bug: the parties themselves, with nothing between.
std::unique_ptr<Deployment> Deploy(const IntegerNet& net, Scenario scenario,
                                   const PlantedBugs& bugs) {
  if (bugs == PlantedBugs{}) return std::make_unique<Deployment>(net, scenario);
  return std::make_unique<PlantedDeployment>(net, scenario, bugs);
}

void RunQuery(Views& views, Deployment& parties, const IntegerNet& net,
              const std::vector<std::int32_t>& x) {
  const QueryTranscript t = parties.Run(x);
  EXPECT_EQ(t.answers[0], testing::PlainAnswer(net, x)) << "bugs here change no answer";
  for (std::size_t p = 0; p < 2; ++p) AddServerView(views.server[p], t, p, net.inputs);
  AddClientView(views.client, t);
}

// One net, two inputs as far apart as they can be.
Views RunQueries(Scenario scenario, bool decision_only, const PlantedBugs& bugs, int queries) {
  const IntegerNet net = SmallNet(decision_only);
  const auto parties = Deploy(net, scenario, bugs);
  const std::vector<std::int32_t> inputs[2] = {std::vector<std::int32_t>(12, 0),
                                               testing::ExtremeInput(net, 3, 1)};
  Views views;
  for (int q = 0; q < queries; ++q) RunQuery(views, *parties, net, inputs[q % 2]);
  return views;
}

// Two nets, one input.
Views RunNets(Scenario scenario, bool decision_only, const PlantedBugs& bugs, int queries) {
  const IntegerNet nets[2] = {SmallNet(decision_only), EmptyNet(decision_only)};
  const std::unique_ptr<Deployment> parties[2] = {Deploy(nets[0], scenario, bugs),
                                                  Deploy(nets[1], scenario, bugs)};
  const std::vector<std::int32_t> x = testing::ExtremeInput(nets[0], 3, 1);
  Views views;
  for (int q = 0; q < queries; ++q) RunQuery(views, *parties[q % 2], nets[q % 2], x);
  return views;
}

// Set-ups of two nets in turn. A client sees nothing of them.
std::array<View, 2> RunSetUps(const PlantedSetUpBugs& bugs, int count) {
  const IntegerNet nets[2] = {SmallNet(false), EmptyNet(false)};
  PlantedSetUps set_ups(bugs);
  std::array<View, 2> views;
  for (int i = 0; i < count; ++i) {
    const IntegerNet& net = nets[i % 2];
    const SetUpTranscript t = set_ups.Next(net);
    EXPECT_EQ(Open(t.model[0].w1, t.model[1].w1), RingVector(net.w1.begin(), net.w1.end()))
        << "bugs here change no model";
    for (std::size_t p = 0; p < 2; ++p) AddServerSetUp(views[p], t, p);
  }
  return views;
}

std::string Text(const std::vector<std::string>& findings) {
  std::string text;
  for (const std::string& finding : findings) text += "\n  " + finding;
  return text;
}

constexpr int kQueries = 4000;

class Security : public ::testing::TestWithParam<std::tuple<Scenario, bool>> {
 protected:
  static Views Run(const PlantedBugs& bugs, int queries = kQueries) {
    return RunQueries(std::get<0>(GetParam()), std::get<1>(GetParam()), bugs, queries);
  }
  static bool Shared() { return std::get<0>(GetParam()) == Scenario::kSharedModel; }
  static bool DecisionOnly() { return std::get<1>(GetParam()); }
  // Both servers find something, in a piece of their view whose name begins like this.
  static void ExpectServersFind(const PlantedBugs& bugs, const std::string& piece, int queries) {
    const Views views = Run(bugs, queries);
    for (const View& view : views.server) {
      const std::string text = Text(Findings(view));
      EXPECT_NE(text.find("\n  " + piece), std::string::npos) << "not found in " << piece << text;
    }
  }
};
INSTANTIATE_TEST_SUITE_P(All, Security,
                         ::testing::Combine(::testing::Values(Scenario::kPublicModel,
                                                              Scenario::kSharedModel),
                                            ::testing::Bool()));

TEST_P(Security, EveryPartysViewIsUniformAndIndependentOfTheInput) {
  const Views views = Run({});
  for (const View& view : views.server) EXPECT_EQ(Text(Findings(view)), "");
  EXPECT_EQ(Text(Findings(views.client)), "");
}

TEST_P(Security, EveryPartysViewIsIndependentOfTheModel) {
  const auto [scenario, decision_only] = GetParam();
  const Views views = RunNets(scenario, decision_only, {}, kQueries);
  for (const View& view : views.server) EXPECT_EQ(Text(Findings(view)), "");
  EXPECT_EQ(Text(Findings(views.client)), "");
}

TEST_P(Security, AReusedMaskOfTheInputIsFound) {
  if (Shared()) {
    ExpectServersFind({.reused_input_mask = true}, "E", 400);
  } else {
    // There the mask is the client's share seed.
    ExpectServersFind({.fixed_for_server = 0}, "share of x", 400);
  }
}

TEST_P(Security, AMaskOf36BitsIsFound) {
  ExpectServersFind({.mask_bits = 36}, "ReLU, opened", 400);
}

TEST_P(Security, NoMaskIsFound) {
  ExpectServersFind({.mask_bits = 0}, "ReLU, opened", 400);
  if (DecisionOnly()) ExpectServersFind({.mask_bits = 0}, "decision, opened", 400);
}

// The other server's own part of r is fresh, so that ẑ is uniform: less that part it is not.
TEST_P(Security, AShareOfAMaskThatServesTwiceIsFoundByTheOtherServer) {
  const Views views = Run({.reused_half_of_mask = true}, 400);
  const std::string text = Text(Findings(views.server[0]));
  EXPECT_NE(text.find("\n  ReLU, opened less the own part of r"), std::string::npos) << text;
}

TEST_P(Security, ConstantSeedsOfTheDealerAreFound) {
  ExpectServersFind({.constant_seeds = true}, "ReLU keys", 400);
}

TEST_P(Security, RepeatedSeedsOfTheDealerAreFound) {
  ExpectServersFind({.repeated_seeds = true}, "ReLU keys", 400);
}

// The other server's commitment, where this server's own share and salt and the input are always
// the same: what it sees then must still be fresh.
std::string CommitmentFindings(int server, bool no_salt) {
  const Views views = RunQueries(Scenario::kPublicModel, false,
                                 {.no_salt = no_salt, .fixed_for_server = server}, kQueries);
  const std::string piece = "the other's commitment";
  return Text(Findings({{piece, views.server[server].at(piece)}}));
}

TEST(SecurityScenario1, CommitmentsTellNothingToWhoKnowsHisShareAndGuessesX) {
  for (const int server : {0, 1}) EXPECT_EQ(CommitmentFindings(server, false), "");
}

TEST(SecurityScenario1, ACommitmentWithoutSaltIsFound) {
  for (const int server : {0, 1}) EXPECT_NE(CommitmentFindings(server, true), "");
}

TEST(SecurityScenario1, AMissingZeroShareIsFoundByTheClient) {
  for (const auto run : {RunQueries, RunNets}) {
    const Views views = run(Scenario::kPublicModel, false, {.no_zero_share = true}, kQueries);
    const std::string text = Text(Findings(views.client));
    EXPECT_NE(text.find("the first server's result"), std::string::npos) << text;
  }
}

// Everywhere else the plant cannot be found: dealt shares, which the client never sees, hide the
// result already. In scenario 2 a share of the score ends in one of r·b2·1{z ≥ 0}, and that of a
// decision is one of 1{z ≥ 0}: shares of the gate's payload, uniform and fresh, taken once. In
// scenario 1 all such shares are multiplied by w2, which may be even. The zero share is there in
// each case, so that nobody has to rely on this, and because the dealer knows those shares.
TEST(SecurityOfAResult, AMissingZeroShareShowsTheClientNothingWhereDealtSharesHideTheResult) {
  const std::tuple<Scenario, bool> hidden[] = {{Scenario::kSharedModel, false},
                                               {Scenario::kSharedModel, true},
                                               {Scenario::kPublicModel, true}};
  for (const auto& [scenario, decision_only] : hidden) {
    for (const auto run : {RunQueries, RunNets}) {
      const Views views = run(scenario, decision_only, {.no_zero_share = true}, kQueries);
      EXPECT_EQ(Text(Findings(views.client)), "");
    }
  }
}

constexpr int kSetUps = 2000;

TEST(SecurityOfASetUp, EveryServersViewIsUniformAndIndependentOfTheModel) {
  for (const View& view : RunSetUps({}, kSetUps)) EXPECT_EQ(Text(Findings(view)), "");
}

// Both servers find something, in a piece of their view whose name begins like this.
void ExpectSetUpFindings(const PlantedSetUpBugs& bugs, const std::string& piece) {
  for (const View& view : RunSetUps(bugs, 400)) {
    const std::string text = Text(Findings(view));
    EXPECT_NE(text.find("\n  " + piece), std::string::npos) << "not found in " << piece << text;
  }
}

TEST(SecurityOfASetUp, AConstantMaskOfTheWeightsIsFound) {
  ExpectSetUpFindings({.masks_serve = 400}, "F, byte");
}

// F of one less F of the other is then the difference of the two nets.
TEST(SecurityOfASetUp, AMaskOfTheWeightsThatServesTwoModelsIsFound) {
  ExpectSetUpFindings({.masks_serve = 2}, "F, byte 7: differences");
}

TEST(SecurityOfASetUp, AConstantMaskOfOneServerIsFoundByTheOther) {
  for (const int server : {0, 1}) {
    const View view = RunSetUps({.fixed_mask_for_server = server}, 400)[1 - server];
    const std::string text = Text(Findings(view));
    EXPECT_NE(text.find("\n  F and the own part of B"), std::string::npos) << text;
    EXPECT_EQ(text.find("\n  F, byte"), std::string::npos) << "F alone does not show it" << text;
  }
}

TEST(SecurityOfASetUp, AConstantShareOfTheModelIsFound) {
  ExpectSetUpFindings({.constant_share = true}, "share of the model");
}

}  // namespace
}  // namespace sotto
