#include "attack/protector.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>

#include "audio/testing.h"
#include "base/error.h"
#include "base/testing.h"
#include "dsp/warp.h"
#include "voice/neural_nets.h"
#include "voice/warp_editors.h"

namespace sotto {
namespace {

using testing::SyntheticVowel;

TEST(InverseWarp, UndoesEveryMonotoneWarp) {
  const auto mask = [](double omega) { return VoiceMaskWarp(omega, 0.09, -0.4); };
  for (double omega = 0.0; omega <= M_PI; omega += 0.05) {
    EXPECT_NEAR(InverseWarp(mask, mask(omega)), omega, 1e-9);
  }
  EXPECT_EQ(InverseWarp(mask, 0.0), 0.0);
  EXPECT_EQ(InverseWarp(mask, M_PI), M_PI);
}

// Mean squared difference of log power in 32 equal bands, of 32 ms frames.
std::vector<double> Bands(const std::vector<float>& x) {
  std::vector<double> bands(32, 0.0);
  for (std::size_t k = 0; k < bands.size(); ++k) {
    // Goertzel at the middle of the band, over the whole signal in blocks.
    const double omega = M_PI * (static_cast<double>(k) + 0.5) / 40.0;
    for (std::size_t at = 0; at + 512 <= x.size(); at += 512) {
      double s1 = 0.0, s2 = 0.0;
      for (std::size_t i = 0; i < 512; ++i) {
        const double w = 0.5 - 0.5 * std::cos(2.0 * M_PI * static_cast<double>(i) / 512.0);
        const double s = w * x[at + i] + 2.0 * std::cos(omega) * s1 - s2;
        s2 = s1;
        s1 = s;
      }
      bands[k] += s1 * s1 + s2 * s2 - 2.0 * std::cos(omega) * s1 * s2;
    }
  }
  for (double& band : bands) band = std::log(band + 1e-9);
  return bands;
}

double Distance(const std::vector<float>& a, const std::vector<float>& b) {
  const auto x = Bands(a), y = Bands(b);
  double sum = 0.0;
  for (std::size_t k = 0; k < x.size(); ++k) sum += (x[k] - y[k]) * (x[k] - y[k]);
  return std::sqrt(sum / static_cast<double>(x.size()));
}

std::vector<float> Changed(const SoundChange& change, const std::vector<float>& x,
                           const Utterance& utterance) {
  const std::unique_ptr<StreamTransformer> transformer = change(16000, utterance);
  std::vector<float> y;
  transformer->Push(x, y);
  transformer->Finish(y);
  return y;
}

// The right point of the grid brings the sound nearer to the original than the release is.
TEST(UndoGrid, BringsMcAdamsBack) {
  const std::vector<float> x = SyntheticVowel(2.0, 16000);
  VoiceOptions voice("mcadams");
  voice.Set("alpha", "0.8");
  const Utterance utterance{"u", "s", 0, 0.0, -1.0};
  const Protector protector(voice, Strategy::kPerm, Key::ForExperiment(ExperimentKey(1)), "", {});
  const std::vector<float> y = Changed(protector.Change(), x, utterance);
  const std::vector<Undoing> grid = UndoGrid(voice, false);
  ASSERT_EQ(grid.size(), 1U);
  const std::vector<float> z = Changed(grid[0].change, y, utterance);
  ASSERT_EQ(z.size(), x.size());
  EXPECT_LT(Distance(x, z), 0.5 * Distance(x, y));
  voice.Set("alpha", "0.5:0.9");
  EXPECT_EQ(UndoGrid(voice, false).size(), 8U);
  voice.Use("voicemask");
  EXPECT_GE(UndoGrid(voice, true).size(), 2U);
  voice.Use("vtln");
  EXPECT_EQ(UndoGrid(voice, true).size(), 5U);
}

TEST(Protector, DrawsUnderItsKeyAndAsToldForATrial) {
  const std::vector<float> x = SyntheticVowel(1.0, 16000);
  const VoiceOptions voice("mcadams");
  const auto with = [&](std::uint64_t seed) {
    return Protector(voice, Strategy::kRandom, Key::ForExperiment(ExperimentKey(seed)), "", {});
  };
  const Utterance a{"a", "s", 0, 0.0, -1.0}, b{"b", "s", 0, 0.0, -1.0};
  const auto once = Changed(with(1).Change(), x, a);
  EXPECT_EQ(once, Changed(with(1).Change(), x, a));
  EXPECT_NE(once, Changed(with(2).Change(), x, a));
  EXPECT_NE(once, Changed(with(1).Change(), x, b));
  EXPECT_EQ(once, Changed(with(1).ChangeAs("a"), x, b));
  EXPECT_NE(with(1).Text(), with(2).Text());
}

// Nobody but the releaser has the embedding of a trial.
TEST(Protector, TheMeanOfTheEnrolmentStandsForATrialOfVoiceInd) {
  VoiceOptions voice("neural");
  voice.Set("target", "voice-ind");
  voice.Set("eps", "2.0");
  const SpeakerPool pool = OpenNeuralNets(ReadNeuralOptions(voice)).pool;
  const std::vector<float>& some = pool.voices[0].embedding;
  ModelledVoices voices;
  voices.prints.set.ids = {"enrolled"};
  voices.prints.set.speakers = {"s"};
  voices.prints.set.vectors =
      Eigen::Map<const Eigen::VectorXf>(some.data(), static_cast<Eigen::Index>(some.size()));
  voices.prints.set.vectors(0, 0) += 0.01F;  // no voice of the pool
  const Protector protector(voice, Strategy::kRandom, Key::ForExperiment(ExperimentKey(1)), "",
                            voices);
  const std::vector<float> x = SyntheticVowel(0.5, 16000);
  const Utterance enrolled{"enrolled", "s", 0, 0.0, -1.0};
  EXPECT_EQ(Changed(protector.ChangeAs("trial"), x, enrolled).size(), x.size());
}

// --- the cache ---

// The mean and the size of a signal.
class TinyEncoder : public SpeakerEncoder {
 public:
  std::string Name() const override { return "tiny"; }
  std::size_t Dimension() const override { return 2; }

