// Lesson 4: a sentence says who speaks even when the voice does not. Entities are found, replaced
// by others of their type, and an epsilon bounds what the replacement tells of what was said.
//
//   04_words_with_an_epsilon
//
// With probability p an entity becomes a surrogate t drawn with probability π(t), which may be the
// entity itself; else it stays. For any two entities a, b and any text t that stands there,
// Pr(t | a) ≤ e^ε · Pr(t | b), with ε = max ln((1 − p + p·π(t)) / (p·π(t))).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "text/entity_finder.h"
#include "text/replacement.h"
#include "text/replacement_epsilon.h"

namespace sotto::examples {
namespace {

constexpr std::array<const char*, 5> kChances = {"0", "0.5", "0.9", "0.99", "1"};

// A class of its own, small enough to look at all of it.
Surrogates FourNames() {
  return ParseSurrogates(
      "sotto-surrogates\t1\nsource\tlesson 4\nmin_count\t1\nkind\tname\tgender\tcount\ttext\n"
      "word\tPER\t-\t4\tAlice\nword\tPER\t-\t3\tBob\nword\tPER\t-\t2\tCarol\nword\tPER\t-"
      "\t1\tDmitri\n",
      "lesson 4");
}

void ReplaceSentences() {
  const std::vector<std::string> dialogue = {
      "my name is emma and i live in london", "can i see doctor khan on monday at half past ten",
      "yes emma please call me back on double seven four one nine six three two"};
  const auto finder = MakeEntityFinder();
  const Key key = Key::FromSystem();  // another one, and other names, each time
  ReplacementOptions placeholder, surrogate;
  placeholder.with = ReplaceWith::kPlaceholder;
  surrogate.keep_format = true;
  fmt::print("1. Found and replaced\n\n");
  for (std::size_t i = 0; i < dialogue.size(); ++i) {
    const auto entities = finder->Find(dialogue[i]);
    fmt::print("   {}\n", dialogue[i]);
    for (const auto& options : {placeholder, surrogate}) {
      const Replacer replacer(ProgramSurrogates(), options, key);
      fmt::print("   → {}\n", replacer.Replace(dialogue[i], entities, {"call 1", i}).text);
    }
  }
  fmt::print(
      "\n   A name that comes again is the same surrogate again: one draw, shared in the "
      "dialogue.\n"
      "   What the finder misses stays as it was said, whatever ε is.\n\n");
}

void PrintEpsilons() {
  fmt::print("2. ε of the program's own surrogates\n\n   p     ");
  for (std::size_t i = 0; i < kTaggedTypes; ++i) fmt::print("{:>9}", kEntityNames[i]);
  fmt::print("\n");
  for (const char* p : kChances) {
    ReplacementOptions options;
    options.p = Chance::Parse(p, "p");
    const Replacer replacer(ProgramSurrogates(), options,
                            Key::ForExperiment(ExperimentKey(4)));  // nothing is drawn here
    fmt::print("   {:5} ", p);
    const auto statement = StateEpsilon(replacer);
    for (std::size_t i = 0; i < kTaggedTypes; ++i) {
      const double eps = statement.classes[i].eps;
      fmt::print("{:>9}", std::isinf(eps) ? "∞" : fmt::format("{:.2f}", eps));
    }
    fmt::print("\n");
  }
  fmt::print(
      "\n   The rarest surrogate sets ε: if it stands there, it probably stayed. At p = 1 nothing\n"
      "   ever stays, and the text that stands there tells nothing at all.\n\n");
}

// Pr(what stands there | what was said), enumerated. What is no surrogate is always replaced.
using Outputs = std::map<std::string, double>;

Outputs Mechanism(const Outputs& shares, const std::string& said, double p) {
  const bool may_stay = shares.contains(said);
  Outputs outputs;
  for (const auto& [name, share] : shares) outputs[name] = (may_stay ? p : 1.0) * share;
  if (may_stay) outputs[said] += 1.0 - p;
  return outputs;
}

// A mistake: the surrogate is drawn again until it differs from what was said.
Outputs DrawnAgain(const Outputs& shares, const std::string& said, double p) {
  Outputs outputs;
  for (const auto& [name, share] : shares) {
    outputs[name] = name == said ? 1.0 - p : p * share / (1.0 - shares.at(said));
  }
  return outputs;
}

// The largest ln Pr(t | a)/Pr(t | b).
template <typename Mechanism>
double LargestRatio(const Outputs& shares, const Mechanism& mechanism, double p) {
  double largest = 0.0;
  for (const auto& [a, of_a] : shares) {
    for (const auto& [b, of_b] : shares) {
      const Outputs from_a = mechanism(shares, a, p), from_b = mechanism(shares, b, p);
      for (const auto& [name, probability] : from_a) {
        if (probability > 0.0) {
          largest = std::max(largest, std::log(probability / from_b.at(name)));
        }
      }
    }
  }
  return largest;
}

int Enumerate() {
  const Surrogates four = FourNames();
  const Outputs shares = four.Shares(EntityType::kPerson, {});
  const double log_least = four.LogLeastShare(EntityType::kPerson, {});
  fmt::print("3. All that an observer can see, of four names and p = 0.9\n\n   said \\ seen ");
  for (const auto& [name, share] : shares) fmt::print("{:>8}", name);
  fmt::print("\n");
  for (const std::string said : {"Alice", "Bob", "Carol", "Dmitri", "Xenia"}) {
    fmt::print("   {:12}", said);
    for (const auto& [name, probability] : Mechanism(shares, said, 0.9)) {
      fmt::print("{:8.3f}", probability);
    }
    fmt::print("{}\n", shares.contains(said) ? "" : "   no surrogate: always replaced");
  }
  fmt::print(
      "\n   Before: each of the four is as likely to have been said. Seen \"Dmitri\":\n"
      "   p        ε   largest ln ratio   Dmitri was said with   bound e^ε/(e^ε + 3)   redrawn\n");
  int wrong = 0;
  for (const char* chance : kChances) {
    const double p = Chance::Parse(chance, "p").Value();
    if (p == 0.0) continue;  // ε is ∞: what was said stands there
    const double eps = ReplacementEpsilon(p, log_least);
    const double largest = LargestRatio(shares, Mechanism, p);
    double all = 0.0;
    for (const auto& [said, share] : shares) all += Mechanism(shares, said, p).at("Dmitri");
    const double belief = Mechanism(shares, "Dmitri", p).at("Dmitri") / all;
    const double bound = std::exp(eps) / (std::exp(eps) + 3.0);
    const double mistaken = LargestRatio(shares, DrawnAgain, p);
    fmt::print("   {:5} {:5.2f} {:12.2f} {:22.1f} % {:19.1f} % {:>11}\n", chance, eps, largest,
               100.0 * belief, 100.0 * bound,
               std::isinf(mistaken) ? "∞" : fmt::format("{:.2f}", mistaken));
    if (std::abs(largest - eps) > 1e-9 || belief > bound + 1e-9) ++wrong;
    if (p >= 0.9 && mistaken <= eps) ++wrong;
  }
  fmt::print(
      "\n   The enumeration is the formula: no output tells more. \"redrawn\" is the ratio of a\n"
      "   mechanism that looks kinder, since it never draws what was said: the higher p is, the\n"
      "   surer it is that what stands there was not said, and at p = 1 it is certain (∞).\n\n");
  return wrong;
}

// The same name said k times, with a draw of its own each time.
void SayItAgain() {
  const Outputs shares = FourNames().Shares(EntityType::kPerson, {});
  constexpr double kP = 0.9;
  fmt::print("4. Dmitri, said k times and seen each time, at p = {}\n\n", kP);
  for (const int k : {1, 2, 3, 5}) {
    double all = 0.0;
    for (const auto& [said, share] : shares) {
      all += std::pow(Mechanism(shares, said, kP).at("Dmitri"), k);
    }
    fmt::print("   k = {}: Dmitri was said with {:.1f} %\n", k,
               100.0 * std::pow(Mechanism(shares, "Dmitri", kP).at("Dmitri"), k) / all);
  }
  fmt::print("\n   Draws add up, k·ε; one draw for the dialogue costs ε once.\n");
}

int Run() {
  ReplaceSentences();
  PrintEpsilons();
  const int wrong = Enumerate();
  SayItAgain();
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace sotto::examples

int main() {
  try {
    return sotto::examples::Run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
