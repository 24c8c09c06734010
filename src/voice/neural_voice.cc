#include "voice/neural_voice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/tsv.h"
#include "dsp/fbank.h"
#include "voice/content_centre.h"
#include "voice/level_control.h"
#include "voice/resampled.h"
#include "voice/training_features.h"

namespace sotto {
namespace {

constexpr int kRateHz = 16000;
// Content frames around a block: 2.8 s, more than the encoder's convolutions see and than one layer
// of its attention does.
constexpr std::int64_t kContextFrames = 140;
// A second, for the mean of the content: a recording is known as far as its block goes.
constexpr double kCentrePriorFrames = 50.0;

class NeuralTransformer : public StreamTransformer {
 public:
  NeuralTransformer(std::shared_ptr<const VoiceNets> models, const NeuralVoiceOptions& options)
      : models_(std::move(models)),
        o_(options),
        block_(std::max<std::int64_t>(1, std::llround(options.block_s * kRateHz / kContentHop))),
        shape_(models_->Waveform().Shape()),
        synth_(models_->Waveform(), options.target.embedding, options.noise_seed),
        centre_(shape_.content, kCentrePriorFrames),
        level_({options.peak_limit}) {
    if (o_.target.embedding.size() != static_cast<std::size_t>(shape_.embedding)) {
      throw Error(fmt::format("target '{}': an embedding of {}, the synthesiser takes {}",
                              o_.target.name, o_.target.embedding.size(), shape_.embedding));
    }
    if (o_.content_key) noise_.emplace(*o_.content_key);
    if (models_->ContentNoise() > 0.0 && !noise_) {
      throw Error("neural: these nets want noise on the content, and no key was given for it");
    }
    if (o_.pitch == PitchMode::kRandom) throw Error("neural: pitch keep or target is allowed");
  }

  void Push(std::span<const float> in, std::vector<float>& out) override {
    level_.TakeInput(in);
    window_.insert(window_.end(), in.begin(), in.end());
    pushed_ += in.size();
    while (static_cast<std::int64_t>(pushed_) >= (next_ + block_ + kContextFrames) * kContentHop) {
      Speak(next_ + block_, (next_ + block_ + kContextFrames) * kContentHop);
    }
    level_.Deliver(out);
  }

  void Finish(std::vector<float>& out) override {
    if (pushed_ == 0) return;
    const auto samples = static_cast<std::int64_t>(pushed_);
    if (const std::int64_t frames = ContentFrames(samples); frames > next_) Speak(frames, samples);
    synth_.Finish(level_.Sound());
    level_.Finish(out);
  }

  std::size_t LatencySamples() const override {
    // The block and its context, the synthesiser's own pieces and what it sees, the level.
    return static_cast<std::size_t>((block_ + kContextFrames) * kContentHop +
                                    (shape_.piece + shape_.sees.right) * kSynthHop + kRateHz / 2);
  }

 private:
  // Content frames next_ … end − 1 from the samples up to `to`.
  void Speak(std::int64_t end, std::int64_t to) {
    const std::span<const float> x(window_.data(),
                                   static_cast<std::size_t>(to - window_from_ * kContentHop));
    const std::int64_t frames = end - window_from_, skip = next_ - window_from_;
    Eigen::MatrixXf content =
        Content(x, std::max(frames, ContentFrames(static_cast<std::int64_t>(x.size()))));
    if (models_->ContentHasMean()) {
      centre_.Hear(content.middleCols(skip, frames - skip));
      content.colwise() -= centre_.Mean();
    }
    VoicedF0 f0 = CleanF0(SynthesisF0(x));
    Collect(f0, skip, frames);
    const PitchMap map =
        o_.pitch == PitchMode::kTarget ? PitchToTarget(source_, o_.target) : PitchMap{};
    const auto last = f0.f0_hz.size() - 1;
    for (std::int64_t j = skip; j < frames; ++j) {
      std::array<double, 2> hz{};
      std::array<bool, 2> voiced{};
      for (std::size_t i = 0; i < 2; ++i) {
        const std::size_t t = std::min(2 * static_cast<std::size_t>(j) + i, last);
        hz[i] = map.Map(f0.f0_hz[t]);
        if (!o_.bend.empty()) {
          const double seconds =
              0.01 * static_cast<double>(2 * (window_from_ + j)) + 0.01 * static_cast<double>(i);
          hz[i] = std::clamp(hz[i] * o_.bend.front().Factor(seconds), 50.0, 800.0);
        }
        voiced[i] = f0.voiced[t];
      }
      Eigen::VectorXf z = content.col(j);
      if (models_->ContentNoise() > 0.0) {
        for (float& v : z) v += static_cast<float>(models_->ContentNoise() * (*noise_)());
      }
      synth_.Push(z, hz, voiced, level_.Sound());
    }
    next_ = end;
    const std::int64_t keep = std::max(window_from_, next_ - kContextFrames);
    const auto gone = std::min<std::int64_t>((keep - window_from_) * kContentHop,
                                             static_cast<std::int64_t>(window_.size()));
    window_.erase(window_.begin(), window_.begin() + gone);
    window_from_ = keep;
  }

