#include "nn/live_nets.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "nn/net_testing.h"

namespace sotto {
namespace {

Eigen::MatrixXf Noise(Eigen::Index rows, Eigen::Index cols, std::uint64_t seed) {
  SeededRng random(seed);
  Eigen::MatrixXf x(rows, cols);
  for (Eigen::Index i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(random.Gaussian());
  return x;
}

ContentOptions SmallContent(std::int64_t stem_ahead, std::vector<std::int64_t> ahead) {
  ContentOptions o;
  o.mels = 12;
  o.bottleneck = 6;
  o.teacher = 10;
  o.stem_ahead = stem_ahead;
  o.body = {16, 32, 4, 5, {1, 2, 4}, std::move(ahead)};
  return o;
}

SynthOptions SmallSynth(std::vector<std::int64_t> ahead) {
  SynthOptions o;
  o.content = 6;
  o.embedding = 8;
  o.condition = 4;
  o.body = {16, 32, 3, 5, {1, 2}, std::move(ahead)};
  return o;
}

struct Ahead {
  std::int64_t stem;
  std::vector<std::int64_t> blocks;
};
const std::vector<Ahead> kAhead = {{0, {0}}, {0, {1, 0, 0}}, {2, {1, 0}}, {2, {2}}, {4, {4, 1}}};

TEST(LiveContent, RefusesAttention) {
  ContentOptions options = SmallContent(2, {1, 0});
  options.attend_every = 2;
  const ContentNet net(RandomContent(options));
  LiveContent live(net);
  EXPECT_THROW(live.Push(Noise(12, 80, 1)), Error);
}

TEST(LiveContent, GivesWhatOnePieceGives) {
  for (const Ahead& ahead : kAhead) {
    const ContentNet net(RandomContent(SmallContent(ahead.stem, ahead.blocks)));
    const std::int64_t right = net.Options().Sees().right;
    for (const Eigen::Index frames : {1, 3, 80, 161}) {
      const Eigen::MatrixXf mels = Noise(12, frames, 1);
      const std::int64_t content = (frames + 1) / 2;
      const Eigen::MatrixXf whole = net.Encode(mels, content);
      for (const Eigen::Index chunk : {1, 2, 4, 7, 50}) {
        LiveContent live(net);
        Eigen::MatrixXf all(6, content);
        Eigen::Index have = 0;
        const auto take = [&](const Eigen::MatrixXf& piece) {
          ASSERT_LE(have + piece.cols(), content);
          all.middleCols(have, piece.cols()) = piece;
          have += piece.cols();
        };
        for (Eigen::Index at = 0; at < frames; at += chunk) {
          const Eigen::Index end = std::min(at + chunk, frames);
          take(live.Push(mels.middleCols(at, end - at)));
          EXPECT_EQ(have, std::max<Eigen::Index>(0, end / 2 - right));  // as early as it can be
        }
        take(live.Finish(content));
        ASSERT_EQ(have, content);
        EXPECT_LT((all - whole).cwiseAbs().maxCoeff(), 2e-5f) << frames << " by " << chunk;
      }
    }
  }
}

// F0 and voicing of a frame, of no meaning.
double Hz(Eigen::Index t) { return 120.0 + 30.0 * std::sin(static_cast<double>(t) / 9.0); }
bool Voiced(Eigen::Index t) { return t % 3 == 0 || t % 7 == 0; }

TEST(LiveSynth, GivesWhatOnePieceGives) {
  const std::vector<float> embedding = {1, -2, 0.5, 3, 0, 1, 1, -1};
  for (const Ahead& ahead : kAhead) {
    const SynthNet net(RandomSynth(SmallSynth(ahead.blocks)));
    for (const Eigen::Index frames : {1, 2, 45}) {
      const Eigen::MatrixXf content = Noise(6, frames, 7);
      SourceMaker source(5);
      std::vector<float> harmonic, noise, pitch;
      for (Eigen::Index t = 0; t < 2 * frames; ++t) {
        source.Push(Hz(t), harmonic, noise);
        pitch.push_back(PitchFeature(Hz(t)));
        pitch.push_back(Voiced(t) ? 1.0f : 0.0f);
      }
      source.Finish(harmonic, noise);
      using Map = Eigen::Map<const Eigen::MatrixXf>;
      const Eigen::MatrixXf whole =
          net.Run({content, Map(pitch.data(), 2, 2 * frames), Map(harmonic.data(), 1, 320 * frames),
                   Map(noise.data(), 1, 320 * frames), VoiceCondition(embedding)});
      const float largest = whole.cwiseAbs().maxCoeff();
      for (const Eigen::Index chunk : {1, 2, 3, 20}) {
        LiveSynth live(net, embedding, 5);
        std::vector<float> out;
        Eigen::Index pitched = 0;
        for (Eigen::Index at = 0; at < frames; at += chunk) {
          const Eigen::Index end = std::min(at + chunk, frames);
          // The pitch is three frames ahead, at the end as far as there is any.
          for (; pitched < std::min(2 * frames, 2 * end + 3); ++pitched) {
            live.PushPitch(Hz(pitched), Voiced(pitched));
          }
          live.PushContent(content.middleCols(at, end - at), out);
          // Up to where the window of the first frame begins that is not there yet.
          const std::int64_t samples = 160 * (2 * end - 1 - net.Options().body.Sees().right) - 240;
          if (pitched >= 2 * end + 3) {
            EXPECT_EQ(static_cast<std::int64_t>(out.size()), std::max<std::int64_t>(0, samples));
          }
        }
        live.Finish(out);
        ASSERT_EQ(out.size(), static_cast<std::size_t>(whole.cols()));
        for (std::size_t i = 0; i < out.size(); ++i) {
          ASSERT_NEAR(out[i], whole(0, static_cast<Eigen::Index>(i)), 2e-5f * largest + 1e-6f)
              << frames << " by " << chunk << " at " << i;
        }
      }
    }
  }
}

TEST(LiveSynth, ChangesTheVoiceFromThenOn) {
  const SynthNet net(RandomSynth(SmallSynth({1, 0})));
  const Eigen::MatrixXf content = Noise(6, 30, 7);
  const auto run = [&](bool change) {
    LiveSynth live(net, std::vector<float>{1, -2, 0.5, 3, 0, 1, 1, -1}, 5);
    std::vector<float> out;
    for (Eigen::Index j = 0; j < 30; ++j) {
      if (change && j == 15) live.SetVoice(std::vector<float>{-1, 2, 0.5, -3, 1, 1, 0, 2});
      for (Eigen::Index t = 2 * j; t < 2 * j + 2; ++t) live.PushPitch(Hz(t), Voiced(t));
      live.PushContent(content.col(j), out);
    }
    live.Finish(out);
    return out;
  };
  const std::vector<float> a = run(false), b = run(true);
  ASSERT_EQ(a.size(), b.size());
  std::size_t first = 0;
  while (first < a.size() && a[first] == b[first]) ++first;
  EXPECT_GT(first, 20u * 160u);
  EXPECT_LT(first, 34u * 160u);
}

TEST(LiveNets, RefuseWhatDoesNotFit) {
  const SynthNet synth(RandomSynth(SmallSynth({0})));
  EXPECT_THROW(LiveSynth(synth, std::vector<float>(7, 1.0f), 1), Error);
  LiveSynth live(synth, std::vector<float>(8, 1.0f), 1);
  std::vector<float> out;
  EXPECT_THROW(live.PushContent(Eigen::MatrixXf::Zero(5, 1), out), Error);
  live.PushContent(Eigen::MatrixXf::Zero(6, 1), out);
  EXPECT_THROW(live.Finish(out), Error);  // no pitch came
  const ContentNet content(RandomContent(SmallContent(0, {0})));
  LiveContent encoder(content);
  EXPECT_THROW(encoder.Push(Eigen::MatrixXf::Zero(5, 1)), Error);
  EXPECT_THROW(encoder.Finish(3), Error);
}

}  // namespace
}  // namespace sotto
