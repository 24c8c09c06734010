// sotto assess FORM …: privacy, verification, spoofing and fairness figures from score files.
#include "cli/assess.h"

#include "cli/verbs.h"

namespace sotto::cli {

void AddAssess(CLI::App& app) {
  CLI::App* assess =
      AddVerb(app, "assess", "Computes figures from scores, each with unit and direction.",
              "  sotto assess verify trials.tsv\n"
              "  sotto assess verify --scores plda.txt --key trials --json");
  assess->require_subcommand(1);
  AddAssessVerify(*assess);
  AddAssessSimilarity(*assess);
  AddAssessTandem(*assess);
  AddAssessFairness(*assess);
  AddAssessLegal(*assess);
  AddAssessWer(*assess);
}

}  // namespace sotto::cli
