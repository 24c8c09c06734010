#include "learn/neural_verbs.h"

#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "learn/adain_trainer.h"
#include "learn/content_trainer.h"
#include "learn/output_flags.h"
#include "learn/synth_trainer.h"
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
    verb.add_option("--pack", packs, "Decoded speech (sotto train pack)")->required();
    verb.add_option("--features", features, "Features of each --pack (sotto train features)")
        ->required();
    verb.add_option("--emphasis", emphasis,
                    "For each --pack: how much more often its utterances are drawn");
    output.Add(verb, "The net, safetensors");
    verb.add_option("--stored", stored, "float16, or int8: matrices as 8-bit integers")
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
    const std::uint64_t offset = data.pack.samples.size();
    for (PackedUtterance u : pack.utterances) {
      u.begin += offset;
      data.pack.utterances.push_back(std::move(u));
    }
    data.pack.samples.insert(data.pack.samples.end(), pack.samples.begin(), pack.samples.end());
    data.features.ids.insert(data.features.ids.end(), features.ids.begin(), features.ids.end());
    for (UtteranceFeatures& u : features.utterances) {
      data.features.utterances.push_back(std::move(u));
    }
  }
  return data;
}

void AddRun(CLI::App& verb, RunOptions& r, HoldOut& h) {
  verb.add_option("--steps", r.steps, "At most");
  verb.add_option("--minutes", r.minutes,
                  "At most; the learning rate falls by whichever of the two ends first (0: steps "
                  "alone)");
  verb.add_option("--warm-up", r.warm_up, "Steps, after a restart too");
  verb.add_option("--learning-rate", r.learning_rate);
  verb.add_option("--final-learning-rate", r.final_learning_rate);
  verb.add_option("--validate-every", r.validate_every);
  verb.add_option("--checkpoint", r.checkpoint, "Written at each validation");
  verb.add_option("--resume", r.resume, "Go on from this checkpoint");
  verb.add_option("--seed", r.seed);
  verb.add_flag("--bf16", r.bf16, "Layers compute in bfloat16 (CUDA)");
  verb.add_option("--device", r.device, "cpu or cuda");
  verb.add_option("--held-out", h.count, "Speakers for validation");
  verb.add_option("--hold-out", h.names, "Speakers who are among them in any case");
}

void AddBody(CLI::App& verb, ConvNextOptions& b, const std::string& part = "") {
  const std::string of = "--" + part;
  verb.add_option(of + "channels", b.channels);
  verb.add_option(of + "hidden", b.hidden);
  verb.add_option(of + "blocks", b.blocks);
  verb.add_option(of + "kernel", b.kernel);
  verb.add_option(of + "dilations", b.dilations, "Of the blocks, in turn");
  verb.add_option(of + "ahead", b.ahead,
                  "Taps after the frame itself, of the blocks in turn: (kernel − 1)/2 looks both "
                  "ways, 0 is causal");
}

void AddChange(CLI::App& verb, HeardChange& c) {
  verb.add_option("--warp", c.warp, "Of the mel axis that the student hears");
  verb.add_option("--augmented", c.augmented, "Share of crops it hears with noise, room, channel");
  verb.add_option("--gain-db", c.gain_db, "Level it hears, up or down");
  verb.add_option("--mask-frames", c.mask_frames, "Widest of two masked stretches");
  verb.add_option("--mask-bands", c.mask_bands, "Widest of two masked bands");
}

