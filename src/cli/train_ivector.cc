// sotto train ivector CORPUS -o FILE
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/parallel.h"
#include "cli/verbs.h"
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
  if (flags.json) {
    const nlohmann::ordered_json json = {{"file", flags.out},
                                         {"utterances", trained.utterances},
                                         {"left_out", trained.left_out},
                                         {"speakers", trained.speakers},
                                         {"frames", trained.frames},
                                         {"seconds_features", trained.seconds_features},
                                         {"seconds_gmm", trained.seconds_gmm},
                                         {"seconds_total", trained.seconds_total}};
    fmt::print("{}\n", DumpJson(json, 2));
    return;
  }
  fmt::print(
      "{}: {} utterances of {} speakers ({} left out: too little speech), {:.1f} min of "
      "speech\n",
      flags.out, trained.utterances, trained.speakers, trained.left_out,
      static_cast<double>(trained.frames) / 6000.0);
  fmt::print("features {:.1f} s, mixture {:.1f} s, total variability {:.1f} s\n",
             trained.seconds_features, trained.seconds_gmm, trained.seconds_total);
}

}  // namespace

void AddTrainIvector(CLI::App& app) {
  CLI::App* train = app.get_subcommand("train");
  CLI::App* verb = AddVerb(
      *train, "ivector",
      "A GMM-UBM/i-vector encoder (Dehak et al. 2011), on the CPU and without libtorch.",
      "  sotto train ivector corpus/ -o ivector.safetensors\n"
      "  sotto train ivector libri/ cv/ -o ivector.safetensors --components 128 --dimension 100");
  auto flags = std::make_shared<Flags>();
  flags->options.jobs = DefaultJobs();
  IvectorOptions& options = flags->options;
  verb->add_option("CORPUS", flags->corpora, "Folders, Kaldi data dirs or manifests")->required();
  verb->add_option("-o,--out", flags->out, "The encoder (safetensors)")
      ->required()
      ->type_name("FILE");
  flags->force.Add(*verb);
  verb->add_flag("--merge-speakers", flags->merge_speakers,
                 "A speaker in two corpora is one person");
  verb->add_option("--components", options.gmm.components, "Gaussians of the mixture")
      ->check(CLI::Range(2, 4096));
  verb->add_option("--dimension", options.total.dimension, "Of the total variability space")
      ->check(CLI::Range(2, 1000));
  verb->add_option("--lda", options.lda_dimension, "Dimensions of the embedding")
      ->check(CLI::Range(1, 1000));
  verb->add_option("--iterations", options.total.iterations, "Of EM for total variability")
      ->check(CLI::PositiveNumber);
  verb->add_option("--utterances", options.max_utterances, "At most, in turn from all speakers")
      ->check(CLI::Range(4, 1000000));
  verb->add_option("--seconds", options.max_seconds, "Of each utterance, at most")
      ->check(CLI::Range(1.0, 3600.0));
  verb->add_option("--seed", options.gmm.seed, "Of the start: training repeats exactly");
  verb->add_option("--jobs", options.jobs, "Threads")->check(CLI::PositiveNumber);
  verb->add_flag("--json", flags->json, "Print counts and times as JSON");
  verb->callback([flags] { Run(*flags); });
}

}  // namespace sotto::cli
