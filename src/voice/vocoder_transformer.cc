#include "voice/vocoder_transformer.h"

#include <algorithm>
#include <cmath>

#include "dsp/synthesis.h"
#include "voice/level_control.h"
#include "voice/resampled.h"

namespace sotto {
namespace {

constexpr int kMinProcessingRateHz = 16000;
constexpr int kMaxProcessingRateHz = 48000;
constexpr double kHopSeconds = 0.010;  // of the level control, as in McAdams

class VocoderTransformer : public StreamTransformer {
 public:
  VocoderTransformer(int rate_hz, std::unique_ptr<FrameEditor> editor,
                     const VocoderTransformOptions& options)
      : rate_hz_(rate_hz),
        block_s_(options.block_s),
        editor_(std::move(editor)),
        analyser_(rate_hz, {.f0_method = options.f0_method}, options.block_s),
        synthesiser_(rate_hz, VocoderOptions().frame_period_s, VocoderFftSize(rate_hz)),
        hop_(static_cast<std::size_t>(kHopSeconds * rate_hz)),
        peaks_(hop_, options.peak_limit) {}

  void Push(std::span<const float> in, std::vector<float>& out) override {
    input_.insert(input_.end(), in.begin(), in.end());
    pushed_ += in.size();
    Resynthesise(analyser_.Push(in));
    Level(out);
  }

  void Finish(std::vector<float>& out) override {
    Resynthesise(analyser_.Finish());
    synthesiser_.Finish(pushed_, sound_);
    // Silence brings out the last part of a hop and the one that the peak holder keeps.
    const std::size_t padded = (input_.size() / hop_ + 2) * hop_;
    input_.resize(padded);
    sound_.resize(padded);
    Level(out);
    out.resize(out.size() - (emitted_ - pushed_));
  }

  std::size_t LatencySamples() const override {
    // The block, its second of context, and 100 ms for the synthesis and the level control.
    return static_cast<std::size_t>(std::ceil((block_s_ + 1.1) * rate_hz_));
  }

 private:
  void Resynthesise(VocoderFrames frames) {
    if (frames.Frames() == 0) return;
    editor_->Edit(frames);
    for (std::size_t t = 0; t < frames.Frames(); ++t) {
      synthesiser_.Push(frames.f0_hz[t], frames.Envelope(t), frames.Aperiodicity(t), sound_);
    }
  }

  // Brings what has been synthesised to the loudness of the input, hop by hop.
  void Level(std::vector<float>& out) {
    std::size_t used = 0;
    std::vector<double> in(hop_), block(hop_);
    for (; used + hop_ <= std::min(sound_.size(), input_.size()); used += hop_) {
      const auto begin = static_cast<std::ptrdiff_t>(used);
      std::copy_n(input_.begin() + begin, hop_, in.begin());
      std::copy_n(sound_.begin() + begin, hop_, block.begin());
      loudness_.Process(in, block, peaks_.LostGain());
      for (const double y : peaks_.Process(block)) {
        out.push_back(static_cast<float>(y));
        ++emitted_;
      }
    }
    const auto end = static_cast<std::ptrdiff_t>(used);
    input_.erase(input_.begin(), input_.begin() + end);
    sound_.erase(sound_.begin(), sound_.begin() + end);
  }

  const int rate_hz_;
  const double block_s_;
  const std::unique_ptr<FrameEditor> editor_;
  BlockAnalyser analyser_;
  StreamSynthesiser synthesiser_;
  const std::size_t hop_;
  LoudnessKeeper loudness_;
  PeakHolder peaks_;
  std::vector<float> input_, sound_;  // from sample emitted_ (+ one hop in the peak holder) on
  std::size_t pushed_ = 0, emitted_ = 0;
};

class Chain : public StreamTransformer {
 public:
  Chain(std::unique_ptr<StreamTransformer> first, std::unique_ptr<StreamTransformer> second)
      : first_(std::move(first)), second_(std::move(second)) {}

  void Push(std::span<const float> in, std::vector<float>& out) override {
    between_.clear();
    first_->Push(in, between_);
    second_->Push(between_, out);
  }

  void Finish(std::vector<float>& out) override {
    between_.clear();
    first_->Finish(between_);
    second_->Push(between_, out);
    second_->Finish(out);
  }

  std::size_t LatencySamples() const override {
    return first_->LatencySamples() + second_->LatencySamples();
  }

 private:
  const std::unique_ptr<StreamTransformer> first_, second_;
  std::vector<float> between_;
};

class PitchOnly : public FrameEditor {
 public:
  explicit PitchOnly(PitchMap pitch) : pitch_(pitch) {}
  void Edit(VocoderFrames& frames) override { pitch_.Apply(frames.f0_hz); }

 private:
  const PitchMap pitch_;
};

}  // namespace

std::unique_ptr<StreamTransformer> MakeVocoderTransformer(int rate_hz,
                                                          const MakeFrameEditor& editor,
                                                          const VocoderTransformOptions& options) {
  const int inner_hz = std::clamp(rate_hz, kMinProcessingRateHz, kMaxProcessingRateHz);
  auto transformer = std::make_unique<VocoderTransformer>(inner_hz, editor(inner_hz), options);
  if (inner_hz == rate_hz) return transformer;
  return std::make_unique<Resampled>(std::move(transformer), rate_hz, inner_hz, options.peak_limit);
}

MakeFrameEditor PitchEditor(PitchMap pitch) {
  return [pitch](int) { return std::make_unique<PitchOnly>(pitch); };
}

std::unique_ptr<StreamTransformer> MakeChain(std::unique_ptr<StreamTransformer> first,
                                             std::unique_ptr<StreamTransformer> second) {
  return std::make_unique<Chain>(std::move(first), std::move(second));
}

}  // namespace sotto
