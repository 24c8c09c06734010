// sotto VERB …: exit code 0 when all went well, 1 for bad input or a failed item, 2 for bad usage.
#include <exception>
#include <string>

#include "base/terminal.h"
#include "cli/verbs.h"
#include "nn/eigen_backend.h"

namespace sotto::cli {
namespace {

int Run(int argc, char** argv) {
  CLI::App app("Sotto protects voices, attacks its own protection and proves what is left.",
               "sotto");
  app.set_version_flag("--version", std::string("sotto ") + SOTTO_VERSION);
  app.require_subcommand(1);
  app.show_defaults();
  AddAnonymise(app);
  AddBuild(app);
  AddFit(app);
  AddCheck(app);
  AddStream(app);
  AddCompare(app);
  AddFeatures(app);
  AddAssess(app);
  AddDp(app);
  AddProtectEmbedding(app);
  AddAttack(app);
  AddEmbed(app);
  AddScore(app);
  AddVerify(app);
  AddTrain(app);
  AddTrainIvector(app);
  AddTrainCalibration(app);
  AddUtility(app);
  AddEvaluate(app);
  try {
    return app.parse(argc, argv);
  } catch (const ExitWith& exit) {
    return exit.code;
  } catch (const std::exception& error) {
    Complain("sotto", FailureText(error));
    return 1;
  }
}

}  // namespace
}  // namespace sotto::cli

int main(int argc, char** argv) {
  sotto::PrepareBlas(argv);
  sotto::EscapeStandardStreams();
  return sotto::FinishProgram("sotto", sotto::cli::Run(argc, argv));
}