void AddFresh(CLI::App& verb, FreshSpeechOptions& o) {
  verb.add_option("--fresh-spliced", o.spliced, "Share of these that is joined of pieces");
  verb.add_option("--fresh-pieces", o.pieces, "So many");
  verb.add_option("--fresh-mixed", o.mixed, "Share of these with another voice behind");
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
  AddRun(*verb, t.run, t.hold_out);
  AddBody(*verb, t.net.body);
  verb->add_option("--bottleneck", t.net.bottleneck, "Size of the states");
  verb->add_option("--bottleneck-from", f->bottleneck_from,
                   "A content encoder whose bottleneck to take instead of fitting one");
  verb->add_option("--base", f->base, "A content encoder to begin with");
  verb->add_option("--attend-every", t.net.attend_every,
                   "Attention behind every so many blocks; 0: none");
  verb->add_option("--attend-reach", t.net.attention.reach,
                   "So many frames of 20 ms to either side");
  verb->add_option("--stem-ahead", t.net.stem_ahead, "Look-ahead of the first layer");
  verb->add_option("--speaker-directions", t.speaker_directions,
                   "Removed from the teacher's states: those that tell speakers apart most");
  verb->add_option("--batch", t.batch);
  verb->add_option("--frames", t.frames, "Of 20 ms in a crop");
  verb->add_option("--margin", t.margin, "Of these at either end without a loss");
  verb->add_option("--speeds", t.speeds)->expected(1, 32);
  auto* listener = verb->add_option("--listener", f->listener,
                                    "Moonshine's encoder (ONNX): the teacher, asked about --fresh");
  verb->add_option("--fresh", t.fresh,
                   "Crops of a batch: speech joined anew from several utterances")
      ->needs(listener);
  AddFresh(*verb, t.fresh_speech);
  AddChange(*verb, t.change);
  verb->add_option("--dropout", t.dropout, "Behind the GELU of every block");
  verb->add_option("--average", t.average);
  verb->add_option("--weight-decay", t.weight_decay);
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
        f->data.output.out, 100.0 * trained.curve.back().error, 100.0 * trained.probe_teacher,
        100.0 * trained.probe_bottleneck, 100.0 * trained.probe_student,
        100.0 * trained.probe_chance);
  });
}

