#include "voice/live_voice.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>

#include "base/error.h"
#include "dsp/fbank.h"
#include "nn/live_nets.h"
#include "voice/content_centre.h"
#include "voice/level_control.h"
#include "voice/live_pitch.h"
#include "voice/resampled.h"
#include "voice/training_features.h"

namespace sotto {
namespace {

constexpr int kRateHz = 16000;
constexpr std::size_t kHop = 160;
constexpr std::size_t kCapReach = 1;  // of the level: 10 ms before and behind
// Five seconds, for the mean of the content: what comes next is not known. Word errors on
// libri_eval 11.4 %, with two seconds 11.8, without the centring 11.5: chosen there, and hardly
// different.
constexpr double kCentrePriorFrames = 250.0;

// How many frames of pitch after a frame its window of the source reaches.
std::int64_t SourceAhead(const NeuralModels& models) {
  return (models.Synth().Options().spectrum.window / 2 + kSynthHop - 1) / kSynthHop;
}

// Samples that must have come before content frame j can be spoken, 320·j apart.
std::int64_t ReadyAfter(const NeuralModels& models) {
  // Mel frames 2·(j + ahead) and the one behind it, whose window ends 280 samples after it begins.
  const std::int64_t content = kContentHop * models.Content().Options().Sees().right + 440;
  // Frame 2·j wants the pitch of so many more, which the cleaning delays.
  const auto frames = SourceAhead(models) + static_cast<std::int64_t>(LiveCleanF0::kAhead);
  const std::int64_t tracked = frames + (frames % 2 == 0 ? 1 : 0);  // they come in pairs
  const std::int64_t pitch =
      tracked * kSynthHop + kSynthHop / 2 + static_cast<std::int64_t>(LiveF0::kAheadSamples);
  return std::max(content, pitch);
}

std::size_t Latency(const NeuralModels& models) {
  const SynthOptions& synth = models.Synth().Options();
  // Hop t comes out with hop t + 1, since its level and peaks are held across both: when
  // 160·(t + 2) samples have been made. After content frame j these are 160·(2·j − ahead + 1) −
  // Before. The hops of the input behind it that the level wants came long before.
  const std::int64_t needed = kSynthHop * (synth.body.Sees().right + 1) + synth.spectrum.Before();
  // The next multiple of a content frame, for even and odd t.
  std::int64_t most = 0;
  for (std::int64_t t = 0; t < 2; ++t) {
    const std::int64_t frame = (needed + kSynthHop * t + kContentHop - 1) / kContentHop;
    most = std::max(most, kContentHop * frame - kSynthHop * t);
  }
  return static_cast<std::size_t>(most + ReadyAfter(models) - 1);
}

class LiveTransformer : public StreamTransformer {
 public:
  LiveTransformer(std::shared_ptr<const NeuralModels> models, const NeuralVoiceOptions& options,
                  VoiceAfterPause voice_after_pause)
      : models_(std::move(models)),
        o_(options),
        voice_after_pause_(std::move(voice_after_pause)),
        source_ahead_(SourceAhead(*models_)),
        voice_(options.target),
        mels_(FbankOptions::Encoder()),
        content_(models_->Content()),
        synth_(models_->Synth(), voice_.embedding, options.noise_seed),
        centre_(models_->Synth().Options().content, kCentrePriorFrames),
        level_({options.peak_limit, 0, kCapReach}),
        waiting_(models_->Synth().Options().content, 0) {
    if (o_.content_key) noise_.emplace(*o_.content_key);
    if (models_->ContentNoise() > 0.0 && !noise_) {
      throw Error("neural: these nets want noise on the content, and no key was given for it");
    }
  }

  void Push(std::span<const float> in, std::vector<float>& out) override {
    level_.TakeInput(in);
    Measure(in);
    pushed_ += in.size();
    Take(content_.Push(Counted(mels_.Push(in))));
    for (const double hz : f0_.Push(in)) clean_.Push(hz, pitch_);
    Speak(false);
    level_.Deliver(out);
  }

  void Finish(std::vector<float>& out) override {
    if (pushed_ == 0) return;
    const std::int64_t frames = ContentFrames(static_cast<std::int64_t>(pushed_));
    Features rest = mels_.Finish();
    if (mel_frames_ + rest.frames == 0) {
      rest.frames = 1;
      rest.values.assign(rest.dimension, kSilentLogMel);
    }
    Take(content_.Push(Counted(rest)));
    Take(content_.Finish(frames));
    for (const double hz : f0_.Finish()) clean_.Push(hz, pitch_);
    clean_.Finish(pitch_);  // gives some: F0 looks ahead
    while (pitch_frames_ + static_cast<std::int64_t>(pitch_.size()) < 2 * frames) {
      pitch_.push_back(pitch_.back());
    }
    energies_.resize(pitch_.size());
    Speak(true);
    synth_.Finish(level_.Sound());
    level_.Finish(out);
  }

  std::size_t LatencySamples() const override { return Latency(*models_); }

 private:
  Eigen::MatrixXf Counted(const Features& mels) {
    mel_frames_ += mels.frames;
    return AsMatrix(mels);
  }

  // The energy of each hop.
  void Measure(std::span<const float> in) {
    for (const float x : in) {
      energy_ += double{x} * x;
      if (++measured_ % kHop == 0) {
        energies_.push_back(energy_);
        energy_ = 0.0;
      }
    }
  }

