// The epsilon of replacement: the published numbers, the exact probabilities of a small class, and
// attempts to break it. The mistakes that people make do not pass.
#include "text/replacement_epsilon.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <memory>

#include "base/error.h"
#include "dp/falsify_testing.h"

namespace sotto {
namespace {

using enum EntityType;
using testing::FalsifyDp;
using testing::NeighbourPair;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(ReplacementEpsilon, IsTheSourcesTableFour) {
  const double log_least = std::log(1.297e-4);
  EXPECT_EQ(ReplacementEpsilon(0.0, log_least), kInfinity);
  EXPECT_NEAR(ReplacementEpsilon(0.5, log_least), 8.950, 5e-4);  // published 8.95
  EXPECT_NEAR(ReplacementEpsilon(0.9, log_least), 6.754, 5e-4);  // published 6.75
  EXPECT_EQ(ReplacementEpsilon(1.0, log_least), 0.0);
}

TEST(ReplacementEpsilon, IsTheFormulaForAnyShare) {
  for (const double p : {0.001, 0.3, 0.9, 0.999}) {
    for (const double share : {1.0, 0.5, 1e-3, 1e-9}) {
      EXPECT_NEAR(ReplacementEpsilon(p, std::log(share)),
                  std::log((1.0 - p + p * share) / (p * share)), 1e-9);
    }
    // Shares below all doubles.
    EXPECT_NEAR(ReplacementEpsilon(p, -2000.0), 2000.0 + std::log((1.0 - p) / p), 1e-9);
    EXPECT_EQ(ReplacementEpsilon(p, -kInfinity), kInfinity);
  }
  for (const double p : {-0.1, 1.1, std::nan("")}) {
    EXPECT_THROW(ReplacementEpsilon(p, -1.0), Error);
  }
  EXPECT_THROW(ReplacementEpsilon(0.5, 0.1), Error);
}

// Four names of different lengths; the least share is 1/10, so that ε(0.9) = ln(19/9) = 0.747.
const std::array<std::string, 4> kNames = {"Al", "Bea", "Cora", "Dimitri"};

const Surrogates& Small() {
  static const Surrogates surrogates = ParseSurrogates(
      "sotto-surrogates\t1\nsource\tsmall\nmin_count\t1\nkind\tname\tgender\tcount\ttext\n"
      "word\tPER\tM\t4\tAl\nword\tPER\tF\t3\tBea\nword\tPER\tF\t2\tCora\nword\tPER\tM\t1\tDimitri"
      "\n",
      "small");
  return surrogates;
}

ReplacementOptions PersonsWith(const char* p) {
  ReplacementOptions options;
  options.types = {};
  options.types[0] = true;
  options.p = Chance::Parse(p, "p");
  return options;
}

// The number of a name; what is none of them is 9.
double Number(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (name == kNames[i]) return static_cast<double>(i);
  }
  return 9.0;
}

// Two inputs that nobody has as a surrogate, one of them as long as one that is.
const std::array<std::string, 6> kSaid = {"Al", "Bea", "Cora", "Dimitri", "Zoe", "Zebedee"};

std::vector<NeighbourPair> Pairs(double eps) {
  std::vector<NeighbourPair> pairs;
  for (const auto& [a, b] :
       std::vector<std::pair<double, double>>{{0, 3}, {3, 1}, {3, 4}, {0, 5}}) {
    pairs.push_back({{a}, {b}, eps});
  }
  return pairs;
}

constexpr double kPoint9 = 0.7472144;  // ln(19/9)

const testing::FalsifyOptions kOptions{.samples = 20000};

// The real thing with one key, in one dialogue after another.
testing::TestedMechanism Real(const ReplacementOptions& options) {
  const auto replacer =
      std::make_shared<Replacer>(Small(), options, Key::ForExperiment(ExperimentKey(1)));
  return [replacer](std::span<const double> x, BitSource& bits) {
    const std::string& said = kSaid[static_cast<std::size_t>(x[0])];
    const std::string text = "Is " + said + " here?";
    const std::string dialogue = std::to_string(bits.Next64());
    const auto replaced = replacer->Replace(text, {{3, 3 + said.size(), kPerson}}, {dialogue, 0});
    const Entity& entity = replaced.entities[0];
    return std::vector<double>{
        Number(replaced.text.substr(entity.begin, entity.end - entity.begin))};
  };
}

TEST(FalsifyReplacement, PassesTheRealMechanism) {
  EXPECT_NEAR(
      StateEpsilon(Replacer(Small(), PersonsWith("0.9"), Key::ForExperiment(ExperimentKey(1)))).eps,
      kPoint9, 1e-6);
  for (const bool consistent : {true, false}) {
    ReplacementOptions options = PersonsWith("0.9");
    options.consistent = consistent;
    const auto result = FalsifyDp(Real(options), Pairs(kPoint9), kOptions);
    EXPECT_FALSE(result.rejected) << result.event << " shows " << result.eps_lower;
    EXPECT_GT(result.eps_lower, 0.4);  // the harness is sharp enough to come near the claim
  }
}

TEST(FalsifyReplacement, RejectsLessThanWhatIsSpent) {
  EXPECT_TRUE(FalsifyDp(Real(PersonsWith("0.9")), Pairs(0.4), kOptions).rejected);
}

// Mechanisms that look alike. π and the coin as they should be, then one mistake.
std::size_t DrawName(BitSource& bits) {
  const auto at = bits.Below(10);
  return at < 4 ? 0 : at < 7 ? 1 : at < 9 ? 2 : 3;
}

TEST(FalsifyReplacement, RejectsDrawingAgainWhatEqualsTheOriginal) {
  EXPECT_TRUE(FalsifyDp(
                  [](std::span<const double> x, BitSource& bits) {
                    if (bits.Below(10) == 0 && x[0] < 4) return std::vector<double>{x[0]};
                    auto drawn = static_cast<double>(DrawName(bits));
                    while (drawn == x[0]) drawn = static_cast<double>(DrawName(bits));
                    return std::vector<double>{drawn};
                  },
                  Pairs(kPoint9), kOptions)
                  .rejected);
}

TEST(FalsifyReplacement, RejectsSurrogatesOfTheSameLength) {
  EXPECT_TRUE(FalsifyDp(
                  [](std::span<const double> x, BitSource& bits) {
                    const std::string& said = kSaid[static_cast<std::size_t>(x[0])];
                    std::size_t drawn = DrawName(bits);
                    while (kNames[drawn].size() != said.size()) drawn = DrawName(bits);
                    return std::vector<double>{static_cast<double>(drawn)};
                  },
                  std::vector<NeighbourPair>{{{0}, {3}, kPoint9}, {{0}, {5}, kPoint9}}, kOptions)
                  .rejected);
}

TEST(FalsifyReplacement, RejectsACoinThatFollowsFromTheWord) {
  EXPECT_TRUE(FalsifyDp(
                  [](std::span<const double> x, BitSource& bits) {
                    const std::string& said = kSaid[static_cast<std::size_t>(x[0])];
                    // One word in ten stays, always the same ones: here the last.
                    const bool replace = said != "Dimitri";
                    const auto drawn = static_cast<double>(DrawName(bits));
                    return std::vector<double>{replace ? drawn : x[0]};
                  },
                  Pairs(kPoint9), kOptions)
                  .rejected);
}

TEST(FalsifyReplacement, RejectsKeepingWhatIsNoSurrogate) {
  EXPECT_TRUE(FalsifyDp(
                  [](std::span<const double> x, BitSource& bits) {
                    const bool replace = bits.Below(10) < 9;
                    const auto drawn = static_cast<double>(DrawName(bits));
                    return std::vector<double>{replace ? drawn : x[0]};
                  },
                  Pairs(kPoint9), kOptions)
                  .rejected);
}

// Pr[output | said] by the definition of the mechanism: nothing is drawn.
std::map<std::string, double> Outputs(const std::string& said, double p) {
  std::map<std::string, double> outputs;
  const auto shares = Small().Shares(kPerson, {});
  const bool stays = shares.contains(said);
  for (const auto& [name, share] : shares) outputs[name] += (stays ? p : 1.0) * share;
  if (stays) outputs[said] += 1.0 - p;
  return outputs;
}

TEST(ReplacementEpsilon, IsTheLargestRatioOfAllOutputsOfAllInputs) {
  for (const char* p : {"0.1", "0.5", "0.9", "1"}) {
    const double value = Chance::Parse(p, "p").Value();
    double largest = 0.0;
    for (const auto& a : kSaid) {
      for (const auto& b : kSaid) {
        for (const auto& [name, probability] : Outputs(a, value)) {
          largest = std::max(largest, std::log(probability / Outputs(b, value).at(name)));
        }
      }
    }
    EXPECT_NEAR(largest, ReplacementEpsilon(value, std::log(0.1)), 1e-9) << p;
  }
}

TEST(ReplacementEpsilon, BelongsToTheMechanismThatRuns) {
  // The frequencies of outputs are those of the enumeration above.
  const auto mechanism = Real(PersonsWith("0.5"));
  testing::SeededBits bits(3);
  constexpr int kDraws = 8000;
  for (std::size_t said = 0; said < kSaid.size(); ++said) {
    std::map<double, int> drawn;
    const std::array<double, 1> input = {static_cast<double>(said)};
    for (int i = 0; i < kDraws; ++i) ++drawn[mechanism(input, bits)[0]];
    const auto expected = Outputs(kSaid[said], 0.5);
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      const double share = expected.at(kNames[i]);
      EXPECT_LT(std::abs(drawn[static_cast<double>(i)] - share * kDraws),
                5.0 * std::sqrt(kDraws * share * (1.0 - share)))
          << said << " " << i;
    }
    EXPECT_EQ(drawn[9.0], 0);
  }
}

