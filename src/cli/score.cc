// sotto score --enrol E --trials T
#include <fmt/format.h>

#include <memory>

#include "base/files.h"
#include "cli/verbs.h"
#include "report/verb_figures.h"
#include "speaker/score_sets.h"

namespace sotto::cli {
namespace {

struct Flags {
  std::string enrol, trials, out;
  ScoreSetOptions options;
  std::string by = "speaker";
  ForceFlag force;
  bool json = false;
};

void Run(Flags& flags) {
  flags.force.Check(flags.out);
  ScoreSetOptions& options = flags.options;
  options.by = flags.by == "speaker" ? ModelOf::kSpeaker : ModelOf::kUtterance;
  const SetScores scores = ScoreSets(flags.enrol, flags.trials, options);
  if (!flags.out.empty()) {
    WriteFileAtomically(flags.out, PrintedScores(scores, options, "", /*json=*/false),
                        {.if_exists = flags.force.OnExisting()});
  }
  fmt::print("{}", PrintedScores(scores, options, flags.out, flags.json));
}

}  // namespace

void AddScore(CLI::App& app) {
  CLI::App* verb = AddVerb(
      app, "score",
      "Compares embeddings and writes lines \"enrol trial score\". Without --keys every model is "
      "compared with every trial utterance (never with itself).",
      "  sotto score --enrol enrol/ --trials trials/ --keys trials.txt -o scores.txt\n"
      "  sotto score --enrol e/ --trials t/ --backend plda --train background/ --by utterance");
  auto flags = std::make_shared<Flags>();
  ScoreSetOptions& o = flags->options;
  verb->heading("Trials");
  verb->add_option("--enrol", flags->enrol, "Embeddings of the known voices (from sotto embed)",
                   "DIR")
      ->required();
  verb->add_option("--trials", flags->trials, "Embeddings of the trial utterances", "DIR")
      ->required();
  verb->add_option("--keys", o.keys, "The pairs to compare: lines 'enrol trial [target|nontarget]'",
                   "FILE");
  verb->add_option("--by", flags->by,
                   "A model is a speaker (the mean of all utterances) or one utterance")
      ->check(CLI::IsMember({"speaker", "utterance"}));
  verb->heading("Back-end");
  verb->add_option("--backend", o.backend, "How two vectors are compared")
      ->check(CLI::IsMember({"cosine", "plda"}));
  verb->add_option("--plda", o.plda,
                   "A folder with Kaldi's mean.vec, plda and (optional) transform.mat", "DIR");
  verb->add_option("--train", o.train, "Train LDA and PLDA on these embeddings, in place of --plda",
                   "DIR");
  verb->add_option("--lda", o.lda_dimension,
                   "Dimensions that LDA keeps with --train; 0 means no LDA")
      ->check(CLI::NonNegativeNumber);
  verb->add_option("--cohort", o.cohort, "Normalise scores (adaptive s-norm) with these embeddings",
                   "DIR");
  verb->add_option("--top", o.top, "Number of highest cohort scores that s-norm uses")
      ->check(CLI::Range(2, 1000000));
  verb->heading("Output");
  verb->add_option("-o,--out", flags->out, "The score file; default: standard output", "FILE");
  flags->force.Add(*verb);
  verb->add_flag("--json", flags->json,
                 "Print counts as JSON, and the scores too where -o is not given");
  verb->callback([flags] { Run(*flags); });
}

}  // namespace sotto::cli
