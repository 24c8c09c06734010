// sotto study words: tables 13 and 14 of COMPRISE D2.2, what the words of a speaker tell.
#include <fmt/format.h>

#include <set>

#include "attack/word_corpora.h"
#include "attack/word_study.h"
#include "base/error.h"
#include "base/files.h"
#include "base/parallel.h"
#include "cli/study.h"
#include "cli/verbs.h"
#include "report/words_figures.h"

namespace sotto::cli {
namespace {

struct Flags {
  std::vector<std::filesystem::path> corpora;
  PlantedWords planted;
  WordStudyOptions options;
  std::string out;
  bool no_planted = false, json = false;
};

// What is wrong with the flags together.
void Check(const Flags& flags) {
  if (flags.corpora.empty() && flags.no_planted) {
    throw Error("--no-planted needs a corpus: there is nothing else to study");
  }
  flags.planted.Validate();
  flags.options.Validate();
}

std::vector<WordCorpus> Corpora(const Flags& flags) {
  std::vector<WordCorpus> corpora;
  std::set<std::string> names;
  for (const std::filesystem::path& path : flags.corpora) {
    corpora.push_back(ReadWordCorpus(path));
    WordCorpus& corpus = corpora.back();
    if (!names.insert(corpus.name).second) corpus.name = path.string();
  }
  if (flags.no_planted) return corpora;
  for (WordCorpus& corpus : PlantedCorpora(flags.planted)) corpora.push_back(std::move(corpus));
  return corpora;
}

void Run(Flags& flags) {
  WordStudyOptions& options = flags.options;
  flags.planted.seed = options.seed;
  options.intervals.seed = options.seed;
  CheckUsage([&flags] { Check(flags); });
  const std::filesystem::path folder = flags.out;
  // Before minutes of work.
  if (!folder.empty() && std::filesystem::exists(folder) &&
      !std::filesystem::is_directory(folder)) {
    throw Error(fmt::format("{}: not a folder", folder.string()));
  }
  const WordStudy study = StudyWords(Corpora(flags), options);
  if (!folder.empty()) {
    MakeFolder(folder);
    WriteFileAtomically(folder / "words.json", WordsJson(study));
    WriteFileAtomically(folder / "words.csv", WordsCsv(study));
    WritePage(folder / "words.html", RenderAssessPage(WordsPage(study)));
  }
  fmt::print("{}", flags.json ? WordsJson(study) : WordsText(study));
}

}  // namespace

void AddStudyWords(CLI::App& study) {
  CLI::App* verb = AddVerb(
      study, "words",
      "Tables 13 and 14 of COMPRISE D2.2 with ours beside: what the words of speakers tell of "
      "their gender and age, by a support vector machine on word vectors and a convolutional net, "
      "upsampled before and after the split, split by speaker and by sentence. Corpora are studied "
      "by their transcripts, and beside them planted ones, whose best accuracy is known: they show "
      "that the instrument finds what there is and nothing else, also after the telling words were "
      "replaced. OUT gets words.html, words.json and words.csv.",
      "  sotto study words ../shared/data/speech/cv_train ../shared/data/speech/libri_train "
      "-o words/\n"
      "  sotto study words redacted/ --no-planted --json");
  auto flags = verb->runs(Run);
  verb->add_option("CORPORA", flags->corpora,
                   "Manifests or Kaldi data dirs with transcripts, genders and (manifests) ages",
                   "DIR");
  verb->heading("Planted corpora");
  verb->add_flag("--no-planted", flags->no_planted, "Without them");
  verb->add_option("--strength", flags->planted.strength,
                   "How strongly their words tell, from 0 to 1");
  verb->add_option("--speakers", flags->planted.speakers, "Speakers of each");
  verb->heading("Measuring and output");
  verb->add_option("--repeats", flags->options.repeats, "Random splits");
  verb->add_option("--net-steps", flags->options.cnn_steps,
                   "Steps of the net's training, at least");
  verb->add_option("--resamples", flags->options.intervals.resamples,
                   "Of the speakers, for the intervals");
  verb->add_option("--seed", flags->options.seed, "Of all that is drawn: this is an experiment");
  flags->options.jobs = DefaultJobs();
  verb->add_option("--jobs", flags->options.jobs,
                   "Tasks at a time; the figures do not depend on it")
      ->check(CLI::PositiveNumber);
  verb->add_option("-o,--out", flags->out, "The folder to write", "DIR");
  verb->add_flag("--json", flags->json, "Print the figures as JSON");
}

}  // namespace sotto::cli
