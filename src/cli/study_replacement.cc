// sotto study replacement: table 4 of D2.2, what replaced entities still teach a tagger.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "attack/replacement_study.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/parallel.h"
#include "base/private_folder.h"
#include "cli/study.h"
#include "cli/train.h"
#include "cli/verbs.h"
#include "report/replacement_figures.h"

namespace sotto::cli {
namespace {

struct Flags {
  std::string corpora, out;
  std::vector<std::string> p = {"0", "0.5", "0.9", "1"};
  std::vector<std::string> taggers = {"bilstm-crf", "crf"};
  std::string epochs = "50", hidden = "128";
  int sentences = 0, trainings = 2, min_people = 1, resamples = IntervalOptions{}.resamples;
  std::uint64_t seed = 1;
  int jobs = DefaultJobs();
  bool no_placeholders = false, json = false;
};

// What the training program writes.
std::vector<TaggedRows> ReadTags(const std::filesystem::path& path) {
  try {
    return ParseJson(ReadTextFile(path)).at("tags").get<std::vector<TaggedRows>>();
  } catch (const nlohmann::json::exception&) {
    throw Error("the training program gave no labels");
  }
}

// The training program's, one process for each training.
StudiedTagger StudiedBiLstm(const Flags& flags) {
  return {"BiLSTM-CRF",
          [epochs = flags.epochs, hidden = flags.hidden](
              const std::vector<TaggedSentence>& training,
              const std::vector<TaggedSentence>& development,
              const std::vector<std::vector<TaggedSentence>>& to_tag, std::uint64_t seed) {
            const ScratchFolder folder;
            const auto at = [&folder](const std::string& name) { return (folder / name).string(); };
            WriteInPrivateFolder(folder / "train", WriteTaggedSentences(training));
            WriteInPrivateFolder(folder / "dev", WriteTaggedSentences(development));
            std::vector<std::string> words = {
                "tagger",   "--train", at("train"),          "--dev",    at("dev"), "-o",
                at("tags"), "--seed",  std::to_string(seed), "--epochs", epochs,    "--hidden",
                hidden,     "--tag"};
            for (std::size_t i = 0; i < to_tag.size(); ++i) {
              words.push_back(at("test" + std::to_string(i)));
              WriteInPrivateFolder(words.back(), WriteTaggedSentences(to_tag[i]));
            }
            RunTrainingProgramQuietly(words, folder / "said");
            return ReadTags(folder / "tags");
          }};
}

// What is wrong with the flags together.
ReplacementStudyOptions Options(const Flags& flags) {
  ReplacementStudyOptions options;
  options.p.clear();
  for (const std::string& p : flags.p) options.p.push_back(Chance::Parse(p, "--p"));
  options.placeholder = !flags.no_placeholders;
  options.seeds = static_cast<std::size_t>(flags.trainings);
  options.min_people = static_cast<std::uint64_t>(flags.min_people);
  options.seed = flags.seed;
  options.jobs = flags.jobs;
  options.intervals.resamples = flags.resamples;
  options.intervals.seed = flags.seed;
  options.intervals.jobs = flags.jobs;
  options.Validate();
  return options;
}

void Run(Flags& flags) {
  ReplacementStudyOptions options;
  CheckUsage([&] { options = Options(flags); });
  const std::filesystem::path folder = flags.out;
  // Before minutes of work.
  if (std::filesystem::exists(folder) && !std::filesystem::is_directory(folder)) {
    throw Error(fmt::format("{}: not a folder", folder.string()));
  }
  std::vector<StudiedTagger> taggers;
  // The one that is there in any case says what a finder misses.
  for (const char* name : {"crf", "bilstm-crf"}) {
    if (std::find(flags.taggers.begin(), flags.taggers.end(), name) == flags.taggers.end()) {
      continue;
    }
    if (name == std::string("crf")) {
      taggers.push_back(StudiedCrf());
    } else if (HasTrainingProgram()) {
      taggers.push_back(StudiedBiLstm(flags));
    } else if (flags.taggers.size() == 1) {
      throw Error("no training program: bilstm-crf needs one, built where libtorch is installed");
    }
  }
  const ReplacementData data =
      ReadReplacementData(flags.corpora, static_cast<std::size_t>(flags.sentences), flags.seed);
  const ReplacementStudy study = StudyReplacement(data, taggers, options);
  MakeFolder(folder);
  WriteFileAtomically(folder / "replacement.json", ReplacementJson(study));
  WriteFileAtomically(folder / "replacement.csv", ReplacementCsv(study));
  const std::filesystem::path page = folder / "replacement.html";
  WritePage(page, RenderAssessPage(ReplacementPage(study)));
  fmt::print("{}", flags.json ? ReplacementJson(study) : ReplacementText(study, page.string()));
}

}  // namespace

void AddStudyReplacement(CLI::App& study) {
  CLI::App* verb = AddVerb(
      study, "replacement",
      "Table 4 of COMPRISE D2.2 with ours beside: entities of the training sentences are replaced "
      "with probability p by surrogates of their type, taggers are trained on them and tested on "
      "sentences as they were said. Epsilon by lemma 2.1, with the share that a finder misses. "
      "CORPORA holds slurp/, nlu_eval/ and snips/ as they are published; OUT gets "
      "replacement.html, replacement.json and replacement.csv.",
      "  sotto study replacement ../shared/data/text -o table4/\n"
      "  sotto study replacement ../shared/data/text --taggers crf --trainings 1 --json -o "
      "table4/");
  auto flags = verb->runs(Run);
  verb->add_option("CORPORA", flags->corpora, "A folder with the corpora", "DIR")->required();
  verb->add_option("--p", flags->p, "Probabilities that an entity is replaced, rising", "P");
  verb->add_flag("--no-placeholders", flags->no_placeholders, "Without the row of placeholders");
  verb->add_option("--min-people", flags->min_people,
                   "Surrogates are entities of so many training sentences at least")
      ->check(CLI::PositiveNumber);
  verb->add_option("--sentences", flags->sentences,
                   "Draw so many of the training sentences (0: all), and of those to stop by in "
                   "proportion")
      ->check(CLI::NonNegativeNumber);
  verb->heading("Taggers");
  verb->add_option("--taggers", flags->taggers,
                   "Which are trained: crf, and bilstm-crf where the training program is built",
                   "NAME")
      ->check(CLI::IsMember({"bilstm-crf", "crf"}));
  verb->add_option("--trainings", flags->trainings, "Of each, with draws of their own")
      ->check(CLI::Range(1, 100));
  verb->add_option("--epochs", flags->epochs, "Of the BiLSTM-CRF at most");
  verb->add_option("--hidden", flags->hidden, "Width of its LSTM of each direction");
  verb->heading("Measuring and output");
  verb->add_option("--resamples", flags->resamples, "Of the sentences, for the intervals")
      ->check(CLI::NonNegativeNumber);
  verb->add_option("--seed", flags->seed, "Of all that is drawn: this is an experiment");
  verb->add_option("--jobs", flags->jobs, "Trainings at a time; the figures do not depend on it")
      ->check(CLI::PositiveNumber);
  verb->add_option("-o,--out", flags->out, "The folder to write", "DIR")->required();
  verb->add_flag("--json", flags->json, "Print the figures as JSON");
}

}  // namespace sotto::cli
