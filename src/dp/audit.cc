#include "dp/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "dp/normal.h"

namespace sotto {
namespace {

void CheckAuditDelta(double delta) {
  if (!(delta >= 0.0 && delta < 1.0)) {
    throw Error(fmt::format("delta {}: must lie from 0 to below 1", delta));
  }
}

void CheckError(double error) {
  if (!(error > 0.0 && error < 1.0)) {
    throw Error(fmt::format("error probability {}: must lie between 0 and 1", error));
  }
}

}  // namespace

void OneRunAudit::Validate() const {
  CheckAuditDelta(delta);
  if (guesses == 0 || guesses > examples || correct > guesses) {
    throw Error(
        fmt::format("audit of {} examples, {} guesses, {} correct: needs correct ≤ guesses "
                    "≤ examples and at least one guess",
                    examples, guesses, correct));
  }
}

double OneRunPValue(const OneRunAudit& audit, double eps) {
  audit.Validate();
  const double q = 1.0 / (1.0 + std::exp(-eps));
  double p_value = BinomialUpperTail(audit.correct, audit.guesses, q);
  // delta adds 2·m·δ·max_i Pr(v − i ≤ Bin < v)/i.
  double worst = 0.0;
  double sum = 0.0;
  for (std::uint64_t i = 1; i <= audit.correct; ++i) {
    sum += std::exp(LogBinomialPmf(audit.correct - i, audit.guesses, q));
    worst = std::max(worst, sum / static_cast<double>(i));
  }
  p_value += worst * audit.delta * 2.0 * static_cast<double>(audit.examples);
  return std::min(p_value, 1.0);
}

double OneRunEpsilon(const OneRunAudit& audit, double error) {
  CheckError(error);
  if (OneRunPValue(audit, 0.0) >= error) return 0.0;
  const auto stands = [&](double eps) { return !(OneRunPValue(audit, eps) < error); };
  double high = 1.0;
  while (!stands(high) && high < 700.0) high *= 2.0;
  return Bisect(0.0, high, 60, stands).low;
}

void ManyRunAudit::Validate() const {
  CheckAuditDelta(delta);
  if (runs_in == 0 || runs_out == 0 || hits > runs_in || false_alarms > runs_out) {
    throw Error(
        fmt::format("audit of {} runs with ({} hits) and {} without ({} false alarms): "
                    "needs at least one run of each, and no more hits than runs",
                    runs_in, hits, runs_out, false_alarms));
  }
}

double ManyRunEpsilon(const ManyRunAudit& audit, double error) {
  audit.Validate();
  CheckError(error);
  const double miss = ClopperPearsonHigh(audit.runs_in - audit.hits, audit.runs_in, 0.5 * error);
  const double alarm = ClopperPearsonHigh(audit.false_alarms, audit.runs_out, 0.5 * error);
  double eps = 0.0;
  if (1.0 - audit.delta - miss > 0.0) eps = std::log((1.0 - audit.delta - miss) / alarm);
  if (1.0 - audit.delta - alarm > 0.0) {
    eps = std::max(eps, std::log((1.0 - audit.delta - alarm) / miss));
  }
  return std::max(0.0, eps);
}

}  // namespace sotto