void AddSynthVerb(CLI::App& app) {
  struct Flags {
    DataFlags data;
    std::string content, encoder, base, content_out, content_stored = "float16", listener;
    SynthTraining training;
  };
  auto f = std::make_shared<Flags>();
  SynthTraining& t = f->training;
  CLI::App* verb = app.add_subcommand(
      "synth", "A synthesiser of speech from content, F0 and a speaker embedding.");
  f->data.Add(*verb);
  verb->add_option("--content", f->content, "The content encoder (sotto train content)")
      ->required();
  verb->add_option("--encoder", f->encoder,
                   "The speaker encoder that made the embeddings: judges conversions (without it "
                   "nothing is converted in training)");
  AddRun(*verb, t.run, t.hold_out);
  AddBody(*verb, t.net.body);
  verb->add_option("--base", f->base, "A synthesiser to begin with");
  auto* weight =
      verb->add_option("--distillation", t.distillation,
                       "The content encoder learns along, its own task with this weight");
  auto* out = verb->add_option("--content-out", f->content_out, "Where it is written then");
  verb->add_option("--content-stored", f->content_stored, "And how: float16 or int8")
      ->check(CLI::IsMember({"float16", "int8"}))
      ->needs(out);
  weight->check(CLI::PositiveNumber);
  weight->needs(out);
  out->needs(weight);
  AddChange(*verb, t.change);
  verb->add_option("--dropout", t.dropout, "Behind the GELU of the student's blocks");
  verb->add_option("--listener", f->listener,
                   "Moonshine's encoder (ONNX): hears what is made and what was recorded");
  verb->add_option("--listener-weight", t.listener_weight, "Of the difference between the two");
  verb->add_option("--fresh", t.fresh,
                   "Crops of speech joined anew, in which the student follows the listener");
  AddFresh(*verb, t.fresh_speech);
  verb->add_option("--batch", t.batch);
  verb->add_option("--frames", t.frames, "Of 10 ms in a crop");
  verb->add_option("--margin", t.margin, "Further frames at either end that the net sees");
  verb->add_option("--student", t.student, "Share of crops with the student's content");
  verb->add_option("--mean-embedding", t.mean_embedding,
                   "Share of crops with the speaker's mean embedding");
  verb->add_option("--content-noise", t.content_noise,
                   "Deviation of noise added to the content, in training and in use");
  verb->add_option("--mel-weight", t.mel_weight);
  verb->add_option("--feature-weight", t.feature_weight);
  verb->add_option("--critic-weight", t.critic_weight);
  verb->add_option("--critics-from", t.critics_from, "Part of the run after which critics judge");
  verb->add_option("--critic-channels", t.critic_channels);
  verb->add_option("--converted", t.converted, "Crops of a batch that are converted as well");
  verb->add_option("--mixed", t.mixed, "Of these: share that gets a voice between two speakers");
  verb->add_option("--speaker-weight", t.speaker_weight);
  verb->add_option("--content-weight", t.content_weight);
  verb->add_option("--source-weight", t.source_weight,
                   "For conversions nearer to the source than the voice asked for is");
  verb->add_option("--average", t.average);
  verb->add_option("--weight-decay", t.weight_decay);
  verb->callback([f] {
    f->data.output.Check(f->content_out);
    const Data data = Read(f->data);
    const TensorFile content = ReadTensorFile(f->content);
    const TensorFile encoder = ReadEncoder(f->encoder, data.features);
    if (!f->base.empty()) f->training.base = ReadTensorFile(f->base);
    if (!f->listener.empty()) f->training.listener = ReadOnnxWeights(f->listener);
    const TrainedSynth trained =
        TrainSynth(data.pack, data.features, content, f->encoder.empty() ? nullptr : &encoder,
                   f->training, data.emphasis);
    if (trained.content) {
      WriteTensorFile(f->content_out, *trained.content, Stored(f->content_stored),
                      f->data.output.OnExisting());
    }
    f->data.output.Write(trained.file, Stored(f->data.stored));
    const SynthPoint& last = trained.curve.back();
    fmt::print("{}: held-out mel distance {:.4f} (teacher), {:.4f} (student)\n", f->data.output.out,
               last.held_out_mel, last.held_out_mel_student);
  });
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
  verb->add_option("--encoder", f->encoder,
                   "The speaker encoder that made the embeddings: judges conversions, beside the "
                   "net's own");
  AddRun(*verb, t.run, t.hold_out);
  AddBody(*verb, t.net.content, "content-");
  AddBody(*verb, t.net.speaker, "speaker-");
  AddBody(*verb, t.net.decoder, "decoder-");
  verb->add_option("--bottleneck", t.net.bottleneck, "Size of the content");
  verb->add_option("--embedding", t.net.embedding, "Size of the speaker vector");
  verb->add_option("--batch", t.batch);
  verb->add_option("--frames", t.frames, "Of 10 ms in a crop");
  verb->add_option("--margin", t.margin, "Further frames at either end that the net sees");
  verb->add_option("--voice-frames", t.voice_frames,
                   "Of the speaker's other utterance that the vector is taken from");
  verb->add_option("--content-noise", t.content_noise,
                   "Deviation of noise added to the content in training");
  verb->add_option("--warp", t.warp, "Of the mel axis that the content is taken from");
  verb->add_option("--gain-db", t.gain_db, "Level of the other utterance, up or down");
  verb->add_option("--mel-weight", t.mel_weight);
  verb->add_option("--feature-weight", t.feature_weight);
  verb->add_option("--critic-weight", t.critic_weight);
  verb->add_option("--critics-from", t.critics_from,
                   "Part of the run after which critics judge and voices are converted");
  verb->add_option("--critic-channels", t.critic_channels);
  verb->add_option("--converted", t.converted, "Crops of a batch that are converted as well");
  verb->add_option("--speaker-weight", t.speaker_weight);
  verb->add_option("--content-weight", t.content_weight);
  verb->add_option("--mixed", t.mixed, "Of these: share that gets a voice between two speakers");
  verb->add_option("--spread-weight", t.spread_weight,
                   "Of the squared cosines between the speaker vectors of a batch");
  verb->add_option("--encoder-weight", t.encoder_weight, "Of the verdict of --encoder; 0: none");
  verb->add_option("--average", t.average);
  verb->add_option("--weight-decay", t.weight_decay);
  verb->callback([f] {
    f->data.output.Check();
    const Data data = Read(f->data);
    const TensorFile encoder = ReadEncoder(f->encoder, data.features);
    const TrainedAdain trained =
        TrainAdain(data.pack, data.features, f->encoder.empty() ? nullptr : &encoder, f->training,
                   data.emphasis);
    f->data.output.Write(trained.file, Stored(f->data.stored));
    const AdainPoint& last = trained.curve.back();
    fmt::print(
        "{}: held-out mel distance {:.4f}; conversions: cosine {:.3f} to the target, {:.3f} to "
        "the source\n",
        f->data.output.out, last.held_out_mel, last.target_cosine, last.source_cosine);
  });
}

}  // namespace sotto
