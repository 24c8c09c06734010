#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "learn/sequence_tagger.h"
#include "learn/training_flags.h"

namespace sotto {
namespace {

struct TaggerFlags {
  std::string training, development, out;
  std::vector<std::string> to_tag;
  bool force = false;
  int threads = 1;
  SequenceTaggerTraining options;
};

void RunTagger(const TaggerFlags& flags) {
  const IfExists existing = flags.force ? IfExists::kReplace : IfExists::kRefuse;
  RefuseExisting(flags.out, existing);
  torch::set_num_threads(flags.threads);
  const auto training = ReadTaggedSentences(flags.training);
  const auto development = ReadTaggedSentences(flags.development);
  std::vector<std::vector<TaggedSentence>> to_tag;
  for (const std::string& path : flags.to_tag) to_tag.push_back(ReadTaggedSentences(path));
  const TrainedSequenceTagger trained =
      TrainSequenceTagger(training, development, to_tag, flags.options);
  nlohmann::ordered_json options;
  Record(SequenceTaggerTraining::Table(), flags.options, options);
  options["learning_rate"] = flags.options.run.learning_rate;
  options["seed"] = flags.options.run.seed;
  const nlohmann::ordered_json json = {{"training_sentences", training.size()},
                                       {"development_sentences", development.size()},
                                       {"parameters", trained.parameters},
                                       {"options", options},
                                       {"best_step", trained.best_step},
                                       {"curve", CurveRecord(trained.curve)},
                                       {"tags", trained.tags}};
  WriteFileAtomically(flags.out, DumpJson(json) + "\n", {.if_exists = existing});
  fmt::print("{}: development loss {:.3f} at step {}\n", flags.out,
             std::min_element(trained.curve.begin(), trained.curve.end(),
                              [](const TrainingPoint& a, const TrainingPoint& b) {
                                return a["dev_loss"] < b["dev_loss"];
                              })
                 ->
                 operator[]("dev_loss"),
             trained.best_step);
}

}  // namespace

void AddTaggerVerb(CLI::App& app) {
  const auto f = std::make_shared<TaggerFlags>();
  RunOptions& run = f->options.run;
  CLI::App* verb = app.add_subcommand(
      "tagger", "A tagger of words (BiLSTM-CRF) that is trained, tags, and is not kept.");
  Heading(*verb, "Sentences (one JSON object a line with lists of words and of labels)");
  verb->add_option("--train", f->training, "Train on these sentences")->required();
  verb->add_option("--dev", f->development, "Choose the rate and the net by the loss on these")
      ->required();
  verb->add_option("--tag", f->to_tag, "Tag these with the best net; their labels are not read")
      ->required();
  Heading(*verb, "Output");
  verb->add_option("-o,--out", f->out, "Write labels and the training record here, as JSON")
      ->required();
  verb->add_flag("--force", f->force, "Replace an output file that exists");
  Heading(*verb, "Run");
  verb->add_option("--learning-rate", run.learning_rate, "Learning rate at the beginning");
  verb->add_option(
      "--halve-after", run.halve_after,
      "Halve it after so many epochs without a new best (0: it falls with the epochs)");
  verb->add_option("--patience", run.patience,
                   "Stop after so many epochs without a new best (0: never)");
  verb->add_option("--seed", run.seed, "Seed of all that is drawn");
  verb->add_option("--device", run.device, "Train on this device: cpu or cuda");
  verb->add_option("--threads", f->threads, "Compute with so many threads (CPU)")
      ->check(CLI::PositiveNumber);
  Heading(*verb, "Training");
  AddFlags(*verb, SequenceTaggerTraining::Table(), f->options);
  verb->callback([f] { RunTagger(*f); });
}

}  // namespace sotto
