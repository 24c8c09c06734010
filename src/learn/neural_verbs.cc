#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "learn/adain_trainer.h"
#include "learn/content_trainer.h"
#include "learn/synth_trainer.h"
#include "learn/training_flags.h"
#include "nn/onnx_weights.h"

namespace sotto {
namespace {

// Packs of speech and their features, several of each as one.
struct DataFlags {
  std::vector<std::string> packs, features;
  std::vector<double> emphasis;
  OutputFlags output;
  std::string stored = "float16";

  void Add(CLI::App& verb) {
    Heading(verb, "Corpora");
    verb.add_option("--pack", packs, "Train on this decoded speech (sotto train pack)")->required();
    verb.add_option("--features", features, "Features of each --pack (sotto train features)")
        ->required();
    verb.add_option("--emphasis", emphasis,
                    "Draw the utterances of each --pack this much more often");
    output.Add(verb, "Write the net here, as safetensors");
    verb.add_option("--stored", stored, "Store matrices in half precision or as 8-bit integers")
        ->check(CLI::IsMember({"float16", "int8"}));
  }
};

struct Data {
  SpeechPack pack;
  FeaturePack features;
  std::vector<double> emphasis;
};

Data Read(const DataFlags& flags) {
  if (flags.packs.size() != flags.features.size()) {
    throw Error(fmt::format("{} --pack and {} --features: one of each belongs together",
                            flags.packs.size(), flags.features.size()));
  }
  if (!flags.emphasis.empty() && flags.emphasis.size() != flags.packs.size()) {
    throw Error(
        fmt::format("{} --emphasis for {} --pack", flags.emphasis.size(), flags.packs.size()));
  }
  Data data;
  for (std::size_t i = 0; i < flags.packs.size(); ++i) {
    SpeechPack pack = ReadSpeechPack(flags.packs[i]);
    FeaturePack features = ReadFeaturePack(flags.features[i]);
    try {
      RequireMatch(pack, features);
    } catch (const Error& error) {
      throw Error(
          fmt::format("'{}' and '{}': {}", flags.packs[i], flags.features[i], error.what()));
    }
    data.emphasis.insert(data.emphasis.end(), pack.utterances.size(),
                         flags.emphasis.empty() ? 1.0 : flags.emphasis[i]);
    if (i == 0) {
      data.pack = std::move(pack);
      data.features = std::move(features);
      continue;
    }
    if (features.encoder != data.features.encoder || features.teacher != data.features.teacher ||
        features.state_size != data.features.state_size ||
        features.embedding_size != data.features.embedding_size) {
      throw Error(fmt::format("'{}' was made by another teacher or encoder than '{}'",
                              flags.features[i], flags.features[0]));
    }
    Append(data.pack, pack);
    data.features.ids.insert(data.features.ids.end(), features.ids.begin(), features.ids.end());
    for (UtteranceFeatures& u : features.utterances) {
      data.features.utterances.push_back(std::move(u));
    }
  }
  return data;
}

void AddBody(CLI::App& verb, ConvNextOptions& b, const std::string& part = "") {
  Heading(verb, "Net");
  const std::string of = "--" + part, net = part.empty() ? "the net" : "the " + part + "part";
  verb.add_option(of + "channels", b.channels, "Width of " + net);
  verb.add_option(of + "hidden", b.hidden, "Width inside the blocks of " + net);
  verb.add_option(of + "blocks", b.blocks, "Number of blocks of " + net);
  verb.add_option(of + "kernel", b.kernel, "Taps of each block along time");
  verb.add_option(of + "dilations", b.dilations, "Frames between the taps, of the blocks in turn");
  verb.add_option(of + "ahead", b.ahead,
                  "Taps after the frame itself, of the blocks in turn: (kernel − 1)/2 looks both "
                  "ways, 0 is causal");
}

// The speaker encoder that made the features' embeddings; none: an empty file.
TensorFile ReadEncoder(const std::string& name, const FeaturePack& features) {
  if (name.empty()) return {};
  TensorFile encoder = ReadTensorFile(name);
  if (Fingerprint(encoder) != features.encoder) {
    throw Error(fmt::format("'{}' is not the encoder that made the embeddings ({})", name,
                            features.encoder));
  }
  return encoder;
}

StoredAs Stored(const std::string& name) {
  return name == "int8" ? StoredAs::kInt8 : StoredAs::kFloat16;
}

}  // namespace

void AddContentVerb(CLI::App& app) {
  struct Flags {
    DataFlags data;
    ContentTraining training;
    std::string bottleneck_from, base, listener;
  };
  auto f = std::make_shared<Flags>();
  ContentTraining& t = f->training;
  CLI::App* verb = app.add_subcommand(
      "content",
      "A content encoder (what is said, without who says it), distilled from a teacher.");
  f->data.Add(*verb);
  AddRunFlags(*verb, t.run, t.hold_out);
  AddBody(*verb, t.net.body);
  verb->add_option("--bottleneck", t.net.bottleneck, "Size of the states");
  verb->add_option("--bottleneck-from", f->bottleneck_from,
                   "Take the bottleneck of this content encoder instead of fitting one");
  verb->add_option("--base", f->base, "Begin with the weights of this content encoder");
  verb->add_option("--attend-every", t.net.attend_every,
                   "Put attention behind every so many blocks (0: none)");
  verb->add_option("--attend-reach", t.net.attention.reach,
                   "Frames of 20 ms that attention reaches to either side");
  verb->add_option("--stem-ahead", t.net.stem_ahead, "Look-ahead of the first layer");
  Heading(*verb, "Training");
  AddFlags(*verb, ContentTraining::Table(), t);
  AddFlags(*verb, FreshSpeechOptions::Table(), t.fresh_speech);
  AddFlags(*verb, HeardChange::Table(), t.change);
  auto* listener =
      verb->add_option("--listener", f->listener,
                       "Ask Moonshine's encoder (ONNX), the teacher, about the crops of --fresh");
  verb->get_option("--fresh")->needs(listener);
  verb->callback([f] {
    f->data.output.Check();
    const Data data = Read(f->data);
    if (!f->bottleneck_from.empty()) {
      f->training.bottleneck_of = ReadTensorFile(f->bottleneck_from);
    }
    if (!f->base.empty()) f->training.base = ReadTensorFile(f->base);
    if (!f->listener.empty()) f->training.listener = ReadOnnxWeights(f->listener);
    const TrainedContent trained =
        TrainContent(data.pack, data.features, f->training, data.emphasis);
    f->data.output.Write(trained.file, Stored(f->data.stored));
    fmt::print(
        "{}: held-out error {:.1f} %; a linear probe names the speaker in {:.1f} % (teacher), "
        "{:.1f} % (bottleneck), {:.1f} % (student), {:.1f} % by chance\n",
        f->data.output.out, 100.0 * trained.curve.back()["held_out_error"],
        100.0 * trained.probe_teacher, 100.0 * trained.probe_bottleneck,
        100.0 * trained.probe_student, 100.0 * trained.probe_chance);
  });
}

namespace {

struct SynthFlags {
  DataFlags data;
  std::string content, encoder, base, content_out, content_stored = "float16", listener;
  SynthTraining training;
};

void RunSynth(SynthFlags& f) {
  f.data.output.Check(f.content_out);
  const Data data = Read(f.data);
  const TensorFile content = ReadTensorFile(f.content);
  const TensorFile encoder = ReadEncoder(f.encoder, data.features);
  if (!f.base.empty()) f.training.base = ReadTensorFile(f.base);
  if (!f.listener.empty()) f.training.listener = ReadOnnxWeights(f.listener);
  const TrainedSynth trained =
      TrainSynth(data.pack, data.features, content, f.encoder.empty() ? nullptr : &encoder,
                 f.training, data.emphasis);
  if (trained.content) {
    WriteTensorFile(f.content_out, *trained.content, Stored(f.content_stored),
                    f.data.output.OnExisting());
  }
  f.data.output.Write(trained.file, Stored(f.data.stored));
  const TrainingPoint& last = trained.curve.back();
  fmt::print("{}: held-out mel distance {:.4f} (teacher), {:.4f} (student)\n", f.data.output.out,
             last["held_out_mel"], last["held_out_mel_student"]);
}

}  // namespace

void AddSynthVerb(CLI::App& app) {
  const auto f = std::make_shared<SynthFlags>();
  SynthTraining& t = f->training;
  CLI::App* verb = app.add_subcommand(
      "synth", "A synthesiser of speech from content, F0 and a speaker embedding.");
  f->data.Add(*verb);
  Heading(*verb, "Net");
  verb->add_option("--content", f->content, "Take this content encoder (sotto train content)")
      ->required();
  verb->add_option("--encoder", f->encoder,
                   "Let the speaker encoder that made the embeddings judge conversions (without "
                   "it nothing is converted in training)");
  AddRunFlags(*verb, t.run, t.hold_out);
  AddBody(*verb, t.net.body);
  verb->add_option("--base", f->base, "Begin with the weights of this synthesiser");
  verb->add_option("--listener", f->listener,
                   "Let Moonshine's encoder (ONNX) hear what is made and what was recorded");
  Heading(*verb, "Training");
  AddFlags<ResynthesisOptions>(*verb, ResynthesisOptions::Table(), t);
  AddFlags(*verb, SynthTraining::Table(), t);
  AddFlags(*verb, FreshSpeechOptions::Table(), t.fresh_speech);
  AddFlags(*verb, HeardChange::Table(), t.change);
  auto* weight = verb->get_option("--distillation")->check(CLI::PositiveNumber);
  auto* out = verb->add_option("--content-out", f->content_out,
                               "Write the content encoder that learnt along here");
  verb->add_option("--content-stored", f->content_stored,
                   "Store its matrices in half precision or as 8-bit integers")
      ->check(CLI::IsMember({"float16", "int8"}))
      ->needs(out);
  weight->needs(out);
  out->needs(weight);
  verb->callback([f] { RunSynth(*f); });
}

void AddAdainVerb(CLI::App& app) {
  struct Flags {
    DataFlags data;
    std::string encoder;
    AdainTraining training;
  };
  auto f = std::make_shared<Flags>();
  AdainTraining& t = f->training;
  CLI::App* verb = app.add_subcommand(
      "adain", "A converter of voices by instance normalisation: content, speaker and decoder.");
  f->data.Add(*verb);
  Heading(*verb, "Net");
  verb->add_option("--encoder", f->encoder,
                   "Let the speaker encoder that made the embeddings judge conversions, beside "
                   "the net's own");
  AddRunFlags(*verb, t.run, t.hold_out);
  AddBody(*verb, t.net.content, "content-");
  AddBody(*verb, t.net.speaker, "speaker-");
  AddBody(*verb, t.net.decoder, "decoder-");
  verb->add_option("--bottleneck", t.net.bottleneck, "Size of the content");
  verb->add_option("--embedding", t.net.embedding, "Size of the speaker vector");
  Heading(*verb, "Training");
  AddFlags<ResynthesisOptions>(*verb, ResynthesisOptions::Table(), t);
  AddFlags(*verb, AdainTraining::Table(), t);
  verb->callback([f] {
    f->data.output.Check();
    const Data data = Read(f->data);
    const TensorFile encoder = ReadEncoder(f->encoder, data.features);
    const TrainedAdain trained =
        TrainAdain(data.pack, data.features, f->encoder.empty() ? nullptr : &encoder, f->training,
                   data.emphasis);
    f->data.output.Write(trained.file, Stored(f->data.stored));
    const TrainingPoint& last = trained.curve.back();
    fmt::print(
        "{}: held-out mel distance {:.4f}; conversions: cosine {:.3f} to the target, {:.3f} to "
        "the source\n",
        f->data.output.out, last["held_out_mel"], last["target_cosine"], last["source_cosine"]);
  });
}

}  // namespace sotto
