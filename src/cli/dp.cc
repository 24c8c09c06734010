// sotto dp account|calibrate|laplace|gaussian|rr|exponential|audit|kanon
#include "cli/dp.h"

#include <fmt/format.h>

#include "cli/verbs.h"
#include "dp/parameters.h"

namespace sotto::cli {

void WarnOfEpsilon(double eps) {
  const std::string warning = EpsilonWarning(eps);
  if (!warning.empty()) fmt::print(stderr, "warning: {}\n", warning);
}

void AddDp(CLI::App& app) {
  CLI::App* verb = AddVerb(
      app, "dp",
      "Differential privacy: what a mechanism costs and allows, noise on tables, audits.",
      "  sotto dp account --q 0.00427 --noise 1.1 --steps 14062 --delta 1e-5\n"
      "  sotto dp laplace speakers.csv --column age --lower 18 --upper 90 --id-column speaker \\\n"
      "      --max-contributions 1 --epsilon 1 --release mean");
  verb->require_subcommand(1);
  AddDpAccount(*verb);
  AddDpRelease(*verb);
  AddDpAudit(*verb);
  AddDpKanon(*verb);
}

}  // namespace sotto::cli
