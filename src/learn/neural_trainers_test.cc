// The trainers of the neural anonymiser on made-up voices, small nets and a few steps.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "base/error.h"
#include "base/testing.h"
#include "dsp/fbank.h"
#include "learn/adain_trainer.h"
#include "learn/bottleneck.h"
#include "learn/content_trainer.h"
#include "learn/fresh_speech.h"
#include "learn/listener.h"
#include "learn/spectral_losses.h"
#include "learn/synth_trainer.h"
#include "learn/testing.h"
#include "nn/content.h"
#include "nn/net_testing.h"
#include "nn/onnx_weights.h"
#include "nn/synth.h"
#include "onnx/testing.h"

namespace sotto {
namespace {

ContentTraining SmallContent() {
  ContentTraining t;
  t.net.bottleneck = 4;
  t.net.body = {24, 48, 2, 5, {1, 2}, {2}};
  t.run.steps = 40;
  t.run.warm_up = 5;
  t.run.validate_every = 20;
  t.run.learning_rate = 4e-3;
  t.hold_out.count = 2;
  t.batch = 9;
  t.frames = 40;
  t.speaker_directions = 2;
  t.change.augmented = 0.2;
  t.run.average = 0.9;
  return t;
}

// After a few steps.
TensorFile BegunStudent(const Corpus& corpus) {
  ContentTraining t = SmallContent();
  t.run.steps = 10;
  return TrainContent(corpus.pack, corpus.features, t).file;
}

SynthTraining SmallSynth() {
  SynthTraining t;
  t.net.condition = 6;
  t.net.body = {32, 64, 2, 5, {1}, {2}};
  t.run.steps = 30;
  t.run.warm_up = 3;
  t.run.validate_every = 15;
  t.run.learning_rate = 4e-3;
  t.hold_out.count = 2;
  t.batch = 6;
  t.frames = 24;
  t.margin = 4;
  t.critic_channels = 4;
  t.critics_from = 0.5;
  t.converted = 2;
  t.run.average = 0.8;
  return t;
}

EcapaOptions SmallJudge() {
  EcapaOptions judge;
  judge.channels = 16;
  judge.aggregation = 16;
  judge.attention = judge.squeeze = 8;
  judge.embedding = kEmbedding;
  return judge;
}

AdainTraining SmallAdain() {
  AdainTraining t;
  t.net.bottleneck = 8;
  t.net.embedding = 12;
  t.net.content = {32, 64, 2, 5, {1}, {2}};
  t.net.speaker = {16, 32, 1, 5, {1}, {2}};
  t.net.decoder = {32, 64, 2, 5, {1}, {2}};
  t.run.steps = 30;
  t.run.warm_up = 3;
  t.run.validate_every = 15;
  t.run.learning_rate = 4e-3;
  t.hold_out.count = 2;
  t.batch = 6;
  t.frames = 40;
  t.margin = 4;
  t.voice_frames = 40;
  t.critic_channels = 4;
  t.critics_from = 0.5;
  t.converted = 2;
  t.run.average = 0.8;
  return t;
}

TEST(SpeechData, CutsTheSamePlacesOutOfEverything) {
  torch::manual_seed(1);
  const Corpus corpus = MadeUp();
  const SpeechData data(corpus.pack, corpus.features, {1, {}}, {}, 1, torch::kCPU);
  EXPECT_EQ(data.HeldOut().size(), static_cast<std::size_t>(kUtterances));
  const Crops crops = data.Draw(5, 10);
  const torch::Tensor x = data.Samples(crops, 3200);
  for (int row = 0; row < 5; ++row) {
    const auto u = static_cast<std::size_t>(crops.utterance[row].item<std::int64_t>());
    const auto start = static_cast<std::uint64_t>(crops.start[row].item<std::int64_t>());
    const PackedUtterance& utterance = corpus.pack.utterances[u];
    EXPECT_EQ(x[row][7].item<float>(),
              corpus.pack.samples[utterance.begin + 320 * start + 7] / 32768.0f);
    EXPECT_NEAR(data.F0(crops, 20)[row][5].item<double>(), Pitch(std::stoi(utterance.speaker)),
                1e-3);
    EXPECT_NEAR(data.SpeakerPitch(crops)[row][0].item<double>(),
                std::log(Pitch(std::stoi(utterance.speaker))), 1e-3);
    // The embedding is another utterance's of the same speaker.
    const torch::Tensor other = data.OtherEmbedding(crops)[row].squeeze(1);
    EXPECT_EQ(other.argmax(0).item<std::int64_t>(), std::stoi(utterance.speaker) % kEmbedding);
    EXPECT_NEAR(other.norm().item<double>(), std::sqrt(static_cast<double>(kEmbedding)), 1e-3);
  }
  const Crops others = data.Other(crops, 10);
  for (int row = 0; row < 5; ++row) {
    const auto u = static_cast<std::size_t>(crops.utterance[row].item<std::int64_t>());
    const auto other = static_cast<std::size_t>(others.utterance[row].item<std::int64_t>());
    EXPECT_NE(u, other);
    EXPECT_EQ(corpus.pack.utterances[u].speaker, corpus.pack.utterances[other].speaker);
    EXPECT_LE(others.start[row].item<std::int64_t>(), 17777 / 320 - 10);
  }
  EXPECT_TRUE(data.Other(crops, 10, true).start.equal(torch::zeros({5}, torch::kInt64)));
  // A table that counts content frames shows where the rows come from.
  const torch::Tensor table = torch::arange(data.ContentTotal(), torch::kFloat32).unsqueeze(1);
  const torch::Tensor content = data.Content(table, crops, 8, 1.25);
  for (int row = 0; row < 5; ++row) {
    const double begin =
        static_cast<double>(data.ContentBegin(crops.utterance[row].item<std::int64_t>()) +
                            crops.start[row].item<std::int64_t>());
    EXPECT_NEAR(content[row][0][4].item<double>(), begin + 4.5 * 1.25 - 0.5, 1e-2);
  }
}

TEST(Bottleneck, RemovesTheSpeakerAndKeepsTheRest) {
  const Corpus corpus = MadeUp();
  const SpeechData data(corpus.pack, corpus.features, {1, {}}, {}, 1, torch::kCPU);
  const std::vector<std::int64_t> utterances = ProbeUtterances(data, 100);
  ASSERT_EQ(utterances.size(), static_cast<std::size_t>((kSpeakers - 1) * kUtterances));
  std::vector<std::int64_t> speakers;
  speakers.reserve(utterances.size());
  for (const std::int64_t u : utterances) {
    speakers.push_back(data.Speakers()[static_cast<std::size_t>(u)]);
  }
  const auto probe = [&](std::int64_t directions, double* kept) {
    const Bottleneck b = FitBottleneck(data, 4, directions);
    *kept = b.kept;
    return SpeakerProbe(TimeMeans(data, BottleneckTable(data, b), utterances), speakers);
  };
  double with = 0.0, without = 0.0;
  EXPECT_GT(probe(0, &with), 0.6);
  EXPECT_LT(probe(2, &without), 0.5);
  EXPECT_GT(without, 0.75 * with);
  EXPECT_THROW(FitBottleneck(data, kStates, 1), Error);
}

TEST(MelDistance, IsZeroForTheSameAndGrowsWithNoise) {
  torch::manual_seed(1);
  const torch::Tensor x = torch::randn({2, 4000}) * 0.05;
  const MelDistance distance(torch::kCPU);
  EXPECT_EQ(distance(x, x).item<double>(), 0.0);
  const double little = distance(x, x + torch::randn_like(x) * 0.005).item<double>();
  const double much = distance(x, x + torch::randn_like(x) * 0.05).item<double>();
  EXPECT_GT(little, 0.0);
  EXPECT_GT(much, 2.0 * little);
}

TEST(ContentTraining, LearnsTheTeachersStatesAndGoesOnFromACheckpoint) {
  const testing::TemporaryFolder folder;
  const Corpus corpus = MadeUp();
  ContentTraining t = SmallContent();
  t.run.checkpoint = folder / "checkpoint";
  const TrainedContent trained = TrainContent(corpus.pack, corpus.features, t);
  ASSERT_EQ(trained.curve.size(), 3u);
  EXPECT_LT(trained.curve.back()["loss"], trained.curve[1]["loss"]);
  EXPECT_LT(trained.curve.back()["held_out_error"], trained.curve.front()["held_out_error"]);
  // In use: the file as it is stored, without libtorch.
  WriteTensorFile(folder / "content", trained.file, StoredAs::kFloat16);
  const ContentNet net(ReadTensorFile(folder / "content"));
  const Features mels = LogMel(Utterance(1, 1, 17777), FbankOptions::Encoder());
  const Eigen::MatrixXf z =
      net.Encode(Eigen::Map<const Eigen::MatrixXf>(mels.values.data(), 80,
                                                   static_cast<Eigen::Index>(mels.frames)),
                 ContentFrames(17777));
  EXPECT_EQ(z.cols(), 56);
  EXPECT_TRUE(z.allFinite());
  t.run.resume = folder / "checkpoint";
  t.run.steps = 45;
  const TrainedContent more = TrainContent(corpus.pack, corpus.features, t);
  EXPECT_EQ(more.curve.front().step, 40);
  EXPECT_NEAR(more.curve.front()["held_out_error"], trained.curve.back()["held_out_error"], 1e-4);
}

TEST(ContentTraining, StoppedAndTakenUpIsAsInOneGo) {
  const testing::TemporaryFolder folder;
  const Corpus corpus = MadeUp();
  ContentTraining t = SmallContent();
  t.run.final_learning_rate = t.run.learning_rate;  // does not depend on where the end is
  t.dropout = 0.1;
  t.run.steps = 8;
  const TrainedContent whole = TrainContent(corpus.pack, corpus.features, t);
  t.run.steps = 3;
  t.run.checkpoint = folder / "checkpoint";
  TrainContent(corpus.pack, corpus.features, t);
  t.run.steps = 8;
  t.run.resume = t.run.checkpoint;
  const TrainedContent more = TrainContent(corpus.pack, corpus.features, t);
  EXPECT_EQ(Fingerprint(more.file), Fingerprint(whole.file));
}

TEST(SynthTraining, LearnsToSpeakAndGoesOnFromACheckpoint) {
  const testing::TemporaryFolder folder;
  const Corpus corpus = MadeUp();
  const TensorFile content = BegunStudent(corpus);
  const TensorFile encoder = RandomNet(SmallJudge(), true);
  SynthTraining t = SmallSynth();
  t.run.checkpoint = folder / "checkpoint";
  const TrainedSynth trained = TrainSynth(corpus.pack, corpus.features, content, &encoder, t);
  ASSERT_EQ(trained.curve.size(), 3u);
  EXPECT_LT(trained.curve.back()["mel"], 0.8 * trained.curve[1]["mel"]);
  EXPECT_LT(trained.curve.back()["held_out_mel"], trained.curve.front()["held_out_mel"]);
  EXPECT_GT(trained.curve.back()["critic"], 0.0);
  // In use.
  WriteTensorFile(folder / "synth", trained.file, StoredAs::kFloat16);
  const SynthNet net(ReadTensorFile(folder / "synth"));
  SynthStream stream(net, std::vector<float>(kEmbedding, 1.0f), 1);
  std::vector<float> out;
  for (int j = 0; j < 56; ++j) {
    const std::array<double, 2> f0 = {120.0, 121.0};
    const std::array<bool, 2> voiced = {true, true};
    stream.Push(Eigen::VectorXf::Zero(4), f0, voiced, out);
  }
  stream.Finish(out);
  ASSERT_EQ(out.size(), 56u * 320u);
  double power = 0.0;
  for (const float v : out) {
    ASSERT_TRUE(std::isfinite(v));
    power += double{v} * v;
  }
  EXPECT_GT(power, 0.0);
  t.run.resume = folder / "checkpoint";
  t.run.steps = 33;
  const TrainedSynth more = TrainSynth(corpus.pack, corpus.features, content, &encoder, t);
  EXPECT_EQ(more.curve.front().step, 30);
  EXPECT_NEAR(more.curve.front()["held_out_mel"], trained.curve.back()["held_out_mel"], 0.02);
  t.net.body.channels = 16;  // another net than the checkpoint's
  EXPECT_THROW(TrainSynth(corpus.pack, corpus.features, content, &encoder, t), Error);
}

TEST(SynthTraining, AListenerHearsWhatIsMade) {
  SOTTO_NEEDS_MODEL("moonshine/encoder_model.onnx");
  const TensorFile listener =
      ReadOnnxWeights(testing::TestModels().Require("moonshine/encoder_model.onnx"));
  const Corpus corpus = MadeUp(Listener::kSize);
  const TensorFile encoder = RandomNet(SmallJudge(), true);
  const TensorFile content = BegunStudent(corpus);
  SynthTraining t = SmallSynth();
  t.frames = 40;
  t.critics_from = 0.0;
  t.run.steps = 2;
  t.listener = listener;
  t.listener_weight = 20.0;
  const TrainedSynth heard = TrainSynth(corpus.pack, corpus.features, content, &encoder, t);
  EXPECT_GT(heard.curve.front()["words_error"], 0.0);
  EXPECT_GT(heard.curve.front()["words_error_student"], 0.0);
  EXPECT_EQ(nlohmann::json::parse(heard.file.Meta("sotto.training"))["listener_weight"], 20.0);
  // The same steps with a listener whom nobody minds: another net.
  t.listener_weight = 0.0;
  const TrainedSynth unheard = TrainSynth(corpus.pack, corpus.features, content, &encoder, t);
  EXPECT_NEAR(unheard.curve.front()["words_error"], heard.curve.front()["words_error"], 1e-3);
  EXPECT_NE(unheard.file.tensors.at("blocks.0.wide.weight").values,
            heard.file.tensors.at("blocks.0.wide.weight").values);
}

TEST(FreshSpeech, IsWhatTheTeacherHearsInIt) {
  SOTTO_NEEDS_MODEL("moonshine/encoder_model.onnx");
  const TensorFile listener =
      ReadOnnxWeights(testing::TestModels().Require("moonshine/encoder_model.onnx"));
  const Corpus corpus = MadeUp(Listener::kSize);
  torch::manual_seed(5);
  const SpeechData data(corpus.pack, corpus.features, {2, {}}, {}, 1, torch::kCPU);
  const Bottleneck bottleneck = FitBottleneck(data, 4, 0);
  const Words teacher(listener, bottleneck, torch::kCPU);
  FreshSpeechOptions o;
  o.speeds = {1.0};
  o.spliced = o.mixed = 0.0;
  std::mt19937_64 random(1);
  const auto power = [](const FreshSpeech::Batch& b) { return b.samples.square().mean(); };
  const FreshSpeech::Batch plain = FreshSpeech(data, teacher, o, random).Draw(5, 40);
  EXPECT_EQ(plain.samples.sizes(), (std::vector<std::int64_t>{5, 40 * kContentHop}));
  EXPECT_EQ(plain.content.sizes(), (std::vector<std::int64_t>{5, 4, 40}));
  EXPECT_TRUE(torch::allclose(plain.content, AtContentFrames(teacher(plain.samples), 40)));
  EXPECT_TRUE(torch::allclose((plain.samples * 32768.0).round(), plain.samples * 32768.0));
  o.mixed = 1.0;  // another voice behind, as loud
  o.mixed_db_low = o.mixed_db_high = 0.0;
  const FreshSpeech::Batch both = FreshSpeech(data, teacher, o, random).Draw(40, 40);
  EXPECT_NEAR((power(both) / power(plain)).item<double>(), 2.0, 0.7);
}

TEST(ContentTraining, FollowsTheTeacherInFreshSpeech) {
  SOTTO_NEEDS_MODEL("moonshine/encoder_model.onnx");
  const Corpus corpus = MadeUp(Listener::kSize);
  ContentTraining t = SmallContent();
  t.run.steps = 3;
  t.fresh = 4;
  EXPECT_THROW(TrainContent(corpus.pack, corpus.features, t), Error);  // whom to ask?
  t.listener = ReadOnnxWeights(testing::TestModels().Require("moonshine/encoder_model.onnx"));
  const TrainedContent fresh = TrainContent(corpus.pack, corpus.features, t);
  EXPECT_EQ(nlohmann::json::parse(fresh.file.Meta("sotto.training"))["fresh"], 4);
  t.fresh = 9;  // the whole batch
  EXPECT_THROW(TrainContent(corpus.pack, corpus.features, t), Error);
  // And while the synthesiser learns: the student's part alone is another then.
  SynthTraining s = SmallSynth();
  s.frames = 40;
  s.run.steps = 2;
  s.distillation = 5.0;
  s.change.mask_frames = 4;
  s.listener = t.listener;
  s.fresh = 3;
  s.fresh_frames = 40;
  const TrainedSynth with = TrainSynth(corpus.pack, corpus.features, fresh.file, nullptr, s);
  s.fresh = 0;
  const TrainedSynth without = TrainSynth(corpus.pack, corpus.features, fresh.file, nullptr, s);
  EXPECT_NE(with.content->tensors.at("blocks.0.wide.weight").values,
            without.content->tensors.at("blocks.0.wide.weight").values);
  s.fresh = 3;
  s.listener.reset();
  EXPECT_THROW(TrainSynth(corpus.pack, corpus.features, fresh.file, nullptr, s), Error);
}

TEST(SynthTraining, AListenerMustHearInTheTeachersStates) {
  const Corpus corpus = MadeUp();
  SynthTraining t = SmallSynth();
  t.frames = 40;
  t.listener = TensorFile{};
  EXPECT_THROW(TrainSynth(corpus.pack, corpus.features, BegunStudent(corpus), nullptr, t), Error);
  t.frames = 38;  // 0.4 s are the least it can hear
  EXPECT_THROW(t.Validate(), Error);
}

TEST(SynthTraining, TheStudentLearnsAlong) {
  const testing::TemporaryFolder folder;
  const Corpus corpus = MadeUp();
  const TensorFile content = BegunStudent(corpus);
  SynthTraining t = SmallSynth();
  t.distillation = 5.0;
  t.change.mask_frames = 4;
  t.change.augmented = 0.2;
  t.run.checkpoint = folder / "checkpoint";
  const TrainedSynth trained = TrainSynth(corpus.pack, corpus.features, content, nullptr, t);
  ASSERT_TRUE(trained.content.has_value());
  EXPECT_LT(trained.curve.back()["student_error"], 0.9 * trained.curve.front()["student_error"]);
  EXPECT_LT(trained.curve.back()["held_out_mel_student"],
            trained.curve.front()["held_out_mel_student"]);
  // The bottleneck stays the teacher's, the rest has moved, and the record says how.
  EXPECT_EQ(trained.content->tensors.at("bottleneck.weight").values,
            content.tensors.at("bottleneck.weight").values);
  EXPECT_NE(trained.content->tensors.at("head.weight").values,
            content.tensors.at("head.weight").values);
  EXPECT_EQ(trained.content->tensors.size(), content.tensors.size());
  const auto record = nlohmann::json::parse(trained.content->Meta("sotto.training"));
  EXPECT_EQ(record["with_synthesiser"]["began_from"], Fingerprint(content));
  EXPECT_GT(record["with_synthesiser"]["probe"], 0.0);
  EXPECT_NO_THROW(ContentNet(*trained.content));
  t.run.resume = folder / "checkpoint";
  t.run.steps = 31;
  const TrainedSynth more = TrainSynth(corpus.pack, corpus.features, content, nullptr, t);
  EXPECT_NEAR(more.curve.front()["student_error"], trained.curve.back()["student_error"], 1e-3);
  // A student with a damaged record is trained all the same.
  TensorFile damaged = content;
  damaged.metadata["sotto.training"] = "{";
  t.run.resume.clear();
  t.run.steps = 1;
  const TrainedSynth other = TrainSynth(corpus.pack, corpus.features, damaged, nullptr, t);
  EXPECT_TRUE(
      nlohmann::json::parse(other.content->Meta("sotto.training")).contains("with_synthesiser"));
  // Without a weight it stays as it is.
  t = SmallSynth();
  t.run.steps = 1;
  EXPECT_FALSE(TrainSynth(corpus.pack, corpus.features, content, nullptr, t).content.has_value());
}

TEST(AdainTraining, LearnsToSpeakAndGoesOnFromACheckpoint) {
  const testing::TemporaryFolder folder;
  const Corpus corpus = MadeUp();
  const TensorFile encoder = RandomNet(SmallJudge(), true);
  AdainTraining t = SmallAdain();
  t.run.checkpoint = folder / "checkpoint";
  const TrainedAdain trained = TrainAdain(corpus.pack, corpus.features, &encoder, t);
  ASSERT_EQ(trained.curve.size(), 3u);
  EXPECT_LT(trained.curve.back()["mel"], 0.8 * trained.curve[1]["mel"]);
  EXPECT_LT(trained.curve.back()["held_out_mel"], trained.curve.front()["held_out_mel"]);
  EXPECT_GT(trained.curve.back()["critic"], 0.0);
  // In use: the file as it is stored, without libtorch.
  WriteTensorFile(folder / "adain", trained.file, StoredAs::kFloat16);
  const AdainNet net(ReadTensorFile(folder / "adain"));
  const Features mels = LogMel(Utterance(1, 1, 17777), FbankOptions::Encoder());
  const Eigen::Map<const Eigen::MatrixXf> heard(mels.values.data(), 80,
                                                static_cast<Eigen::Index>(mels.frames));
  EXPECT_TRUE(net.Encode(heard, 56).allFinite());
  EXPECT_NEAR(net.Speaker(heard).norm(), 1.0f, 1e-4f);
  t.run.resume = folder / "checkpoint";
  t.run.steps = 33;
  const TrainedAdain more = TrainAdain(corpus.pack, corpus.features, nullptr, t);
  EXPECT_EQ(more.curve.front().step, 30);
  EXPECT_NEAR(more.curve.front()["held_out_mel"], trained.curve.back()["held_out_mel"], 0.02);
  EXPECT_EQ(more.curve.back()["encoder_target_cosine"], 0.0);
  t.net.decoder.channels = 16;  // another net than the checkpoint's
  EXPECT_THROW(TrainAdain(corpus.pack, corpus.features, nullptr, t), Error);
}

TEST(NeuralTraining, RefusesWhatCannotBe) {
  AdainTraining adain;
  adain.converted = adain.batch + 1;
  EXPECT_THROW(adain.Validate(), Error);
  SynthTraining synth;
  synth.frames = 33;
  EXPECT_THROW(synth.Validate(), Error);
  ContentTraining content;
  content.speeds = {5.0};
  EXPECT_THROW(content.Validate(), Error);
  const Corpus corpus = MadeUp();
  EXPECT_THROW(SpeechData(corpus.pack, corpus.features, {1, {"nobody"}}, {}, 1, torch::kCPU),
               Error);
  EXPECT_THROW(SpeechData(corpus.pack, corpus.features, {60, {}}, {}, 1, torch::kCPU), Error);
}

}  // namespace
}  // namespace sotto