 protected:
  std::vector<float> Embed16k(std::span<const float> x) const override {
    double squares = 0.0;
    for (const float v : x) squares += v * v;
    ++calls_;
    return {static_cast<float>(squares), static_cast<float>(x.size())};
  }

 public:
  mutable int calls_ = 0;
};

class Louder : public StreamTransformer {
 public:
  explicit Louder(float gain) : gain_(gain) {}
  void Push(std::span<const float> in, std::vector<float>& out) override {
    for (const float v : in) out.push_back(gain_ * v);
  }
  void Finish(std::vector<float>& /*out*/) override {}
  std::size_t LatencySamples() const override { return 0; }

 private:
  const float gain_;
};

TEST(Voiceprinter, EmbedsOnceAndKeepsItToItself) {
  const testing::TemporaryFolder folder;
  testing::WriteWav(folder / "in/s/a.wav", SyntheticVowel(0.5, 16000));
  testing::WriteWav(folder / "in/s/b.wav", SyntheticVowel(0.6, 16000));
  const UtteranceList list = ListUtterances({folder / "in"});
  const TinyEncoder encoder;
  const Voiceprinter printer({&encoder}, {folder / "cache", 1});
  const VoiceprintJob plain{"test", {0, 1}, {}, {}};
  const EmbeddingSet first = printer.Embed(list, plain).front();
  EXPECT_EQ(encoder.calls_, 2);
  EXPECT_EQ(printer.Embed(list, plain).front().vectors, first.vectors);
  EXPECT_EQ(encoder.calls_, 2);
  // Another change is another set.
  const SoundChange half = [](int, const Utterance&) { return std::make_unique<Louder>(0.5F); };
  const EmbeddingSet changed = printer.Embed(list, {"test", {0, 1}, half, "half"}).front();
  EXPECT_EQ(encoder.calls_, 4);
  EXPECT_NEAR(changed.vectors(0, 0), 0.25F * first.vectors(0, 0), 1e-3F * first.vectors(0, 0));
  struct stat status {};
  ASSERT_EQ(::stat((folder / "cache").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
  for (const auto& entry : std::filesystem::directory_iterator(folder / "cache")) {
    ASSERT_EQ(::stat(entry.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U) << entry.path();
  }
  // Another sound under the same name is noticed.
  testing::WriteWav(folder / "in/s/a.wav", SyntheticVowel(0.7, 16000));
  EXPECT_NE(printer.Embed(list, plain).front().vectors, first.vectors);
  EXPECT_EQ(encoder.calls_, 6);
}

TEST(Voiceprinter, ChangesSoundOnceForAllWhoHearIt) {
  const testing::TemporaryFolder folder;
  testing::WriteWav(folder / "in/s/a.wav", SyntheticVowel(0.5, 16000));
  testing::WriteWav(folder / "in/s/b.wav", SyntheticVowel(0.6, 16000));
  const UtteranceList list = ListUtterances({folder / "in"});
  const TinyEncoder one;
  const std::unique_ptr<SpeakerEncoder> two = OpenEncoder(kDefaultEncoder);
  int changed = 0;
  const VoiceprintJob job{"test",
                          {1, 0},
                          [&](int, const Utterance&) {
                            ++changed;
                            return std::make_unique<Louder>(1.0F);
                          },
                          "same"};
  const VoiceprintOptions kept{folder / "cache", 1};
  const EmbeddingSet alone = Voiceprinter({two.get()}, kept).Embed(list, job).front();
  EXPECT_EQ(changed, 2);
  // The one that has not heard it yet does; the other's set comes from the cache.
  const std::vector<EmbeddingSet> both = Voiceprinter({&one, two.get()}, kept).Embed(list, job);
  EXPECT_EQ(changed, 4);
  EXPECT_EQ(one.calls_, 2);
  EXPECT_EQ(both[1].vectors, alone.vectors);
  const std::vector<EmbeddingSet> anew = Voiceprinter({&one, two.get()}, {{}, 1}).Embed(list, job);
  EXPECT_EQ(changed, 6);
  EXPECT_EQ(anew[0].vectors, both[0].vectors);
  EXPECT_EQ(anew[1].vectors, both[1].vectors);
}

TEST(Voiceprinter, CountsWhatFails) {
  const testing::TemporaryFolder folder;
  testing::WriteWav(folder / "in/s/a.wav", SyntheticVowel(0.5, 16000));
  testing::WriteWav(folder / "in/s/b.wav", SyntheticVowel(0.01, 16000));
  const UtteranceList list = ListUtterances({folder / "in"});
  const TinyEncoder encoder;
  try {
    Voiceprinter({&encoder}, {{}, 1}).Embed(list, {"test", {0, 1}, {}, {}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("1 of 2 recordings"), std::string::npos);
  }
  const std::vector<std::string> ids = {list.utterances[0].id, "nobody"};
  EXPECT_THROW(FindUtterances(list, ids, "release"), Error);
}

}  // namespace
}  // namespace sotto
