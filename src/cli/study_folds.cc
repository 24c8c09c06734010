// sotto study folds: defences that hide an attribute, on one set of voiceprints by folds.
#include <fmt/format.h>

#include "attack/hiding_folds.h"
#include "base/error.h"
#include "base/parallel.h"
#include "cli/study.h"
#include "cli/verbs.h"
#include "report/fold_figures.h"

namespace sotto::cli {
namespace {

struct Flags {
  std::vector<std::filesystem::path> voices;
  std::string labels, attribute = "gender";
  FoldOptions options;
  bool json = false;
};

// What is wrong with the flags together.
void Check(const Flags& flags) {
  if (flags.labels.empty() && flags.attribute != "gender") {
    throw Error(fmt::format("--attribute {} needs --labels: embeddings tell genders alone",
                            flags.attribute));
  }
}

void Run(Flags& flags) {
  CheckUsage([&flags] { Check(flags); });
  const EmbeddingSet set = ReadFoldVoices(flags.voices);
  const AttributeLabels labels = flags.labels.empty()
                                     ? GenderLabels(set, "the voiceprints")
                                     : ReadAttributeLabels(flags.labels, flags.attribute);
  const FoldStudy study = StudyFolds(labels.Labelled(set), labels, flags.options);
  fmt::print("{}", flags.json ? FoldsJson(study) : FoldsText(study));
}

}  // namespace

void AddStudyFolds(CLI::App& study) {
  CLI::App* verb = AddVerb(
      study, "folds",
      "Fits, attacks and measures defences that hide an attribute (gender) on one set of "
      "voiceprints by folds of speakers: for sets that no other corpora belong to, such as "
      "x-vectors of another program. Without noise at use.",
      "  sotto study folds xvectors/enrolls xvectors/trials_f xvectors/trials_m --defences leace\n"
      "  sotto study folds pool/ --folds 10 --defences leace transport:dimension=20 --json");
  auto flags = verb->runs(Run);
  verb->add_option("VOICEPRINTS", flags->voices,
                   "Folders of embeddings, or files with one vector per speaker", "DIR|FILE")
      ->required();
  verb->add_option("--labels", flags->labels,
                   "A table with the columns speaker and that of --attribute; default: the genders "
                   "of the embeddings",
                   "TSV");
  verb->add_option("--attribute", flags->attribute, "What is to be hidden", "NAME");
  verb->add_option("--defences", flags->options.defences,
                   "Defences of sotto train hide, each as NAME or NAME:PARAMETER=VALUE,…", "TEXT");
  verb->add_option("--folds", flags->options.folds, "Folds of speakers")->check(CLI::Range(2, 100));
  verb->add_option("--seed", flags->options.seed, "Of defences that draw in training");
  verb->add_option("--jobs", flags->options.classifier.jobs, "Threads of the attackers")
      ->check(CLI::PositiveNumber);
  verb->add_flag("--json", flags->json, "Print the figures as JSON");
}

}  // namespace sotto::cli
