#include "learn/frozen_nets.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "nn/net_testing.h"

namespace sotto {
namespace {

EcapaOptions SmallSpeaker() {
  EcapaOptions o;
  o.channels = o.aggregation = 16;
  o.attention = o.squeeze = 8;
  o.embedding = 6;
  return o;
}

ContentOptions SmallContent() {
  ContentOptions o;
  o.bottleneck = 3;
  o.teacher = 5;
  o.body = {8, 12, 2, 5, {1, 2}, {2}};
  return o;
}

TEST(FrozenNets, PassGradientsOnAndDoNotLearn) {
  const TensorFile judge = RandomNet(SmallSpeaker(), true);
  FrozenSpeakerEncoder speaker(judge, ReadJudge(judge, 6), torch::kCPU);
  FrozenContentEncoder encoder(RandomContent(SmallContent()), SmallContent(), torch::kCPU);
  torch::manual_seed(1);
  const torch::Tensor x = (0.1 * torch::randn({2, 8000})).requires_grad_(true);
  const torch::Tensor voice = speaker(x), content = encoder(x);
  EXPECT_EQ(voice.sizes(), (std::vector<std::int64_t>{2, 6, 1}));
  EXPECT_EQ(content.size(1), 3);
  (voice.square().sum() + content.square().sum()).backward();
  EXPECT_GT(x.grad().abs().max().item<float>(), 0.0F);
  EXPECT_TRUE(torch::equal(speaker(x.detach()), voice));  // no running statistics moved
}

TEST(FrozenNets, HearTheStudentsMelsAndMakeTheFeaturesEmbeddingsOrAreRefused) {
  EcapaOptions other = SmallSpeaker();
  EXPECT_EQ(ReadJudge(RandomNet(other, true), 6).embedding, 6);
  EXPECT_THROW(ReadJudge(RandomNet(other, true), 5), Error);
  other.mels = 40;
  EXPECT_THROW(ReadJudge(RandomNet(other, true), 6), Error);
}

}  // namespace
}  // namespace sotto
