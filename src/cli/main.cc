// sotto VERB …: exit code 0 when all went well, 1 for bad input or a failed item, 2 for bad usage.
#include <exception>

#include "base/terminal.h"
#include "cli/verbs.h"
#include "nn/eigen_backend.h"

namespace {

int Run(int argc, char** argv) {
  CLI::App app("Sotto protects voices, attacks its own protection and proves what is left.",
               "sotto");
  app.set_version_flag("--version", std::string("sotto ") + SOTTO_VERSION);
  app.require_subcommand(1);
  app.option_defaults()->always_capture_default();
  sotto::cli::AddAnonymise(app);
  sotto::cli::AddBuild(app);
  sotto::cli::AddFit(app);
  sotto::cli::AddCheck(app);
  sotto::cli::AddStream(app);
  sotto::cli::AddCompare(app);
  sotto::cli::AddFeatures(app);
  sotto::cli::AddAssess(app);
  sotto::cli::AddDp(app);
  sotto::cli::AddProtectEmbedding(app);
  sotto::cli::AddAttack(app);
  sotto::cli::AddEmbed(app);
  sotto::cli::AddScore(app);
  sotto::cli::AddVerify(app);
  sotto::cli::AddTrain(app);
  sotto::cli::AddTrainIvector(app);
  sotto::cli::AddTrainCalibration(app);
  sotto::cli::AddUtility(app);
  sotto::cli::AddEvaluate(app);
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const sotto::cli::ExitWith& exit) {
    return exit.code;
  } catch (const std::exception& error) {
    sotto::Complain("sotto", sotto::FailureText(error));
    return 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  sotto::PrepareBlas(argv);
  sotto::EscapeStandardStreams();
  return sotto::FinishProgram("sotto", Run(argc, argv));
}
