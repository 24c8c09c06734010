// sotto-train: the programs that need libtorch. `sotto train …` decodes corpora into packs and
// starts it; on a machine without audio libraries it runs on packs made elsewhere.
#include <malloc.h>
#include <torch/version.h>

#include <CLI/CLI.hpp>
#include <exception>

#include "base/terminal.h"
#include "learn/training_flags.h"
#include "nn/eigen_backend.h"

namespace sotto {
namespace {

// Every layer asks for tensors of many megabytes and frees them again; by default the C library
// maps each of them anew, and the system clears its pages: a third of a CPU's time in training
// an encoder. One heap that is never given back keeps them.
void KeepMemory() {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
  mallopt(M_TOP_PAD, 1 << 28);
  mallopt(M_ARENA_MAX, 1);
}

}  // namespace
}  // namespace sotto

namespace {

int Run(int argc, char** argv) {
  CLI::App app("Trains Sotto's nets with libtorch " TORCH_VERSION ".", "sotto-train");
  app.require_subcommand(1);
  app.option_defaults()->always_capture_default();
  sotto::AddEncoderVerb(app);
  sotto::AddContentVerb(app);
  sotto::AddSynthVerb(app);
  sotto::AddAdainVerb(app);
  sotto::AddTaggerVerb(app);
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    sotto::Complain("sotto-train", sotto::FailureText(error));
    return 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  sotto::PrepareBlas(argv, 0);
  sotto::KeepMemory();
  sotto::EscapeStandardStreams();
  return sotto::FinishProgram("sotto-train", Run(argc, argv));
}
