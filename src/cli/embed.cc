// sotto embed CORPUS OUT
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/parallel.h"
#include "cli/verbs.h"
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
  const std::size_t speakers = embedded.set.BySpeaker().size();
  const std::size_t without = embedded.set.WithoutGender().size();
  if (flags.json) {
    const nlohmann::ordered_json json = {{"encoder", encoder->Name()},
                                         {"fingerprint", encoder->Fingerprint()},
                                         {"dimension", encoder->Dimension()},
                                         {"utterances", embedded.set.size()},
                                         {"speakers", speakers},
                                         {"speakers_without_gender", without},
                                         {"from_cache", embedded.from_cache},
                                         {"audio_seconds", embedded.audio_seconds},
                                         {"seconds", elapsed.count()}};
    fmt::print("{}\n", DumpJson(json, 2));
    return;
  }
  fmt::print("{} utterances of {} speakers ({} without a gender), {} dimensions by {}: {}\n",
             embedded.set.size(), speakers, without, encoder->Dimension(), encoder->Name(),
             flags.out);
  fmt::print("{:.1f} s of sound in {:.1f} s ({:.0f} x real time), {} from the cache\n",
             embedded.audio_seconds, elapsed.count(), embedded.audio_seconds / elapsed.count(),
             embedded.from_cache);
}

}  // namespace

void AddEmbed(CLI::App& app) {
  CLI::App* verb = AddVerb(app, "embed",
                           "Writes one vector per utterance that tells speakers apart: OUT with "
                           "xvector.ark, xvector.scp,\nutt2spk, spk2gender and encoder.json. They "
                           "identify people: treat them like the recordings.",
                           "  sotto embed recordings/ embeddings/\n"
                           "  sotto embed recordings/ embeddings/ --encoder my.safetensors "
                           "--format npy --json");
  auto flags = std::make_shared<Flags>();
  verb->add_option("CORPUS", flags->corpus, "Folder, Kaldi data dir or manifest")->required();
  verb->add_option("OUT", flags->out, "The folder to write")->required();
  verb->add_option("--encoder", flags->encoder, "A file from sotto train (or foreign safetensors)")
      ->type_name("FILE");
  AddTrustFlag(*verb, flags->trust_models);
  verb->add_option("--format", flags->format,
                   "ark: binary; text: the same as text; npy: binary, and xvector.npy with ids")
      ->check(CLI::IsMember({"ark", "text", "npy"}));
  verb->add_option(
          "--cache", flags->cache,
          "Keeps embeddings of sound that was met before, mode 0700: they are personal data, "
          "delete the folder when done")
      ->type_name("DIR");
  flags->force.Add(*verb);
  verb->add_option("--jobs", flags->jobs, "Recordings at a time")->check(CLI::PositiveNumber);
  verb->add_flag("--json", flags->json, "Print counts as JSON");
  verb->callback([flags] { Run(*flags); });
}

}  // namespace sotto::cli
