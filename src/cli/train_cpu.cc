// sotto train ivector CORPUS -o FILE, sotto train calibration CORPUS --encoder FILE -o FILE
#include <fmt/format.h>

#include "attack/calibrate_cosine.h"
#include "base/parallel.h"
#include "cli/verbs.h"
#include "report/verb_figures.h"
#include "speaker/ivector.h"

namespace sotto::cli {
namespace {

struct IvectorFlags {
  std::vector<std::string> corpora;
  std::string out;
  bool merge_speakers = false;
  IvectorOptions options;
  ForceFlag force;
  bool json = false;
};

void RunIvector(IvectorFlags& flags) {
  flags.force.Check(flags.out);
  flags.options.total.seed = flags.options.gmm.seed;
  const UtteranceList list =
      ListUtterances({flags.corpora.begin(), flags.corpora.end()}, flags.merge_speakers);
  const TrainedIvector trained = TrainIvector(list, flags.options);
  WriteTensorFile(flags.out, trained.file, StoredAs::kFloat32, flags.force.OnExisting());
  fmt::print("{}", PrintedIvector(trained, flags.out, flags.json));
}

struct CalibrationFlags {
  std::string corpus, encoder, centre, out;
  std::vector<std::string> average;
  std::string stored = "float32";
  int jobs = DefaultJobs();
  ForceFlag force;
  bool json = false;
};

void RunCalibration(const CalibrationFlags& flags) {
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

void AddTrainIvector(CLI::App& app) {
  CLI::App* train = app.get_subcommand("train");
  CLI::App* verb = AddVerb(
      *train, "ivector",
      "Trains a GMM-UBM/i-vector encoder (Dehak et al. 2011) on the CPU, without libtorch.",
      "  sotto train ivector corpus/ -o ivector.safetensors\n"
      "  sotto train ivector libri/ cv/ -o ivector.safetensors --components 128 --dimension 100");
  auto flags = verb->runs(RunIvector);
  flags->options.jobs = DefaultJobs();
  IvectorOptions& options = flags->options;
  verb->add_option("CORPUS", flags->corpora, "Folders, Kaldi data dirs or manifests")->required();
  verb->heading("Output");
  verb->add_option("-o,--out", flags->out, "The encoder to write (safetensors)", "FILE")
      ->required();
  flags->force.Add(*verb);
  verb->add_flag("--json", flags->json, "Print counts and times as JSON");
  verb->heading("Corpora");
  verb->add_flag("--merge-speakers", flags->merge_speakers,
                 "Take speakers of the same name in several corpora for one person");
  verb->add_option("--utterances", options.max_utterances,
                   "Utterances to train on, at most; speakers take turns")
      ->check(CLI::Range(4, 1000000));
  verb->add_option("--seconds", options.max_seconds, "Seconds of each utterance, at most")
      ->check(CLI::Range(1.0, 3600.0));
  verb->heading("Encoder");
  verb->add_option("--components", options.gmm.components, "Number of Gaussians of the mixture")
      ->check(CLI::Range(2, 4096));
  verb->add_option("--dimension", options.total.dimension,
                   "Dimensions of the total variability space")
      ->check(CLI::Range(2, 1000));
  verb->add_option("--lda", options.lda_dimension, "Dimensions of the embedding")
      ->check(CLI::Range(1, 1000));
  verb->add_option("--iterations", options.total.iterations,
                   "Iterations of EM for total variability")
      ->check(CLI::PositiveNumber);
  verb->add_option("--seed", options.gmm.seed,
                   "Seed of the initial mixture; training repeats exactly");
  verb->heading("Run");
  verb->add_option("--jobs", options.jobs, "Threads")->check(CLI::PositiveNumber);
}

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
  auto flags = verb->runs(RunCalibration);
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
}

}  // namespace sotto::cli