  // Content that waits until its pitch is there.
  void Take(Eigen::MatrixXf content) {
    for (Eigen::Index t = 0; t < content.cols(); ++t) {
      centre_.Hear(content.col(t));
      content.col(t) -= centre_.Mean();
    }
    if (models_->ContentNoise() > 0.0) {
      for (Eigen::Index i = 0; i < content.size(); ++i) {
        content.data()[i] += static_cast<float>(models_->ContentNoise() * (*noise_)());
      }
    }
    const Eigen::Index before = waiting_.cols();
    waiting_.conservativeResize(Eigen::NoChange, before + content.cols());
    waiting_.rightCols(content.cols()) = content;
  }

  // Gives the synthesiser the content whose pitch is there. The voice changes with the content of
  // the time at which the pause was found, so that nothing depends on how the samples came.
  void Speak(bool last) {
    Eigen::Index begun = 0, end = 0;
    const auto speak = [&] {
      if (end > begun) {
        synth_.PushContent(waiting_.middleCols(begun, end - begun), level_.Sound());
      }
      begun = end;
    };
    for (std::size_t i = 0;; ++i) {
      const bool no_more = last && i == pitch_.size();
      for (; end < waiting_.cols() &&
             (pitch_frames_ > 2 * content_frames_ + source_ahead_ || no_more);
           ++end) {
        if (change_at_ && 2 * content_frames_ >= *change_at_) {
          speak();
          synth_.SetVoice(voice_.embedding);
          change_at_.reset();
        }
        ++content_frames_;
      }
      if (i == pitch_.size()) break;
      PushPitch(pitch_[i], energies_[i]);
    }
    speak();
    energies_.erase(energies_.begin(),
                    energies_.begin() + static_cast<std::ptrdiff_t>(pitch_.size()));
    pitch_.clear();
    waiting_ = waiting_.rightCols(waiting_.cols() - end).eval();
  }

  // Moves F0 to the target's level, and draws another target where a pause has become long enough.
  // Content is never half a second behind the pitch: one change waits at most.
  void PushPitch(const PitchFrame& frame, double energy) {
    if (frame.voiced) source_.Add(frame.f0_hz);
    double hz = frame.f0_hz;
    if (o_.pitch == PitchMode::kTarget) {
      hz = PitchToTarget(source_.Model(), voice_).Map(hz);
    }
    if (!o_.bend.empty()) {
      const double seconds = 0.01 * static_cast<double>(pitch_frames_);
      hz = std::clamp(hz * o_.bend.front().Factor(seconds), 50.0, 800.0);
    }
    synth_.PushPitch(hz, frame.voiced);
    ++pitch_frames_;
    if (pauses_.Push(energy, frame.voiced) && voice_after_pause_) {
      voice_ = voice_after_pause_(++pauses_so_far_);
      change_at_ = pitch_frames_;
    }
  }

  const std::shared_ptr<const NeuralModels> models_;
  const NeuralVoiceOptions o_;
  const VoiceAfterPause voice_after_pause_;
  const std::int64_t source_ahead_;
  SpeakerVoice voice_;
  LogMelStream mels_;
  LiveContent content_;
  LiveF0 f0_;
  LiveCleanF0 clean_;
  LivePitchLevel source_;
  PauseFinder pauses_;
  LiveSynth synth_;
  ContentCentre centre_;
  std::optional<KeyedGaussian> noise_;
  VoiceLevel level_;
  double energy_ = 0.0;          // of the hop that is coming
  std::deque<double> energies_;  // of hops, from pitch_frames_ on
  std::vector<PitchFrame> pitch_;
  Eigen::MatrixXf waiting_;                // content frames from content_frames_ on
  std::optional<std::int64_t> change_at_;  // of the voice: frame of the pitch
  std::int64_t pitch_frames_ = 0, content_frames_ = 0;
  std::size_t pauses_so_far_ = 0, mel_frames_ = 0, measured_ = 0;
  std::size_t pushed_ = 0;
};

}  // namespace

std::unique_ptr<StreamTransformer> MakeLiveTransformer(
    int rate_hz, const std::shared_ptr<const NeuralModels>& models,
    const NeuralVoiceOptions& options, VoiceAfterPause voice_after_pause) {
  if (options.teacher) throw Error("neural: the teacher hears whole recordings, not a stream");
  if (options.pitch == PitchMode::kRandom) throw Error("neural: pitch keep or target is allowed");
  std::unique_ptr<StreamTransformer> transformer =
      std::make_unique<LiveTransformer>(models, options, std::move(voice_after_pause));
  if (rate_hz != kRateHz) {
    transformer = std::make_unique<Resampled>(std::move(transformer), rate_hz, kRateHz,
                                              options.peak_limit, ResamplerFilter::kShort);
  }
  const double latency_s = static_cast<double>(transformer->LatencySamples()) / rate_hz;
  if (latency_s > kMostLiveLatencyS) {
    throw Error(fmt::format(
        "{} and {} look too far ahead for a stream at {} Hz: a latency of {:.0f} ms, at most "
        "{:.0f} are allowed",
        models->Content().File().where, models->Synth().File().where, rate_hz, 1000.0 * latency_s,
        1000.0 * kMostLiveLatencyS));
  }
  return transformer;
}

}  // namespace sotto
