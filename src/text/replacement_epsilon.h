// What replacing entities at random protects (replacement.h): lemma 2.1 of the COMPRISE text
// transformer (D2.2, § 2.4, equation 2),
//
//   ε = max_t ln((1 − p + p·π(t)) / (p·π(t))),   reached at the least π(t); p = 0: ∞, p = 1: 0.
//
// It bounds what the text that stands for an entity tells of that entity to anybody, as against any
// other entity of its class (and of the same gender or form, where these are kept). It does not
// bound what the rest of the sentence tells, nor that an entity of this type stands there.
//
// Two readings. The honest one: ε holds for the entities that the finder finds; one that it misses
// stands as it was said, ε = ∞, so the share that is missed on held-out text is part of every
// statement. The source's: the finder's recall is folded into p, as if an entity were missed by a
// coin that falls anew whatever the entity is; finders miss the same rare names every time.
//
// k draws for one person cost k·ε; mentions that share a draw cost ε once. Neighbours are then
// dialogues in which all mentions of one entity are another entity that the dialogue does not hold:
// which mentions are of one entity is told.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dp/budget.h"
#include "text/replacement.h"

namespace sotto {

// Lemma 2.1 for one class; may be infinite. Throws Error unless p in [0, 1] and ln π ≤ 0.
double ReplacementEpsilon(double p, double log_least_share);

// The share of entities of each type that the finder misses on text it was not trained on, where
// this is known: of the finder's model, or given.
using MissedShares = std::array<std::optional<double>, kEntityTypes>;

struct ClassEpsilon {
  EntityType type = EntityType::kPerson;
  double p = 1.0;
  double log_least_share = 0.0;  // −∞ where it has no bound: forms of any length
  double eps = 0.0;              // of an entity that is found
  std::optional<double> missed;
  std::optional<double> source_eps;  // with p·(1 − missed) for p
};

struct EpsilonStatement {
  std::vector<ClassEpsilon> classes;  // of the types that are replaced
  double eps = 0.0;                   // the largest
  std::optional<double> source_eps;   // where every class has one
  std::vector<std::string> told;      // what ε does not cover, in words, from the options
};

EpsilonStatement StateEpsilon(const Replacer& replacer, const MissedShares& missed = {});
// Lines of text; the share that is missed stands beside every ε.
std::string EpsilonText(const EpsilonStatement& statement);

// Draws of texts as they are released: what they come to if all were of one person.
class ReplacementAccount {
 public:
  // Of a text that is to be released. With a budget, its new draws are spent first: the Error of a
  // budget that they exceed, or of a draw without a finite ε, leaves the account as it was.
  void Add(const ReplacedText& text, Budget* budget = nullptr);

  struct OfType {
    std::uint64_t entities = 0, draws = 0;
    double largest_eps = 0.0;
  };
  const std::array<OfType, kEntityTypes>& Types() const { return types_; }
  // Σ of the draws' ε; one person's, where that person has all of them.
  double Total() const { return total_; }

 private:
  std::array<OfType, kEntityTypes> types_;
  std::set<std::uint64_t> seen_;  // grows with the number of different draws
  double total_ = 0.0;
};

}  // namespace sotto
