// What one party sees tells it nothing but what it may know: every word of its view, less what its
// own material predicts, looks uniform, occurs once, and has the same distribution for two inputs
// that could not differ more. The same tests find planted bugs.
//
// A statistical test proves no security (the argument is in docs/mpc.md): it finds mistakes that
// make a transcript depend on a secret. Its thresholds let an honest run fail once in some 10^9.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "mpc/planted_testing.h"

namespace sotto {
namespace {

using testing::Deployment;
using testing::PlantedBugs;
using testing::PlantedDeployment;
using testing::QueryTranscript;

// A view in pieces of one meaning: for each query its words, in the same order each time.
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

// Queries come in turn: x of the first kind, x of the second, and so on. Returns what is wrong.
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
        findings.push_back(at + ": depends on the input");
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

// What server p has of one query: its material, the client's message, and its peer's.
void AddServerView(View& view, const QueryTranscript& t, std::size_t p, std::size_t inputs) {
  const MaterialMessage& material = t.material[0][p];
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
    Add(view, name + ", the peer's message", exchange[1 - p].values);
    Add(view, name + ", opened", Open(exchange[p].values, exchange[1 - p].values));
  }
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

// A small net and two inputs as far apart as they can be. Second weights are multiples of 2^12: a
// share of the score that is not re-randomised shows the low bits of the bias.
Views RunQueries(Scenario scenario, bool decision_only, const PlantedBugs& bugs, int queries) {
  IntegerNet net = testing::RandomNet(12, 8, 21);
  net.decision_only = decision_only;
  for (std::int32_t& w : net.w2) w &= ~0xFFF;
  // Without a bug: the parties themselves, with nothing between.
  const std::unique_ptr<Deployment> parties =
      bugs == PlantedBugs{} ? std::make_unique<Deployment>(net, scenario)
                            : std::make_unique<PlantedDeployment>(net, scenario, bugs);
  const std::vector<std::int32_t> inputs[2] = {std::vector<std::int32_t>(12, 0),
                                               testing::ExtremeInput(net, 3, 1)};
  Views views;
  for (int q = 0; q < queries; ++q) {
    const auto& x = inputs[q % 2];
    const QueryTranscript t = parties->Run(x);
    EXPECT_EQ(t.answers[0], testing::PlainAnswer(net, x)) << "bugs here change no answer";
    for (std::size_t p = 0; p < 2; ++p) AddServerView(views.server[p], t, p, net.inputs);
    AddClientView(views.client, t);
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
  const Views views = RunQueries(Scenario::kPublicModel, false, {.no_zero_share = true}, kQueries);
  const std::string text = Text(Findings(views.client));
  EXPECT_NE(text.find("the first server's result"), std::string::npos) << text;
}

}  // namespace
}  // namespace sotto
