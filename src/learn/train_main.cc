// sotto-train: the programs that need libtorch. `sotto train …` decodes corpora into packs and
// starts it; on a machine without audio libraries it runs on packs made elsewhere.
#include <fmt/format.h>
#include <malloc.h>
#include <torch/version.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/terminal.h"
#include "learn/encoder_trainer.h"
#include "learn/neural_verbs.h"
#include "learn/output_flags.h"
#include "nn/eigen_backend.h"

namespace sotto {
namespace {

struct EncoderFlags {
  std::vector<std::string> packs, new_speaker_packs, validation_packs;
  std::vector<double> emphasis;
  std::string base, net = "ecapa";
  OutputFlags output;
  std::int64_t channels = 512, aggregation = 512;
  EncoderTraining training;
};

// Appends `more`; its speakers get `suffix`, so that they are others than those already there.
void Append(SpeechPack& pack, const SpeechPack& more, const std::string& suffix) {
  const std::uint64_t offset = pack.samples.size();
  for (PackedUtterance u : more.utterances) {
    u.begin += offset;
    u.speaker += suffix;
    pack.utterances.push_back(std::move(u));
  }
  pack.samples.insert(pack.samples.end(), more.samples.begin(), more.samples.end());
}

void RunEncoder(EncoderFlags flags) {
  flags.output.Check();
  SpeechPack pack;
  for (std::size_t i = 0; i < flags.packs.size(); ++i) {
    SpeechPack more = ReadSpeechPack(flags.packs[i]);
    if (i < flags.emphasis.size()) {
      for (const PackedUtterance& u : more.utterances) {
        flags.training.emphasis[u.speaker] = flags.emphasis[i];
      }
    }
    if (i == 0) {
      pack = std::move(more);
    } else {
      Append(pack, more, "");
    }
  }
  for (std::size_t i = 0; i < flags.new_speaker_packs.size(); ++i) {
    Append(pack, ReadSpeechPack(flags.new_speaker_packs[i]),
           fmt::format("{}{}", kAlteredMark, i + 1));
  }
  for (const std::string& name : flags.validation_packs) {
    const SpeechPack more = ReadSpeechPack(name);
    std::set<std::string> speakers;
    for (const PackedUtterance& u : more.utterances) speakers.insert(u.speaker);
    flags.training.hold_out.insert(flags.training.hold_out.end(), speakers.begin(), speakers.end());
    Append(pack, more, "");
  }
  TensorFile base;
  if (!flags.base.empty()) {
    base = ReadTensorFile(flags.base);
    flags.training.net = ReadEncoderNetOptions(base);
  } else if (flags.net == "xvector") {
    flags.training.net = XvectorOptions{};
  } else {
    EcapaOptions options;
    options.channels = flags.channels;
    options.aggregation = flags.aggregation;
    flags.training.net = options;
  }
  TrainedEncoder trained = TrainEncoder(pack, flags.training, flags.base.empty() ? nullptr : &base);
  if (!pack.run.empty()) {  // protected speech: whose attacker this is
    nlohmann::ordered_json header = {{"base", flags.base.empty() ? "" : Fingerprint(base)}};
    header["run"] = nlohmann::ordered_json::parse(pack.run);
    trained.file.metadata["sotto.attacker"] = header.dump();
  }
  flags.output.Write(trained.file, StoredAs::kFloat16);
  fmt::print("{}: best at step {}\n", flags.output.out, trained.best_step);
}

void AddEncoder(CLI::App& app, EncoderFlags& f) {
  EncoderTraining& t = f.training;
  CLI::App* verb = app.add_subcommand("encoder", "A speaker encoder from packs of speech.");
  verb->add_option("--pack", f.packs, "Decoded speech (sotto train pack)")->required();
  verb->add_option("--new-speakers", f.new_speaker_packs,
                   "Further packs whose speakers count as others (altered copies)");
  verb->add_option("--emphasis", f.emphasis,
                   "For each --pack: how much more often its speakers are drawn");
  f.output.Add(*verb, "The encoder, safetensors in half precision");
  verb->add_option("--base", f.base, "Go on from this encoder");
  verb->add_option("--net", f.net)->check(CLI::IsMember({"ecapa", "xvector"}));
  verb->add_option("--channels", f.channels, "ECAPA: width");
  verb->add_option("--aggregation", f.aggregation, "ECAPA: width before pooling");
  verb->add_option("--speeds", t.speeds)->expected(1, 9);
  verb->add_option("--batch-speakers", t.speakers_per_batch, "Two crops of each");
  verb->add_option("--frames", t.frames, "Of 10 ms in a crop");
  verb->add_option("--least-frames", t.least_frames,
                   "Each batch draws its length from these to --frames");
  verb->add_option("--steps", t.steps);
  verb->add_option("--warm-up", t.warm_up);
  verb->add_option("--learning-rate", t.learning_rate);
  verb->add_option("--final-learning-rate", t.final_learning_rate);
  verb->add_option("--weight-decay", t.weight_decay);
  verb->add_option("--margin", t.margin);
  verb->add_option("--scale", t.scale);
  verb->add_option("--prototype-weight", t.prototype_weight);
  verb->add_option("--average", t.average);
  verb->add_option("--augmented", t.augmented);
  verb->add_option("--held-out", t.held_out, "Speakers for validation");
  verb->add_option("--hold-out", t.hold_out, "Speakers who are among them in any case");
  verb->add_option("--validation", f.validation_packs,
                   "Further packs, all of whose speakers are held out");
  verb->add_option("--validate-every", t.validate_every);
  verb->add_option("--patience", t.patience, "Validations without a new best; 0: no stop");
  verb->add_flag("--keep-last", t.keep_last,
                 "Keep the net after the last step, not the best on held-out speakers");
  verb->add_option("--seed", t.seed);
  verb->add_flag("--bf16", t.bf16, "Activations in bfloat16 (CUDA)");
  verb->add_option("--device", t.device, "cpu or cuda");
  verb->callback([&f] { RunEncoder(f); });
}

// Every layer asks for tensors of many megabytes and frees them again; by default the C library
// maps each of them anew, and the system clears its pages: a third of a CPU's time in training
// an encoder. One heap that is never given back keeps them.
void KeepMemory() {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
  mallopt(M_TOP_PAD, 1 << 28);
  mallopt(M_ARENA_MAX, 1);
}

}  // namespace
}  // namespace sotto

namespace {

int Run(int argc, char** argv) {
  CLI::App app("Trains Sotto's nets with libtorch " TORCH_VERSION ".", "sotto-train");
  app.require_subcommand(1);
  app.option_defaults()->always_capture_default();
  sotto::EncoderFlags encoder;
  sotto::AddEncoder(app, encoder);
  sotto::AddContentVerb(app);
  sotto::AddSynthVerb(app);
  sotto::AddAdainVerb(app);
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    sotto::Complain("sotto-train", sotto::FailureText(error));
    return 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  sotto::PrepareBlas(argv, 0);
  sotto::KeepMemory();
  sotto::EscapeStandardStreams();
  return sotto::FinishProgram("sotto-train", Run(argc, argv));
}
