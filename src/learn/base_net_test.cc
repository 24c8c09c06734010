#include "learn/base_net.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "learn/torch_backend.h"
#include "nn/content.h"
#include "nn/net_testing.h"

namespace sotto {
namespace {

ContentOptions Small(std::vector<std::int64_t> ahead) {
  ContentOptions o;
  o.mels = 4;
  o.bottleneck = 3;
  o.teacher = 5;
  o.body = {8, 12, 2, 5, {1, 2}, std::move(ahead)};
  return o;
}

// The net as it comes into being, with the values of `base`.
torch::Tensor Output(const ContentOptions& options, const TensorFile& base, std::int64_t frames) {
  torch::NoGradGuard no_grad;
  TorchBackend backend(torch::kCPU);
  ContentStudent<TorchBackend> net(options, backend);
  const torch::Tensor x = torch::linspace(-3.0, 9.0, 4 * frames).sin().view({1, 4, frames});
  net.Forward(x);
  BeginFrom(base, ReadContentOptions(base).body, options.body, backend);
  return net.Forward(x);
}

TEST(BaseNet, TheSameNetComesOutAndTapsKeepTheirPlaceInTime) {
  TensorFile base = RandomContent(Small({2}));
  // Nothing of the future in it: then the net with a bounded look-ahead is the same.
  for (int block = 0; block < 2; ++block) {
    auto& taps = base.tensors.at("blocks." + std::to_string(block) + ".depthwise.weight").values;
    for (std::size_t i = 0; i < taps.size(); ++i) {
      if (i % 5 > 2) taps[i] = 0.0F;  // two before, the frame itself, two after
    }
  }
  const torch::Tensor whole = Output(Small({2}), base, 40), causal = Output(Small({0}), base, 40);
  EXPECT_GT(whole.abs().max().item<float>(), 1e-3F);
  EXPECT_LT((whole - causal).abs().max().item<float>(), 1e-5F);
  // And back.
  EXPECT_LT((Output(Small({1, 0}), base, 40) - whole).abs().max().item<float>(), 1e-5F);
}

TEST(BaseNet, ADeeperNetBeginsAsTheSameFunction) {
  const TensorFile base = RandomContent(Small({2}));
  ContentOptions deeper = Small({2});
  deeper.body.blocks = 5;
  deeper.attend_every = 2;
  const torch::Tensor shallow = Output(Small({2}), base, 40), deep = Output(deeper, base, 40);
  EXPECT_GT(shallow.abs().max().item<float>(), 1e-3F);
  EXPECT_LT((shallow - deep).abs().max().item<float>(), 1e-5F);
}

TEST(BaseNet, AnotherSizeIsAnError) {
  const TensorFile base = RandomContent(Small({2}));
  ContentOptions wider = Small({2});
  wider.body.channels = 10;
  EXPECT_THROW(Output(wider, base, 8), Error);
}

}  // namespace
}  // namespace sotto
