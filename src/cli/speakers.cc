// sotto embed CORPUS OUT, sotto score --enrol E --trials T, sotto verify A B
#include <fmt/format.h>

#include <chrono>

#include "base/files.h"
#include "base/parallel.h"
#include "cli/verbs.h"
#include "report/verb_figures.h"
#include "speaker/embed_corpus.h"
#include "speaker/score_sets.h"

namespace sotto::cli {
namespace {

struct EmbedFlags {
  std::string corpus, out;
  std::string encoder = kDefaultEncoder;
  std::string format = "ark";
  std::string cache;
  ForceFlag force;
  int jobs = DefaultJobs();
  bool json = false, trust_models = false;
};

void RunEmbed(const EmbedFlags& flags) {
  EmbeddingFiles files;
  files.ark = flags.format == "text" ? ArkForm::kText : ArkForm::kBinary;
  files.npy = flags.format == "npy";
  files.if_exists = flags.force.OnExisting();
  RefuseExistingEmbeddings(flags.out, files);
  const auto start = std::chrono::steady_clock::now();
  const auto encoder = OpenEncoder(flags.encoder, flags.trust_models);
  const UtteranceList list = ListUtterances({flags.corpus});
  const EmbeddedCorpus embedded = EmbedCorpus(*encoder, list, {flags.jobs, flags.cache});
  WriteEmbeddings(embedded.set, flags.out, files);
  WriteEncoderRecord(*encoder, embedded.set, flags.out, files.if_exists);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  fmt::print("{}", PrintedEmbeddings(embedded, *encoder, elapsed.count(), flags.out, flags.json));
}

struct ScoreFlags {
  std::string enrol, trials, out;
  ScoreSetOptions options;
  std::string by = "speaker";
  ForceFlag force;
  bool json = false;
};

void RunScore(ScoreFlags& flags) {
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

struct VerifyFlags {
  std::string a, b;
  std::string encoder = kDefaultEncoder;
  bool json = false, trust_models = false;
};

void RunVerify(const VerifyFlags& flags) {
  const auto encoder = OpenEncoder(flags.encoder, flags.trust_models);
  const Verification verification = VerifyFiles(*encoder, flags.a, flags.b);
  fmt::print("{}", PrintedVerification(verification, *encoder, flags.json));
}

}  // namespace

void AddEmbed(CLI::App& app) {
  CLI::App* verb = AddVerb(app, "embed",
                           "Writes one vector per utterance that tells speakers apart. OUT holds "
                           "xvector.ark, xvector.scp, utt2spk, spk2gender and encoder.json. These "
                           "vectors identify people: treat them like the recordings.",
                           "  sotto embed recordings/ embeddings/\n"
                           "  sotto embed recordings/ embeddings/ --encoder my.safetensors "
                           "--format npy --json");
  auto flags = verb->runs(RunEmbed);
  verb->add_option("CORPUS", flags->corpus, "Folder, Kaldi data dir or manifest")->required();
  verb->add_option("OUT", flags->out, "The folder to write")->required();
  verb->add_option("--encoder", flags->encoder,
                   "Speaker encoder from sotto train, or foreign safetensors", "FILE")
      ->default_str("the program's own");
  AddTrustFlag(*verb, flags->trust_models);
  verb->add_option(
          "--format", flags->format,
          "Write binary Kaldi archives (ark), text archives (text), or binary ones and xvector.npy "
          "with ids (npy)")
      ->check(CLI::IsMember({"ark", "text", "npy"}));
  verb->add_option("--cache", flags->cache,
                   "Keep embeddings in this folder, mode 0700, so that the same sound is not "
                   "embedded again: they are personal data, delete it when done",
                   "DIR");
  flags->force.Add(*verb);
  verb->add_option("--jobs", flags->jobs, "Recordings at a time")->check(CLI::PositiveNumber);
  verb->add_flag("--json", flags->json, "Print counts as JSON");
}

void AddScore(CLI::App& app) {
  CLI::App* verb = AddVerb(
      app, "score",
      "Compares embeddings and writes lines \"enrol trial score\". Without --keys every model is "
      "compared with every trial utterance (never with itself).",
      "  sotto score --enrol enrol/ --trials trials/ --keys trials.txt -o scores.txt\n"
      "  sotto score --enrol e/ --trials t/ --backend plda --train background/ --by utterance");
  auto flags = verb->runs(RunScore);
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
}

void AddVerify(CLI::App& app) {
  CLI::App* verb = AddVerb(app, "verify",
                           "Says how likely two recordings come from one speaker: a calibrated "
                           "likelihood ratio, and what it means in words.",
                           "  sotto verify a.wav b.wav\n"
                           "  sotto verify original.flac protected.flac --encoder my.safetensors "
                           "--json");
  auto flags = verb->runs(RunVerify);
  verb->add_option("A", flags->a, "A recording (its first channel)")->required();
  verb->add_option("B", flags->b, "Another recording (its first channel)")->required();
  verb->add_option("--encoder", flags->encoder,
                   "Speaker encoder from sotto train, or foreign safetensors", "FILE")
      ->default_str("the program's own");
  AddTrustFlag(*verb, flags->trust_models);
  verb->add_flag("--json", flags->json, "Print cosine and LLR as JSON");
}

}  // namespace sotto::cli
