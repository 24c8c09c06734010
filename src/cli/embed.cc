// sotto embed CORPUS OUT
#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "base/parallel.h"
#include "cli/verbs.h"
#include "report/verb_figures.h"
#include "speaker/embed_corpus.h"

namespace sotto::cli {
namespace {

struct Flags {
  std::string corpus, out;
  std::string encoder = kDefaultEncoder;
  std::string format = "ark";
  std::string cache;
  ForceFlag force;
  int jobs = DefaultJobs();
  bool json = false, trust_models = false;
};

void Run(const Flags& flags) {
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

}  // namespace

void AddEmbed(CLI::App& app) {
  CLI::App* verb = AddVerb(app, "embed",
                           "Writes one vector per utterance that tells speakers apart. OUT holds "
                           "xvector.ark, xvector.scp, utt2spk, spk2gender and encoder.json. These "
                           "vectors identify people: treat them like the recordings.",
                           "  sotto embed recordings/ embeddings/\n"
                           "  sotto embed recordings/ embeddings/ --encoder my.safetensors "
                           "--format npy --json");
  auto flags = std::make_shared<Flags>();
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
  verb->callback([flags] { Run(*flags); });
}

}  // namespace sotto::cli