TEST(EpsilonStatement, IsLargerWhereTheGenderIsKeptAndSaysSo) {
  ReplacementOptions options = PersonsWith("0.5");
  const Key key = Key::ForExperiment(ExperimentKey(1));
  const auto any = StateEpsilon(Replacer(Small(), options, key));
  EXPECT_NEAR(any.eps, std::log(11.0), 1e-9);
  options.keep_gender = true;
  const auto kept = StateEpsilon(Replacer(Small(), options, key));
  // The least share: 1/10 of those of any gender, 1/5 of the men's.
  EXPECT_NEAR(kept.eps, std::log(11.0), 1e-9);
  EXPECT_NE(EpsilonText(kept).find("gender of a first name"), std::string::npos);
  EXPECT_EQ(EpsilonText(any).find("gender of a first name"), std::string::npos);
}

TEST(EpsilonStatement, PrintsTheMissedShareBesideEveryEpsilon) {
  const Replacer replacer(Small(), PersonsWith("0.9"), Key::ForExperiment(ExperimentKey(1)));
  MissedShares missed;
  EXPECT_NE(EpsilonText(StateEpsilon(replacer, missed)).find("is not known"), std::string::npos);
  missed[0] = 0.031;
  const auto statement = StateEpsilon(replacer, missed);
  const std::string text = EpsilonText(statement);
  const auto honest = text.find("0.747"), share = text.find("3.1 % are missed and stay: ε ∞");
  const auto source = text.find("source's reading");
  EXPECT_LT(honest, share);
  EXPECT_LT(share, source);
  EXPECT_NE(source, std::string::npos);
  EXPECT_NEAR(*statement.source_eps, ReplacementEpsilon(0.9 * 0.969, std::log(0.1)), 1e-12);
  missed[0] = 1.5;
  EXPECT_THROW(StateEpsilon(replacer, missed), Error);
}

