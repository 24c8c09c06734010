// The nets that make speech give the same in use (Eigen) and in training (libtorch).
#include <gtest/gtest.h>

#include <cmath>

#include "learn/flat_parameters.h"
#include "learn/resynthesis.h"
#include "learn/spectral_losses.h"
#include "learn/torch_backend.h"
#include "nn/net_testing.h"

namespace sotto {
namespace {

Eigen::MatrixXf Noise(Eigen::Index rows, Eigen::Index cols, std::uint64_t seed) {
  SeededRng random(seed);
  Eigen::MatrixXf x(rows, cols);
  for (Eigen::Index i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(random.Gaussian());
  return x;
}

torch::Tensor Batch(const Eigen::MatrixXf& x) {
  return torch::from_blob(const_cast<float*>(x.data()), {x.cols(), x.rows()})
      .t()
      .contiguous()
      .unsqueeze(0);
}

double LargestDifference(const torch::Tensor& y, const Eigen::MatrixXf& mine) {
  return (y - Batch(mine)).abs().max().item<double>();
}

TEST(SpeechBackends, GiveTheSameContent) {
  torch::NoGradGuard no_grad;
  ContentOptions both_ways, causal, attends;
  causal.stem_ahead = 0;
  causal.body.ahead = {1, 0, 0};
  attends.attend_every = 2;
  attends.attention.reach = 20;
  for (const ContentOptions& options : {both_ways, causal, attends}) {
    const TensorFile file = RandomContent(options);
    const Eigen::MatrixXf mels = (Noise(80, 120, 1).array() * 3.0f + 12.0f).matrix();
    const Eigen::MatrixXf used = ContentNet(file).Encode(mels, 60);
    TorchBackend backend(torch::kCPU);
    backend.Load(file);
    const torch::Tensor y = ContentStudent<TorchBackend>(options, backend).Forward(Batch(mels));
    ASSERT_EQ(y.size(2), 60);
    EXPECT_LT(LargestDifference(y, used), 1e-4 * used.norm() / std::sqrt(used.size()));
  }
}

TEST(SpeechBackends, GiveTheSameWaveform) {
  torch::NoGradGuard no_grad;
  for (const bool causal : {false, true}) {
    SynthOptions options;
    if (causal) options.body.ahead = {1, 0};
    const TensorFile file = RandomSynth(options);
    constexpr Eigen::Index kFrames = 80;
    std::vector<float> harmonic, noise;
    SourceMaker source(7);
    Eigen::MatrixXf pitch(2, kFrames);
    for (Eigen::Index t = 0; t < kFrames; ++t) {
      const double f0 = 140.0 + 40.0 * std::sin(static_cast<double>(t) / 11.0);
      source.Push(f0, harmonic, noise);
      pitch(0, t) = PitchFeature(f0);
      pitch(1, t) = t % 7 < 4 ? 1.0f : 0.0f;
    }
    source.Finish(harmonic, noise);
    const Eigen::Index n = kFrames * 160;
    const SynthInput<Eigen::MatrixXf> in{Noise(options.content, kFrames / 2, 2), pitch,
                                         Eigen::Map<Eigen::MatrixXf>(harmonic.data(), 1, n),
                                         Eigen::Map<Eigen::MatrixXf>(noise.data(), 1, n),
                                         Noise(options.embedding, 1, 3)};
    const Eigen::MatrixXf used = SynthNet(file).Run(in);
    TorchBackend backend(torch::kCPU);
    backend.Load(file);
    const torch::Tensor y = Synthesiser<TorchBackend>(options, backend)
                                .Forward({Batch(in.content), Batch(in.pitch), Batch(in.harmonic),
                                          Batch(in.noise), Batch(in.embedding)});
    ASSERT_EQ(y.size(2), n);
    const double peak = used.cwiseAbs().maxCoeff();
    ASSERT_GT(peak, 0.01);
    EXPECT_LT(LargestDifference(y, used), 1e-4 * peak);  // the contract: 1e-3 of full scale
  }
}

TEST(SpeechBackends, GiveTheSameConversion) {
  torch::NoGradGuard no_grad;
  const AdainOptions options;
  const TensorFile file = RandomAdain(options);
  const AdainNet net(file);
  TorchBackend backend(torch::kCPU);
  backend.Load(file);
  Adain<TorchBackend> trained(options, backend);
  constexpr Eigen::Index kFrames = 120, kSamples = kFrames * 160;
  const Eigen::MatrixXf mels = (Noise(80, kFrames, 1).array() * 3.0f + 12.0f).matrix();
  const Eigen::MatrixXf content = net.Encode(mels, kFrames / 2);
  EXPECT_LT(LargestDifference(trained.Content(Batch(mels)), content), 1e-3);
  const Eigen::VectorXf voice = net.Speaker(mels);
  const torch::Tensor vector = trained.Speaker(Batch(mels));
  EXPECT_LT(LargestDifference(vector / vector.norm(), voice), 1e-4);
  const SynthInput<Eigen::MatrixXf> in{content, Noise(2, kFrames, 2), Noise(1, kSamples, 3),
                                       Noise(1, kSamples, 4), Noise(options.embedding, 1, 5)};
  const Eigen::MatrixXf used = net.Run(in);
  const torch::Tensor y = trained.Speak({Batch(in.content), Batch(in.pitch), Batch(in.harmonic),
                                         Batch(in.noise), Batch(in.embedding)});
  ASSERT_EQ(y.size(2), kSamples);
  const double peak = used.cwiseAbs().maxCoeff();
  ASSERT_GT(peak, 0.01);
  EXPECT_LT(LargestDifference(y, used), 2e-4 * peak);
}

// Layers in another type than the rest, as on a GPU in bfloat16: every layer must convert.
TEST(SpeechBackends, ComputeLayersInAnotherType) {
  torch::manual_seed(1);
  torch::NoGradGuard no_grad;
  ContentOptions content;
  content.body = {16, 32, 2, 5, {1}, {2}};
  content.attend_every = 1;
  SynthOptions synth;
  synth.body = {16, 32, 2, 5, {1}, {2}};
  TorchBackend plain(torch::kCPU), wide(torch::kCPU);
  wide.SetWork(torch::kFloat64);
  const TensorFile content_file = RandomContent(content), synth_file = RandomSynth(synth);
  const torch::Tensor mels = torch::randn({2, 80, 20}) * 3.0 + 12.0;
  plain.Load(content_file);
  wide.Load(content_file);
  const torch::Tensor z = ContentStudent<TorchBackend>(content, wide).Forward(mels);
  EXPECT_EQ(z.scalar_type(), torch::kFloat32);
  EXPECT_TRUE(
      torch::allclose(z, ContentStudent<TorchBackend>(content, plain).Forward(mels), 1e-3, 1e-4));
  TorchBackend plain_synth(torch::kCPU), wide_synth(torch::kCPU);
  wide_synth.SetWork(torch::kFloat64);
  plain_synth.Load(synth_file);
  wide_synth.Load(synth_file);
  const SynthInput<torch::Tensor> in{torch::randn({2, synth.content, 10}), torch::randn({2, 2, 20}),
                                     torch::randn({2, 1, 3200}), torch::randn({2, 1, 3200}),
                                     torch::randn({2, synth.embedding, 1})};
  const torch::Tensor y = Synthesiser<TorchBackend>(synth, wide_synth).Forward(in);
  EXPECT_EQ(y.scalar_type(), torch::kFloat32);
  EXPECT_TRUE(
      torch::allclose(y, Synthesiser<TorchBackend>(synth, plain_synth).Forward(in), 1e-3, 1e-4));
  AdainOptions adain;
  adain.content = adain.speaker = adain.decoder = {16, 32, 2, 5, {1}, {2}};
  TorchBackend plain_adain(torch::kCPU), wide_adain(torch::kCPU);
  wide_adain.SetWork(torch::kFloat64);
  const TensorFile adain_file = RandomAdain(adain);
  plain_adain.Load(adain_file);
  wide_adain.Load(adain_file);
  const auto convert = [&](TorchBackend& backend) {
    Adain<TorchBackend> net(adain, backend);
    SynthInput<torch::Tensor> input = in;
    input.content = net.Content(mels);
    input.embedding = net.Speaker(mels);
    return net.Speak(input);
  };
  const torch::Tensor converted = convert(wide_adain);
  EXPECT_EQ(converted.scalar_type(), torch::kFloat32);
  EXPECT_TRUE(torch::allclose(converted, convert(plain_adain), 1e-3, 1e-3));
  Critics critics(4, torch::kCPU);
  critics.backend.SetWork(torch::kFloat64);
  EXPECT_EQ(critics(y.squeeze(1)).judgements[0].scalar_type(), torch::kFloat32);
}

TEST(SpeechBackends, MakeTheSameHarmonicSource) {
  std::vector<float> harmonic, noise;
  SourceMaker source(1, 0.5);
  std::vector<float> f0;
  for (int t = 0; t < 50; ++t) {
    f0.push_back(90.3f + 4.0f * static_cast<float>(t));
    source.Push(f0.back(), harmonic, noise);
  }
  source.Finish(harmonic, noise);
  const torch::Tensor y =
      HarmonicSources(torch::tensor(f0).unsqueeze(0), torch::full({1}, 0.5, torch::kFloat64));
  ASSERT_EQ(y.size(1), static_cast<std::int64_t>(harmonic.size()));
  EXPECT_LT((y.squeeze(0) - torch::tensor(harmonic)).abs().max().item<double>(), 1e-4);
}

TEST(FlatParameters, StepsLikeAdamOnSeparateTensors) {
  torch::manual_seed(1);
  TorchBackend flat_backend(torch::kCPU), plain(torch::kCPU);
  const torch::Tensor x = torch::randn({2, 3, 5});
  const auto loss = [&](TorchBackend& b) {
    return b.Linear(torch::tanh(b.Linear(x, "a", 3, 4)), "b", 4, 2).square().mean();
  };
  loss(flat_backend);
  TensorFile file;
  flat_backend.Save(file);
  plain.Load(file);
  loss(plain);
  FlatParameters flat(flat_backend);
  std::vector<torch::Tensor> parameters;
  for (const auto& [name, value] : plain.ParameterMap()) parameters.push_back(value);
  torch::optim::AdamW adam(
      parameters,
      torch::optim::AdamWOptions(1e-2).betas(std::make_tuple(0.8, 0.99)).weight_decay(0.0));
  AdamOptions options;
  options.learning_rate = 1e-2;
  options.weight_decay = 0.0;
  for (int i = 0; i < 5; ++i) {
    adam.zero_grad();
    loss(plain).backward();
    adam.step();
    flat.Spread(true);
    loss(flat_backend).backward();
    flat.Step(options);
  }
  flat.Spread(false);
  EXPECT_NEAR(loss(flat_backend).item<double>(), loss(plain).item<double>(), 1e-6);
}

}  // namespace
}  // namespace sotto
