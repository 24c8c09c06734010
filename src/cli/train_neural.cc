// sotto train features|voices|content|synth|adain: features of the neural anonymiser's training,
// and its start.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>

#include "audio/feature_pack.h"
#include "audio/pack_corpus.h"
#include "base/parallel.h"
#include "cli/train.h"
#include "cli/verbs.h"
#include "report/verb_figures.h"
#include "targets/pseudo_speakers.h"
#include "voice/training_features.h"

namespace sotto::cli {
namespace {

struct FeatureFlags {
  std::vector<std::string> inputs;
  std::string out, models, encoder = kDefaultEncoder;
  bool merge_speakers = false, json = false, trust_models = false;
  ForceFlag force;
  int jobs = DefaultJobs();
};

bool IsSpeechPack(const std::string& path) {
  std::error_code unused;
  if (!std::filesystem::is_regular_file(path, unused)) return false;
  char magic[9] = {};
  std::ifstream(path, std::ios::binary).read(magic, 8);
  return std::string(magic) == "SOTTOPK1";
}

void RunFeatures(const FeatureFlags& flags) {
  const bool is_packed = flags.inputs.size() == 1 && IsSpeechPack(flags.inputs[0]);
  const std::string pack_file = flags.out + ".pack";
  flags.force.Check(flags.out);
  if (!is_packed) flags.force.Check(pack_file);
  const auto start = std::chrono::steady_clock::now();
  // Before a pack is written that a second try would find there.
  const ModelFolders models = ModelFolders::Default(flags.models, flags.trust_models);
  const MoonshineContent teacher(OnnxRuntime::Open(models), models);
  const auto encoder = OpenEncoder(flags.encoder, flags.trust_models);
  SpeechPack pack;
  if (is_packed) {
    pack = ReadSpeechPack(flags.inputs[0]);
  } else {
    pack =
        PackCorpora({flags.inputs.begin(), flags.inputs.end()}, flags.merge_speakers, flags.jobs);
    WriteSpeechPack(pack_file, pack, flags.force.OnExisting());
  }
  const FeaturePack features = MakeFeatures(pack, teacher, *encoder, flags.jobs);
  WriteFeaturePack(flags.out, features, flags.force.OnExisting());
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  fmt::print("{}", PrintedFeaturePack(pack, features, elapsed.count(), flags.out, flags.json));
}

struct VoiceFlags {
  std::string pack, features, adain, out;
  bool json = false;
  ForceFlag force;
  int jobs = DefaultJobs();
};

void RunVoices(const VoiceFlags& flags) {
  flags.force.Check(flags.out);
  const SpeechPack pack = ReadSpeechPack(flags.pack);
  FeaturePack features = ReadFeaturePack(flags.features);
  if (!flags.adain.empty()) {
    UseSpeakerVectors(pack, AdainNet(ReadTensorFile(flags.adain)), flags.jobs, features);
  }
  const SpeakerPool pool = MakeSpeakerPool(pack, features);
  const PseudoSpeakers generator(pool);  // checks it
  WriteTensorFile(flags.out, WriteSpeakerPool(pool), StoredAs::kFloat16, flags.force.OnExisting());
  fmt::print("{}", PrintedSpeakerPool(pool, generator, flags.out, flags.json));
}

void AddPassed(CLI::App& verb, const char* name, const char* what, const char* examples) {
  CLI::App* sub = AddVerb(verb, name, what, examples);
  sub->allow_extras();
  auto flags = std::make_shared<bool>(false);
  sub->add_flag("--flags", *flags, "List the flags of the training program with their defaults");
  const std::string program_verb = name;
  sub->callback([sub, flags, program_verb] {
    std::vector<std::string> arguments = {program_verb};
    if (*flags) arguments.emplace_back("--help");
    for (const std::string& argument : sub->remaining()) arguments.push_back(argument);
    RunTrainingProgram(arguments);
  });
}

}  // namespace

void AddTrainNeural(CLI::App& train) {
  CLI::App* verb = AddVerb(
      train, "features",
      "Computes what the neural anonymiser is trained on beside the samples: states of the teacher "
      "(Moonshine, ./do deps --onnx), F0 and speaker embeddings. INPUT is a speech pack (sotto "
      "train pack), or corpora, whose pack is then written to FILE.pack. Features tell who speaks: "
      "treat them like the recordings.",
      "  sotto train features all.pack -o all.features\n"
      "  sotto train features libri/ pool/ --merge-speakers -o all.features --jobs 16");
  auto flags = verb->runs(RunFeatures);
  verb->add_option("INPUT", flags->inputs, "A speech pack, or corpora")->required();
  verb->add_option("-o,--out", flags->out, "The feature pack to write", "FILE")->required();
  flags->force.Add(*verb);
  verb->add_option("--models", flags->models, "Look for models here first", "DIR");
  AddTrustFlag(*verb, flags->trust_models);
  verb->add_option("--encoder", flags->encoder, "The speaker encoder", "FILE")
      ->default_str("the program's own");
  verb->add_flag("--merge-speakers", flags->merge_speakers,
                 "Take speakers of the same name in several corpora for one person");
  verb->add_option("--jobs", flags->jobs, "Utterances at a time")->check(CLI::PositiveNumber);
  verb->add_flag("--json", flags->json, "Print counts as JSON");

  CLI::App* pool = AddVerb(
      train, "voices",
      "Makes the pool of target voices of the methods neural and adain: embeddings and pitch of "
      "each speaker of a speech pack. They identify these people: use a public corpus.",
      "  sotto train voices pool.pack --features pool.features -o voices.safetensors\n"
      "  sotto train voices pool.pack --features pool.features --adain adain.safetensors -o "
      "adain_voices.safetensors");
  auto voices = pool->runs(RunVoices);
  pool->add_option("PACK", voices->pack, "A speech pack with genders")->required();
  pool->add_option("--features", voices->features, "The features of PACK", "FILE")->required();
  pool->add_option(
      "--adain", voices->adain,
      "Compute embeddings with the speaker encoder of this net (sotto train adain) instead",
      "FILE");
  pool->add_option("--jobs", voices->jobs, "Utterances at a time")->check(CLI::PositiveNumber);
  pool->add_option("-o,--out", voices->out, "The voices to write", "FILE")->required();
  voices->force.Add(*pool);
  pool->add_flag("--json", voices->json, "Print counts as JSON");

  AddPassed(
      train, "content",
      "Trains the content encoder on speech and feature packs. Flags go to the training program; "
      "sotto train content --flags lists them.",
      "  sotto train content --pack all.pack --features all.features -o content.safetensors\n"
      "  sotto train content --pack all.pack --features all.features -o c.safetensors "
      "--device cuda --bf16 --minutes 4");
  AddPassed(
      train, "synth",
      "Trains the synthesiser on speech and feature packs and a content encoder. Flags go to the "
      "training program; sotto train synth --flags lists them.",
      "  sotto train synth --pack all.pack --features all.features --content "
      "content.safetensors -o synth.safetensors\n"
      "  sotto train synth --pack all.pack --features all.features --content c.safetensors "
      "-o s.safetensors --resume s.checkpoint");
  AddPassed(train, "adain",
            "Trains the net of method adain on speech and feature packs (of features, F0 alone is "
            "used). Flags go to the training program; sotto train adain --flags lists them.",
            "  sotto train adain --pack all.pack --features all.features -o adain.safetensors\n"
            "  sotto train adain --pack all.pack --features all.features -o adain.safetensors "
            "--device cuda --bf16 --minutes 5");
}

}  // namespace sotto::cli
