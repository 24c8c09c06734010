// sotto VERB …: exit code 0 when all went well, 1 for bad input or a failed item, 2 for bad usage.
#include <exception>
#include <string>

#include "base/progress.h"
#include "base/progress_bar.h"
#include "base/terminal.h"
#include "cli/study.h"
#include "cli/verbs.h"
#include "nn/eigen_backend.h"

namespace sotto::cli {
namespace {

int Run(int argc, char** argv) {
  const RunWatch bar = ProgressBar();
  const WatchScope watched(&bar);
  CLI::App app("Sotto protects voices, attacks its own protection and proves what is left.",
               "sotto");
  app.set_version_flag("--version", std::string("sotto ") + SOTTO_VERSION);
  app.require_subcommand(1);
  app.show_defaults();
  app.heading("Protect a voice");
  AddAnonymise(app);
  AddStream(app);
  AddProtectEmbedding(app);
  AddBuild(app);
  AddFit(app);
  app.heading("Protect a text");
  AddRedact(app);
  app.heading("Attack and measure");
  AddAttack(app);
  AddUtility(app);
  AddEvaluate(app);
  AddAssess(app);
  AddStudy(app);
  app.heading("Look at recordings");
  AddCheck(app);
  AddCompare(app);
  AddFeatures(app);
  app.heading("Tell speakers apart");
  AddEmbed(app);
  AddScore(app);
  AddVerify(app);
  app.heading("Tell genuine voices from synthetic ones");
  AddSpoof(app);
  AddPrivasp(app);
  app.heading("Differential privacy");
  AddDp(app);
  app.heading("Training");
  AddTrain(app);
  AddTrainIvector(app);
  AddTrainCalibration(app);
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
