#include "dsp/vocoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/error.h"
#include "dsp/aperiodicity.h"
#include "dsp/envelope.h"
#include "dsp/synthesis.h"

namespace sotto {
namespace {

constexpr double kContextS = 1.0;

VocoderFrames EmptyFrames(int rate_hz, const VocoderOptions& options) {
  VocoderFrames frames;
  frames.rate_hz = rate_hz;
  frames.frame_period_s = options.frame_period_s;
  frames.fft_size = VocoderFftSize(rate_hz, options.f0_floor_hz);
  return frames;
}

F0Options ToF0Options(const VocoderOptions& options) {
  return {options.f0_method, options.f0_floor_hz, options.f0_ceil_hz, options.frame_period_s};
}

// Appends frames `first` to `first + f0.size() − 1` of the signal whose sample `origin` is x[0].
void AppendFrames(std::span<const float> x, std::size_t origin, std::size_t first,
                  std::span<const double> f0, const VocoderOptions& options,
                  VocoderFrames& frames) {
  const double hop = frames.rate_hz * frames.frame_period_s;
  EnvelopeAnalyser envelope(frames.rate_hz, frames.fft_size, options.lifter_q1);
  AperiodicityAnalyser aperiodicity(frames.rate_hz, frames.fft_size, options.f0_floor_hz);
  const std::size_t before = frames.Frames();
  frames.f0_hz.insert(frames.f0_hz.end(), f0.begin(), f0.end());
  frames.envelope.resize(frames.Frames() * frames.Bins());
  frames.aperiodicity.resize(frames.Frames() * frames.Bins());
  for (std::size_t i = 0; i < f0.size(); ++i) {
    const auto centre =
        static_cast<std::ptrdiff_t>(std::llround(static_cast<double>(first + i) * hop)) -
        static_cast<std::ptrdiff_t>(origin);
    envelope.Analyse(x, centre, f0[i], frames.Envelope(before + i));
    aperiodicity.Analyse(x, centre, f0[i], frames.Aperiodicity(before + i));
  }
}

}  // namespace

void VocoderOptions::Validate(int rate_hz) const {
  if (rate_hz < 16000 || rate_hz > 48000) {
    throw Error(fmt::format("the vocoder works at 16000 to 48000 Hz, not at {} Hz", rate_hz));
  }
  if (!(f0_floor_hz >= 40.0 && f0_floor_hz < f0_ceil_hz && f0_ceil_hz <= 1000.0)) {
    throw Error(fmt::format("F0 range {} to {} Hz: must lie within 40 to 1000 Hz", f0_floor_hz,
                            f0_ceil_hz));
  }
  if (!(frame_period_s >= 0.001 && frame_period_s <= 0.02)) {
    throw Error(fmt::format("frame period {} s: must be 0.001 to 0.02 s", frame_period_s));
  }
}

std::size_t VocoderFftSize(int rate_hz, double f0_floor_hz) {
  return 2 * std::bit_floor(static_cast<std::size_t>(3.0 * rate_hz / f0_floor_hz + 1.0));
}

std::size_t VocoderFrameCount(std::size_t samples, int rate_hz, double frame_period_s) {
  // The small number keeps 80 samples at 80 samples a frame from becoming 0.999… frames.
  return static_cast<std::size_t>(static_cast<double>(samples) / (rate_hz * frame_period_s) +
                                  1e-9) +
         1;
}

VocoderFrames Analyse(std::span<const float> x, int rate_hz, const VocoderOptions& options) {
  options.Validate(rate_hz);
  VocoderFrames frames = EmptyFrames(rate_hz, options);
  const auto f0 = EstimateF0(x, rate_hz, ToF0Options(options), 0, 0,
                             VocoderFrameCount(x.size(), rate_hz, options.frame_period_s));
  AppendFrames(x, 0, 0, f0, options, frames);
  return frames;
}

std::vector<float> Synthesise(const VocoderFrames& frames, std::size_t samples) {
  const std::size_t values = frames.Frames() * frames.Bins();
  if (frames.envelope.size() != values || frames.aperiodicity.size() != values) {
    throw Error(fmt::format(
        "{} vocoder frames with {} envelope and {} aperiodicity values: must be {} each",
        frames.Frames(), frames.envelope.size(), frames.aperiodicity.size(), values));
  }
  StreamSynthesiser synthesiser(frames.rate_hz, frames.frame_period_s, frames.fft_size);
  std::vector<float> y;
  y.reserve(samples);
  for (std::size_t t = 0; t < frames.Frames(); ++t) {
    // Frames beyond the end would give more samples than were asked for.
    if (static_cast<double>(t) * frames.frame_period_s * frames.rate_hz >
        static_cast<double>(samples))
      break;
    synthesiser.Push(frames.f0_hz[t], frames.Envelope(t), frames.Aperiodicity(t), y);
  }
  synthesiser.Finish(samples, y);
  return y;
}

BlockAnalyser::BlockAnalyser(int rate_hz, const VocoderOptions& options, double block_s)
    : rate_hz_(rate_hz),
      options_(options),
      block_frames_(static_cast<std::size_t>(block_s / options.frame_period_s)),
      context_frames_(static_cast<std::size_t>(std::ceil(kContextS / options.frame_period_s))) {
  options.Validate(rate_hz);
  if (!(block_s >= 1.0 && block_s <= 3600.0)) {
    throw Error(fmt::format("blocks of {} s: must be 1 to 3600 s", block_s));
  }
}

void BlockAnalyser::Drain(std::size_t last_frame, VocoderFrames& out) {
  const std::size_t first = next_frame_ - std::min(next_frame_, context_frames_);
  const double hop = rate_hz_ * options_.frame_period_s;
  // F0 sees the frames to emit, those of the context before them and those held after them.
  const std::size_t seen =
      VocoderFrameCount(held_from_ + held_.size(), rate_hz_, options_.frame_period_s);
  const auto f0 =
      EstimateF0(held_, rate_hz_, ToF0Options(options_), held_from_, first, seen - first);
  const std::span<const double> wanted(f0.data() + (next_frame_ - first), last_frame - next_frame_);
  AppendFrames(held_, held_from_, next_frame_, wanted, options_, out);
  next_frame_ = last_frame;
  // The context twice over: F0 at its first frame needs samples before it.
  const double keep_from =
      (static_cast<double>(next_frame_) - 2.0 * static_cast<double>(context_frames_)) * hop;
  const std::size_t step = F0Decimation(rate_hz_);
  const auto from = static_cast<std::size_t>(std::max(0.0, keep_from)) / step * step;
  if (from > held_from_) {
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(from - held_from_));
    held_from_ = from;
  }
}

VocoderFrames BlockAnalyser::Push(std::span<const float> x) {
  VocoderFrames out = EmptyFrames(rate_hz_, options_);
  const double hop = rate_hz_ * options_.frame_period_s;
  while (!x.empty()) {
    const std::size_t last = next_frame_ + block_frames_;
    const auto needed =
        static_cast<std::size_t>(static_cast<double>(last + context_frames_) * hop) - held_from_;
    const std::size_t take = std::min(x.size(), needed > held_.size() ? needed - held_.size() : 0);
    held_.insert(held_.end(), x.begin(), x.begin() + static_cast<std::ptrdiff_t>(take));
    x = x.subspan(take);
    if (held_.size() >= needed) Drain(last, out);
  }
  return out;
}

VocoderFrames BlockAnalyser::Finish() {
  VocoderFrames out = EmptyFrames(rate_hz_, options_);
  Drain(VocoderFrameCount(held_from_ + held_.size(), rate_hz_, options_.frame_period_s), out);
  return out;
}

}  // namespace sotto
