// sotto train calibration CORPUS --encoder FILE -o FILE
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "attack/calibrate_cosine.h"
#include "base/files.h"
#include "base/json.h"
#include "base/parallel.h"
#include "cli/verbs.h"
#include "nn/encoder_net.h"
#include "speaker/embed_corpus.h"

namespace sotto::cli {
namespace {

struct Flags {
  std::string corpus, encoder, centre, out;
  std::vector<std::string> average;
  std::string stored = "float32";
  int jobs = DefaultJobs();
  ForceFlag force;
  bool json = false;
};

void Run(const Flags& flags) {
  flags.force.Check(flags.out);
  const StoredAs stored = flags.stored == "int8"      ? StoredAs::kInt8
                          : flags.stored == "float16" ? StoredAs::kFloat16
                                                      : StoredAs::kFloat32;
  TensorFile file = ReadTensorFile(flags.encoder);
  if (!flags.average.empty()) {
    std::vector<TensorFile> nets = {std::move(file)};
    for (const std::string& path : flags.average) nets.push_back(ReadTensorFile(path));
    file = AverageNets(nets);
  }
  if (!flags.centre.empty()) {
    const auto before = ParseEncoder(SerialiseTensorFile(file, StoredAs::kFloat32), flags.encoder);
    const EmbeddedCorpus centre =
        EmbedCorpus(*before, ListUtterances({flags.centre}), {flags.jobs, {}});
    const Eigen::VectorXf mean = centre.set.vectors.rowwise().mean();
    CentreEmbeddings(file, {mean.data(), static_cast<std::size_t>(mean.size())});
  }
  // The calibration belongs to the weights as they are stored.
  const std::string bytes = SerialiseTensorFile(file, stored);
  const auto encoder = ParseEncoder(bytes, flags.out);
  const EmbeddedCorpus embedded =
      EmbedCorpus(*encoder, ListUtterances({flags.corpus}), {flags.jobs, {}});
  const LlrCalibration calibration = CalibrateCosine(embedded.set);
  WriteCalibration(calibration, file);
  WriteTensorFile(flags.out, file, stored, flags.force.OnExisting());
  if (flags.json) {
    const nlohmann::ordered_json json = {{"file", flags.out},
                                         {"utterances", embedded.set.size()},
                                         {"speakers", embedded.set.BySpeaker().size()},
                                         {"scale", calibration.scale},
                                         {"offset", calibration.offset}};
    fmt::print("{}\n", DumpJson(json, 2));
    return;
  }
  fmt::print("LLR = {:.4f} x cosine {:+.4f}, from {} utterances of {} speakers: {}\n",
             calibration.scale, calibration.offset, embedded.set.size(),
             embedded.set.BySpeaker().size(), flags.out);
}

}  // namespace

void AddTrainCalibration(CLI::App& app) {
  CLI::App* verb = AddVerb(
      *app.get_subcommand("train"), "calibration",
      "Turns an encoder's cosines into likelihood ratios: fits scale and offset on speakers the "
      "encoder\nwas not trained on and writes them into a copy of its file (used by sotto verify).",
      "  sotto train calibration held-out/ --encoder ivector.safetensors -o "
      "calibrated.safetensors\n"
      "  sotto train calibration held-out/ --encoder net.safetensors -o out.safetensors --stored "
      "float16");
  auto flags = std::make_shared<Flags>();
  verb->add_option("CORPUS", flags->corpus, "Speech of other speakers")->required();
  verb->add_option("--encoder", flags->encoder, "The encoder")->required()->type_name("FILE");
  verb->add_option("--average", flags->average,
                   "First average its weights with those of these, trained on from the same net")
      ->type_name("FILE");
  verb->add_option("--centre", flags->centre,
                   "Then subtract the mean embedding of this corpus (folded into the net)")
      ->type_name("CORPUS");
  verb->add_option("-o,--out", flags->out, "The copy with the calibration")
      ->required()
      ->type_name("FILE");
  flags->force.Add(*verb);
  verb->add_option("--stored", flags->stored, "How the copy stores its weights")
      ->check(CLI::IsMember({"float32", "float16", "int8"}));
  verb->add_option("--jobs", flags->jobs, "Recordings at a time")->check(CLI::PositiveNumber);
  verb->add_flag("--json", flags->json, "Print scale and offset as JSON");
  verb->callback([flags] { Run(*flags); });
}

}  // namespace sotto::cli
