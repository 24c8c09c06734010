// sotto train ivector CORPUS -o FILE
#include <fmt/format.h>

#include <memory>

#include "base/parallel.h"
#include "cli/verbs.h"
#include "report/verb_figures.h"
#include "speaker/ivector.h"

namespace sotto::cli {
namespace {

struct Flags {
  std::vector<std::string> corpora;
  std::string out;
  bool merge_speakers = false;
  IvectorOptions options;
  ForceFlag force;
  bool json = false;
};

void Run(Flags& flags) {
  flags.force.Check(flags.out);
  flags.options.total.seed = flags.options.gmm.seed;
  const UtteranceList list =
      ListUtterances({flags.corpora.begin(), flags.corpora.end()}, flags.merge_speakers);
  const TrainedIvector trained = TrainIvector(list, flags.options);
  WriteTensorFile(flags.out, trained.file, StoredAs::kFloat32, flags.force.OnExisting());
  fmt::print("{}", PrintedIvector(trained, flags.out, flags.json));
}

}  // namespace

void AddTrainIvector(CLI::App& app) {
  CLI::App* train = app.get_subcommand("train");
  CLI::App* verb = AddVerb(
      *train, "ivector",
      "Trains a GMM-UBM/i-vector encoder (Dehak et al. 2011) on the CPU, without libtorch.",
      "  sotto train ivector corpus/ -o ivector.safetensors\n"
      "  sotto train ivector libri/ cv/ -o ivector.safetensors --components 128 --dimension 100");
  auto flags = std::make_shared<Flags>();
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
  verb->callback([flags] { Run(*flags); });
}

}  // namespace sotto::cli
