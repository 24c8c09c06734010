#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "learn/encoder_trainer.h"
#include "learn/training_flags.h"

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

SpeechPack ReadPacks(const EncoderFlags& flags, EncoderTraining& training) {
  SpeechPack pack;
  for (std::size_t i = 0; i < flags.packs.size(); ++i) {
    SpeechPack more = ReadSpeechPack(flags.packs[i]);
    if (i < flags.emphasis.size()) {
      for (const PackedUtterance& u : more.utterances) {
        training.emphasis[u.speaker] = flags.emphasis[i];
      }
    }
    if (i == 0) {
      pack = std::move(more);
    } else {
      Append(pack, more);
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
    auto& held_out = training.hold_out.names;
    held_out.insert(held_out.end(), speakers.begin(), speakers.end());
    Append(pack, more);
  }
  return pack;
}

void RunEncoder(EncoderFlags flags) {
  flags.output.Check();
  const SpeechPack pack = ReadPacks(flags, flags.training);
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

}  // namespace

void AddEncoderVerb(CLI::App& app) {
  const auto f = std::make_shared<EncoderFlags>();
  EncoderTraining& t = f->training;
  CLI::App* verb = app.add_subcommand("encoder", "A speaker encoder from packs of speech.");
  Heading(*verb, "Corpora");
  verb->add_option("--pack", f->packs, "Train on this decoded speech (sotto train pack)")
      ->required();
  verb->add_option("--new-speakers", f->new_speaker_packs,
                   "Train on these packs too; their speakers count as others (altered copies)");
  verb->add_option("--emphasis", f->emphasis,
                   "Draw the speakers of each --pack this much more often");
  f->output.Add(*verb, "Write the encoder here, safetensors in half precision");
  Heading(*verb, "Net");
  verb->add_option("--base", f->base, "Go on from this encoder");
  verb->add_option("--net", f->net, "Make a net of this kind")
      ->check(CLI::IsMember({"ecapa", "xvector"}));
  verb->add_option("--channels", f->channels, "Width of an ECAPA net");
  verb->add_option("--aggregation", f->aggregation, "Width of an ECAPA net before pooling");
  AddRunFlags(*verb, t.run, t.hold_out);
  verb->add_option("--validation", f->validation_packs,
                   "Hold out all speakers of these further packs");
  verb->add_option("--patience", t.run.patience,
                   "Stop after so many validations without a new best (0: never)");
  verb->add_flag("--keep-last{false}", t.run.keep_best,
                 "Keep the net after the last step, not the best on held-out speakers");
  Heading(*verb, "Training");
  AddFlags(*verb, EncoderTraining::Table(), t);
  verb->callback([f] { RunEncoder(*f); });
}

}  // namespace sotto