TEST(EpsilonStatement, OfPlaceholdersIsNothingOrAll) {
  ReplacementOptions options = PersonsWith("1");
  options.with = ReplaceWith::kPlaceholder;
  const Key key = Key::ForExperiment(ExperimentKey(1));
  EXPECT_EQ(StateEpsilon(Replacer(Small(), options, key)).eps, 0.0);
  options.p = Chance::Parse("0.999", "p");
  EXPECT_EQ(StateEpsilon(Replacer(Small(), options, key)).eps, kInfinity);
}

TEST(ReplacementAccount, CountsSharedDrawsOnce) {
  const std::string text = "Al, Al, Bea";
  const std::vector<Entity> entities = {{0, 2, kPerson}, {4, 6, kPerson}, {8, 11, kPerson}};
  ReplacementOptions options = PersonsWith("0.9");
  for (const bool consistent : {true, false}) {
    options.consistent = consistent;
    const Replacer replacer(Small(), options, Key::ForExperiment(ExperimentKey(1)));
    ReplacementAccount account;
    Budget budget;
    account.Add(replacer.Replace(text, entities, {"d", 0}), &budget);
    account.Add(replacer.Replace(text, entities, {"d", 1}), &budget);
    const double draws = consistent ? 2 : 6;
    EXPECT_EQ(account.Types()[0].entities, 6u);
    EXPECT_EQ(static_cast<double>(account.Types()[0].draws), draws);
    EXPECT_NEAR(account.Total(), draws * kPoint9, 1e-6);
    EXPECT_NEAR(budget.SequentialEpsilon(0.0), draws * kPoint9, 1e-6);
    // Another dialogue is another draw.
    account.Add(replacer.Replace(text, entities, {"e", 0}));
    EXPECT_NEAR(account.Total(), (consistent ? 4 : 9) * kPoint9, 1e-6);
  }
}

TEST(ReplacementAccount, ReleasesNothingBeyondItsBudget) {
  const Replacer replacer(Small(), PersonsWith("0.9"), Key::ForExperiment(ExperimentKey(1)));
  Budget budget = Budget::WithLimit(1.0, 0.0);
  ReplacementAccount account;
  account.Add(replacer.Replace("Al", {{0, 2, kPerson}}, {"d", 0}), &budget);
  EXPECT_THROW(account.Add(replacer.Replace("Bea", {{0, 3, kPerson}}, {"d", 1}), &budget), Error);
  EXPECT_EQ(account.Types()[0].draws, 1u);
  // p = 1 costs nothing, p = 0 more than any budget has.
  const Replacer always(Small(), PersonsWith("1"), Key::ForExperiment(ExperimentKey(1)));
  account.Add(always.Replace("Cora", {{0, 4, kPerson}}, {"e", 1}), &budget);
  const Replacer never(Small(), PersonsWith("0"), Key::ForExperiment(ExperimentKey(1)));
  EXPECT_THROW(account.Add(never.Replace("Cora", {{0, 4, kPerson}}, {"f", 1}), &budget), Error);
  account.Add(never.Replace("Cora", {{0, 4, kPerson}}, {"f", 1}));
  EXPECT_EQ(account.Total(), kInfinity);
}

}  // namespace
}  // namespace sotto
