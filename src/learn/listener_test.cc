#include "learn/listener.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "nn/onnx_weights.h"
#include "onnx/testing.h"
#include "voice/moonshine_content.h"

namespace sotto {
namespace {

using torch::Tensor;

// Something with harmonics and pauses.
std::vector<float> Sound(std::size_t n) {
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double t = static_cast<double>(i) / 16000.0;
    for (int h = 1; h < 20; ++h) {
      x[i] += static_cast<float>(
          0.02 * std::exp(-0.5 * std::pow((h - 5 - 3 * std::sin(9 * t)) / 3, 2)) *
          std::sin(2 * M_PI * h * (120 + 10 * std::sin(4 * t)) * t) * (1.0 + std::sin(17 * t)));
    }
  }
  return x;
}

TEST(Listener, HearsWhatTheRuntimeHears) {
  SOTTO_NEEDS_MODEL("moonshine/encoder_model.onnx");
  const ModelFolders models = testing::TestModels();
  const MoonshineContent runtime(OnnxRuntime::Open(models), models);
  const Listener listener(ReadOnnxWeights(models.Require("moonshine/encoder_model.onnx")),
                          torch::kCPU);
  std::vector<float> x = Sound(40000);
  const Eigen::MatrixXf expected = runtime.States(x);
  const Tensor states = listener(torch::from_blob(x.data(), {1, 40000}));
  ASSERT_EQ(states.size(1), expected.rows());
  ASSERT_EQ(states.size(2), expected.cols());
  const Tensor reference =
      torch::from_blob(const_cast<float*>(expected.data()), {expected.cols(), expected.rows()}).t();
  const double error = ((states[0] - reference).norm() / reference.norm()).item<double>();
  EXPECT_LT(error, 0.1);  // the runtime rounds activations to 8 bits
}

// libtorch's own gelu does not pass this on a CPU (listener.cc).
TEST(Listener, GradientsAreTheSlopesOfWhatItHears) {
  SOTTO_NEEDS_MODEL("moonshine/encoder_model.onnx");
  torch::manual_seed(1);
  const Listener listener(
      ReadOnnxWeights(testing::TestModels().Require("moonshine/encoder_model.onnx")), torch::kCPU);
  constexpr int kRows = 8;
  std::vector<float> x = Sound(kRows * 10000);
  const Tensor one = torch::from_blob(x.data(), {kRows, 10000}).clone();
  const Tensor map = torch::randn({4, Listener::kSize});
  const auto hear = [&](const Tensor& sound) { return torch::matmul(map, listener(sound)); };
  const Tensor weights = torch::randn(hear(one).sizes());
  const auto value = [&](const Tensor& sound) { return (hear(sound) * weights).sum({1, 2}); };
  Tensor input = one.clone().requires_grad_(true);
  value(input).sum().backward();
  const Tensor direction = one.roll(37, 1);  // as loud as the sound, and as wide
  const double step = 1e-3;
  torch::NoGradGuard no_grad;
  const Tensor slope =
      (value(one + step * direction) - value(one - step * direction)) / (2.0 * step);
  const Tensor expected = (input.grad() * direction).sum(1);
  for (int row = 0; row < kRows; ++row) {
    EXPECT_NEAR(expected[row].item<double>(), slope[row].item<double>(),
                0.03 * slope.abs().max().item<double>())
        << row;
  }
}

TEST(Listener, RefusesOtherWeights) {
  TensorFile other;
  other.tensors["onnx::MatMul_1_quantized"] = {{1, 1}, {1.0F}};
  EXPECT_THROW(Listener(other, torch::kCPU), Error);
}

}  // namespace
}  // namespace sotto
