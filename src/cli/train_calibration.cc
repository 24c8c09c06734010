// sotto train calibration CORPUS --encoder FILE -o FILE
#include <fmt/format.h>

#include <memory>

#include "attack/calibrate_cosine.h"
#include "base/parallel.h"
#include "cli/verbs.h"
#include "report/verb_figures.h"

namespace sotto::cli {
namespace {

struct Flags {
  std::string corpus, encoder, centre, out;
  std::vector<std::string> average;
  std::string stored = "float32";
  int jobs = DefaultJobs();
  ForceFlag force;
  bool json = false;
};

void Run(const Flags& flags) {
  flags.force.Check(flags.out);
  const StoredAs stored = flags.stored == "int8"      ? StoredAs::kInt8
                          : flags.stored == "float16" ? StoredAs::kFloat16
                                                      : StoredAs::kFloat32;
  const CalibratedEncoder calibrated =
      CalibrateEncoder({flags.corpus,
                        flags.encoder,
                        {flags.average.begin(), flags.average.end()},
                        flags.centre,
                        stored,
                        flags.jobs});
  WriteTensorFile(flags.out, calibrated.file, stored, flags.force.OnExisting());
  fmt::print("{}", PrintedCalibration(calibrated, flags.out, flags.json));
}

}  // namespace

void AddTrainCalibration(CLI::App& app) {
  CLI::App* verb = AddVerb(
      *app.get_subcommand("train"), "calibration",
      "Calibrates an encoder, so that its cosines become likelihood ratios. Scale and offset are "
      "fitted on speakers it was not trained on and written into a copy of its file, which sotto "
      "verify uses.",
      "  sotto train calibration held-out/ --encoder ivector.safetensors -o "
      "calibrated.safetensors\n"
      "  sotto train calibration held-out/ --encoder net.safetensors -o out.safetensors --stored "
      "float16");
  auto flags = std::make_shared<Flags>();
  verb->add_option("CORPUS", flags->corpus, "Speech of other speakers")->required();
  verb->add_option("--encoder", flags->encoder, "The encoder to calibrate", "FILE")->required();
  verb->add_option(
      "--average", flags->average,
      "First average its weights with those of these encoders, trained further from the same "
      "net",
      "FILE");
  verb->add_option("--centre", flags->centre,
                   "Then subtract the mean embedding of this corpus (it becomes part of the net)",
                   "CORPUS");
  verb->add_option("-o,--out", flags->out, "The copy to write, with the calibration", "FILE")
      ->required();
  flags->force.Add(*verb);
  verb->add_option("--stored", flags->stored, "Number format of the copy's weights")
      ->check(CLI::IsMember({"float32", "float16", "int8"}));
  verb->add_option("--jobs", flags->jobs, "Recordings at a time")->check(CLI::PositiveNumber);
  verb->add_flag("--json", flags->json, "Print scale and offset as JSON");
  verb->callback([flags] { Run(*flags); });
}

}  // namespace sotto::cli
