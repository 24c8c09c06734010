// sotto train entities: fits the tagger of names, places, organisations, dates and times to marked
// sentences. It runs here: no libtorch.
#include "cli/train_entities.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>

#include "cli/verbs.h"
#include "report/entity_figures.h"
#include "text/tagger_training.h"

namespace sotto::cli {
namespace {

namespace fs = std::filesystem;

struct Flags {
  std::string data, out;
  TaggerTrainingOptions training;
  double recall = 0.99;
  ForceFlag force;
  bool json = false;
};

// By corpus and form, of the sentences for reports.
std::vector<CorpusScores> HeldOut(const Tagger& tagger, std::span<const LabelledCorpus> corpora,
                                  double recall) {
  std::vector<CorpusScores> all;
  for (const auto& corpus : corpora) {
    for (const bool transcripts : {false, true}) {
      CorpusScores scores{corpus.name, transcripts, AnnotatedTypes(corpus), {}, {}};
      scores.likely = ScoreTagger(tagger, corpus, CorpusPart::kReport, transcripts);
      scores.with_recall =
          ScoreTagger(tagger, corpus, CorpusPart::kReport, transcripts, tagger.ThresholdOf(recall));
      all.push_back(std::move(scores));
    }
  }
  return all;
}

void Run(const Flags& flags) {
  CheckUsage([&] { flags.training.Validate(); });
  flags.force.Check(flags.out);
  const auto start = std::chrono::steady_clock::now();
  const fs::path folder = flags.data;
  const auto corpora = ReadLabelledCorpora(folder / "text");
  const NameLists names = ReadNameLists(folder / "names");
  const auto model = TrainTagger(corpora, names, flags.training, [&](const std::string& line) {
    if (!flags.json) fmt::print("{}\n", line);
  });
  TaggerReport report;
  const std::string bytes = model.Serialise();
  WriteFileAtomically(flags.out, bytes, {.if_exists = flags.force.OnExisting()});
  report.file = flags.out;
  report.bytes = bytes.size();
  report.features = model.features.size();
  report.names = model.gazetteers.Hashes().size();
  for (const auto& corpus : corpora) {
    for (const auto& sentence : corpus.sentences) {
      if (sentence.part == CorpusPart::kTrain) ++report.sentences;
    }
  }
  report.recall = flags.recall;
  report.corpora = HeldOut(Tagger(model), corpora, flags.recall);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  report.seconds = elapsed.count();
  fmt::print("{}", PrintedTaggerReport(report, flags.json));
}

}  // namespace

void AddTrainEntities(CLI::App& train) {
  CLI::App* verb = AddVerb(
      train, "entities",
      "Fits the tagger of names, places, organisations, dates and times for sotto redact to marked "
      "sentences, chooses its thresholds on some it was not fitted to, and prints how well it "
      "finds "
      "entities in others (docs/models.md).",
      "  sotto train entities --data ../shared/data -o entities.safetensors\n"
      "  sotto train entities --data ../shared/data --features 80000 --epochs 4 -o "
      "small.safetensors");
  auto flags = std::make_shared<Flags>();
  verb->heading("Sentences and names");
  verb->add_option("--data", flags->data,
                   "A folder with text/ (nlu_eval, slurp, snips, wikigold, btc, presidio; what is "
                   "there is read) and names/",
                   "DIR")
      ->required();
  verb->heading("Training");
  auto& training = flags->training;
  verb->add_option("--epochs", training.epochs, "Passes with all features");
  verb->add_option("--final-epochs", training.final_epochs,
                   "Passes with those that stay; the model is their mean");
  verb->add_option("--features", training.features, "Features that stay");
  verb->add_option("--rate", training.rate, "Rate of AdaGrad");
  verb->add_option("--l1", training.l1, "Penalty on the weights' absolute values");
  verb->add_option("--l2", training.l2, "Penalty on the weights' squares");
  verb->add_option("--replaced", training.augmentation.replaced,
                   "Share of entities that become others of their kind in training");
  verb->add_option("--transcripts", training.augmentation.transcripts,
                   "Share of sentences without capitals and punctuation in training");
  verb->add_option("--unknown", training.augmentation.unknown,
                   "Share of words that are not seen in training");
  verb->add_option("--seed", training.seed, "Of the order of sentences and all draws");
  verb->heading("Output");
  verb->add_option("-o,--out", flags->out, "The model to write (safetensors)", "FILE")->required();
  verb->add_option("--recall", flags->recall,
                   "The share of entities' tokens whose threshold is tried on held-out sentences")
      ->check(CLI::Range(0.5, 0.999));
  flags->force.Add(*verb);
  verb->add_flag("--json", flags->json, "Print the figures as JSON");
  verb->callback([flags] { Run(*flags); });
}

}  // namespace sotto::cli