  Eigen::MatrixXf Content(std::span<const float> x, std::int64_t frames) const {
    if (o_.teacher) return models_->FromTeacher(o_.teacher->States(x), frames);
    const Features mels = LogMel(x, FbankOptions::Encoder());
    if (mels.frames == 0) {
      return models_->Encode(
          Eigen::MatrixXf::Constant(FbankOptions::Encoder().bins, 1, kSilentLogMel), frames);
    }
    return models_->Encode(AsMatrix(mels), frames);
  }

  // The source's pitch, as far as it is known by now.
  void Collect(const VoicedF0& f0, std::int64_t skip, std::int64_t frames) {
    const auto end = std::min<std::size_t>(f0.f0_hz.size(), 2 * static_cast<std::size_t>(frames));
    for (auto t = 2 * static_cast<std::size_t>(skip); t < end; ++t) {
      if (f0.voiced[t] && heard_.f0_hz.size() < kMostPitchFrames) {
        heard_.f0_hz.push_back(f0.f0_hz[t]);
        heard_.voiced.push_back(true);
      }
    }
    source_ = PitchStatistics(heard_);
  }

  static constexpr std::size_t kMostPitchFrames = 60 * 100;  // a minute of voice is enough

  const std::shared_ptr<const VoiceNets> models_;
  const NeuralVoiceOptions o_;
  const std::int64_t block_;
  const WaveformShape shape_;
  SynthStream synth_;
  ContentCentre centre_;
  std::optional<KeyedGaussian> noise_;
  VoiceLevel level_;
  std::vector<float> window_;
  std::int64_t window_from_ = 0, next_ = 0;  // content frames
  VoicedF0 heard_;
  PitchLevel source_;
  std::size_t pushed_ = 0;
};

}  // namespace

NeuralModels::NeuralModels(TensorFile content, TensorFile synth)
    : content_(std::move(content)), synth_(std::move(synth)) {
  if (content_.Options().bottleneck != synth_.Options().content) {
    throw Error(fmt::format("{} has a bottleneck of {}, {} takes {}", content_.File().where,
                            content_.Options().bottleneck, synth_.File().where,
                            synth_.Options().content));
  }
  const auto found = synth_.File().metadata.find("sotto.content_noise");
  if (found != synth_.File().metadata.end()) {
    content_noise_ = ParseNumber(found->second, "sotto.content_noise");
  }
}

Eigen::MatrixXf AdainModels::FromTeacher(const Eigen::MatrixXf& /*states*/,
                                         std::int64_t /*frames*/) const {
  throw Error(fmt::format("{}: its content has no teacher", net_.File().where));
}

std::unique_ptr<StreamTransformer> MakeNeuralTransformer(int rate_hz,
                                                         std::shared_ptr<const VoiceNets> models,
                                                         const NeuralVoiceOptions& options) {
  if (rate_hz == kRateHz) {
    return std::make_unique<NeuralTransformer>(std::move(models), options);
  }
  auto transformer = std::make_unique<NeuralTransformer>(std::move(models), options);
  return std::make_unique<Resampled>(std::move(transformer), rate_hz, kRateHz, options.peak_limit);
}

}  // namespace sotto
