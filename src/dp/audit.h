// Audits: lower bounds on epsilon from what an attack really reached. They can refute a claim,
// never prove one.
#pragma once

#include <cstdint>
#include <optional>

namespace sotto {

// One run (Steinke, Nasr & Jagielski 2023, theorem 5.2): m examples were each included with
// probability one half; the attack made `guesses` (abstaining on the others), `correct` of them
// right.
struct OneRunAudit {
  std::uint64_t examples = 0;
  std::uint64_t guesses = 0;
  std::uint64_t correct = 0;
  double delta = 0.0;
  void Validate() const;
};

// The probability of doing that well or better if the mechanism were (eps, delta)-DP, at most.
double OneRunPValue(const OneRunAudit& audit, double eps);

// The largest eps refuted at this error probability; 0 where none is.
double OneRunEpsilon(const OneRunAudit& audit, double error);

// Many runs: a test decided with and without one record. Clopper–Pearson bounds on both error rates
// (each at half the error probability), then the (eps, delta) trade-off.
struct ManyRunAudit {
  std::uint64_t runs_in = 0;   // with the record
  std::uint64_t hits = 0;      // of them, how often the test said "in"
  std::uint64_t runs_out = 0;  // without it
  std::uint64_t false_alarms = 0;
  double delta = 0.0;
  void Validate() const;
};
double ManyRunEpsilon(const ManyRunAudit& audit, double error);

// What an audit says of a claim.
struct AuditFinding {
  bool one_run = false;  // else many
  double eps_lower = 0.0;
  double delta = 0.0;
  double error = 0.05;            // the probability that the bound is wrong
  std::optional<double> claimed;  // where somebody claims an epsilon

  bool Refuted() const { return claimed && eps_lower > *claimed; }
};

}  // namespace sotto
