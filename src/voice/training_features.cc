#include "voice/training_features.h"

#include <fmt/format.h>

#include <mutex>

#include "base/error.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "dsp/f0.h"
#include "dsp/fbank.h"
#include "nn/safetensors.h"

namespace sotto {
namespace {

std::vector<float> Samples(const SpeechPack& pack, const PackedUtterance& u, std::size_t most) {
  std::vector<float> x(std::min<std::size_t>(u.count, most));
  for (std::size_t k = 0; k < x.size(); ++k) {
    x[k] = static_cast<float>(pack.samples[u.begin + k]) / 32768.0f;
  }
  return x;
}

}  // namespace

std::vector<float> SynthesisF0(std::span<const float> x) {
  const std::vector<double> fine = EstimateF0(x, 16000);  // every 5 ms
  std::vector<float> f0(static_cast<std::size_t>(PitchFrames(x.size())));
  for (std::size_t t = 0; t < f0.size(); ++t) {
    f0[t] = static_cast<float>(fine[std::min(2 * t + 1, fine.size() - 1)]);
  }
  return f0;
}

Eigen::Map<const Eigen::MatrixXf> AsMatrix(const Features& mels) {
  return {mels.values.data(), static_cast<Eigen::Index>(mels.dimension),
          static_cast<Eigen::Index>(mels.frames)};
}

FeaturePack MakeFeatures(const SpeechPack& pack, const MoonshineContent& teacher,
                         const SpeakerEncoder& encoder, int jobs) {
  if (pack.rate_hz != 16000) throw Error("features are made of speech at 16000 Hz");
  FeaturePack features;
  features.state_size = MoonshineContent::kStateSize;
  features.embedding_size = static_cast<std::int64_t>(encoder.Dimension());
  features.teacher = MoonshineContent::kName;
  features.encoder = encoder.WeightsFingerprint();
  features.utterances.resize(pack.utterances.size());
  std::mutex mutex;
  std::size_t failed = 0;
  std::string first;
  const std::size_t n = pack.utterances.size();
  Progress progress("features", n, static_cast<double>(n));
  ParallelFor(n, jobs, [&](std::size_t i) {
    const PackedUtterance& u = pack.utterances[i];
    const std::vector<float> x = Samples(pack, u, u.count);
    UtteranceFeatures& out = features.utterances[i];
    try {
      out.embedding = encoder.Embed(x, pack.rate_hz);
      out.f0_hz = SynthesisF0(x);
      const Eigen::MatrixXf states = teacher.States(x);
      out.states.resize(static_cast<std::size_t>(states.size()));
      std::transform(states.data(), states.data() + states.size(), out.states.begin(),
                     HalfFromFloat);
    } catch (const Error& error) {
      const std::lock_guard lock(mutex);
      ++failed;
      if (first.empty()) first = fmt::format("'{}': {}", u.id, error.what());
    }
    progress.Done(1.0, static_cast<double>(u.count) / pack.rate_hz);
  });
  if (failed > 0) {
    throw Error(fmt::format("no features of {} of {} utterances; {}", failed, n, first));
  }
  for (const PackedUtterance& u : pack.utterances) features.ids.push_back(u.id);
  return features;
}

void UseSpeakerVectors(const SpeechPack& pack, const AdainNet& net, int jobs,
                       FeaturePack& features) {
  RequireMatch(pack, features);
  constexpr std::size_t kMostSamples = 160000;
  features.embedding_size = net.Options().embedding;
  features.encoder = Fingerprint(net.File());
  ParallelFor(pack.utterances.size(), jobs, [&](std::size_t i) {
    const Features mels =
        LogMel(Samples(pack, pack.utterances[i], kMostSamples), FbankOptions::Encoder());
    if (mels.frames == 0) {
      throw Error(fmt::format("'{}' is too short for a speaker vector", pack.utterances[i].id));
    }
    const Eigen::VectorXf voice = net.Speaker(AsMatrix(mels));
    features.utterances[i].embedding.assign(voice.data(), voice.data() + voice.size());
  });
}

}  // namespace sotto
