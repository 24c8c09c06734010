#include "dsp/synthesis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "dsp/vector_math.h"

namespace sotto {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr float kPowerFloor = 1e-16F;

}  // namespace

StreamSynthesiser::StreamSynthesiser(int rate_hz, double frame_period_s, std::size_t fft_size,
                                     std::uint64_t seed)
    : rate_hz_(rate_hz),
      hop_(rate_hz * frame_period_s),
      before_(fft_size / 16 + 1),
      fft_(fft_size),
      rng_(seed) {
  if (hop_ < 1.0 || 2.0 * hop_ + 2.0 > static_cast<double>(fft_size) / 2.0) {
    throw Error(
        fmt::format("frame period {} s: must be 1 sample to a quarter of the FFT ({} points)",
                    frame_period_s, fft_size));
  }
  // The first burst of noise begins a frame before sample 0.
  pending_from_ = -static_cast<std::int64_t>(std::ceil(hop_)) - static_cast<std::int64_t>(before_);
  for (Frame* frame : {&last_, &next_}) {
    frame->log_magnitude.resize(fft_.Bins());
    frame->phase.resize(fft_.Bins());
    frame->aperiodicity.resize(fft_.Bins());
  }
  response_.resize(fft_size);
  for (auto* v : {&log_, &angle_, &re_, &im_, &noise_re_, &noise_im_}) v->resize(fft_.Bins());
}

void StreamSynthesiser::SetFilter(std::span<const float> envelope, Frame& frame) {
  LogInto(envelope, kPowerFloor, frame.log_magnitude);
  for (float& v : frame.log_magnitude) v *= 0.5F;
  // The cepstrum folded onto positive times: its spectrum is log-magnitude + i·minimum phase.
  std::copy(frame.log_magnitude.begin(), frame.log_magnitude.end(), log_.begin());
  fft_.Even(log_);
  const std::size_t half = fft_.Size() / 2;
  const auto scale = 1.0F / static_cast<float>(fft_.Size());
  response_[0] = log_[0] * scale;
  for (std::size_t n = 1; n < half; ++n) response_[n] = 2.0F * scale * log_[n];
  response_[half] = log_[half] * scale;
  std::fill(response_.begin() + static_cast<std::ptrdiff_t>(half) + 1, response_.end(), 0.0F);
  fft_.Forward(response_, re_, frame.phase);
}

void StreamSynthesiser::Place(std::int64_t time) {
  const std::int64_t begin = time + 1 - static_cast<std::int64_t>(before_) - pending_from_;
  const std::size_t size = fft_.Size();
  const auto at = static_cast<std::size_t>(begin);
  if (pending_.size() < at + size) pending_.resize(at + size, 0.0F);
  float* out = pending_.data() + at;
  // The end of the circular response is what rings before its time.
  const std::size_t early_size = before_ - 1;
  const float* early = response_.data() + size - early_size;
  for (std::size_t i = 0; i < early_size; ++i) out[i] += early[i];
  for (std::size_t i = 0; i < size - early_size; ++i) out[early_size + i] += response_[i];
}

void StreamSynthesiser::AddNoise(std::size_t t) {
  // Two frames of noise under a sine window: the powers of neighbouring bursts add up to one.
  const double centre = static_cast<double>(t) * hop_;
  const auto begin = static_cast<std::int64_t>(std::ceil(centre - hop_));
  const auto end = static_cast<std::int64_t>(std::ceil(centre + hop_));
  std::fill(response_.begin(), response_.end(), 0.0F);
  const double step = kPi / (2.0 * hop_), twice = 2.0 * std::cos(step);
  double angle = (static_cast<double>(begin) - centre + hop_) * step;
  double w = std::sin(angle), w_before = std::sin(angle - step);
  for (std::int64_t i = begin; i < end; ++i) {
    response_[static_cast<std::size_t>(i - begin)] = static_cast<float>(w * rng_.Gaussian());
    const double w_next = twice * w - w_before;
    w_before = w;
    w = w_next;
  }
  fft_.Forward(response_, noise_re_, noise_im_);
  ExpPolarInto(next_.log_magnitude, next_.phase, re_, im_);
  for (std::size_t k = 0; k < re_.size(); ++k) {
    const float a = next_.aperiodicity[k];
    const float re = a * (re_[k] * noise_re_[k] - im_[k] * noise_im_[k]);
    im_[k] = a * (re_[k] * noise_im_[k] + im_[k] * noise_re_[k]);
    re_[k] = re;
  }
  re_[0] = 0.0F;
  fft_.Inverse(re_, im_, response_);
  Place(begin);
}

void StreamSynthesiser::AddPulse(double time, double period, double weight) {
  const double whole = std::floor(time);
  const auto delay =
      static_cast<float>((time - whole) * 2.0 * kPi / static_cast<double>(fft_.Size()));
  const auto w = static_cast<float>(weight);
  for (std::size_t k = 0; k < log_.size(); ++k) {
    log_[k] = last_.log_magnitude[k] + w * (next_.log_magnitude[k] - last_.log_magnitude[k]);
    angle_[k] =
        last_.phase[k] + w * (next_.phase[k] - last_.phase[k]) - delay * static_cast<float>(k);
  }
  ExpPolarInto(log_, angle_, re_, im_);
  // One pulse a period has the power of white noise of variance 1 when its energy is the period.
  const auto gain = static_cast<float>(std::sqrt(period));
  for (std::size_t k = 0; k < re_.size(); ++k) {
    const float a = last_.aperiodicity[k] + w * (next_.aperiodicity[k] - last_.aperiodicity[k]);
    const float g = gain * std::sqrt(std::max(0.0F, 1.0F - a * a));
    re_[k] *= g;
    im_[k] *= g;
  }
  im_.back() = 0.0F;
  fft_.Inverse(re_, im_, response_);
  // Pulses of one sign would add an offset: take the sum out with a smooth bump of two periods.
  const double offset = re_[0];
  const auto length = std::min(static_cast<std::size_t>(2.0 * period), fft_.Size() - before_ - 1);
  const double step = 2.0 * kPi / static_cast<double>(length), twice = 2.0 * std::cos(step);
  double c = 1.0, c_before = std::cos(step);
  for (std::size_t n = 0; n < length; ++n) {
    response_[n] -= static_cast<float>(offset * (1.0 - c) / static_cast<double>(length));
    const double c_next = twice * c - c_before;
    c_before = c;
    c = c_next;
  }
  Place(static_cast<std::int64_t>(whole));
}

void StreamSynthesiser::AddPulses(std::size_t t) {
  // Samples between frames t − 1 (last_) and t (next_). At a change of voicing each half keeps its
  // own frame.
  const double from = static_cast<double>(t - 1) * hop_;
  const auto begin = static_cast<std::int64_t>(std::ceil(from));
  const auto end = static_cast<std::int64_t>(std::ceil(from + hop_));
  const bool both = last_.f0_hz > 0.0 && next_.f0_hz > 0.0;
  for (std::int64_t i = begin; i < end; ++i) {
    const double u = (static_cast<double>(i) - from) / hop_;
    double f0 = u < 0.5 ? last_.f0_hz : next_.f0_hz, weight = u < 0.5 ? 0.0 : 1.0;
    if (both) f0 = last_.f0_hz + u * (next_.f0_hz - last_.f0_hz), weight = u;
    if (f0 <= 0.0) {
      voiced_ = false;
      continue;
    }
    if (!voiced_) phase_ = 1.0;  // a voice begins with a pulse
    voiced_ = true;
    const double step = f0 / rate_hz_;
    if (phase_ >= 1.0) {
      phase_ -= 1.0;
      // Where F0 falls steeply the pulse would come out more than a sample back, before what is
      // still held.
      AddPulse(static_cast<double>(i) - std::min(1.0, phase_ / step), rate_hz_ / f0, weight);
    }
    phase_ += step;
  }
}

void StreamSynthesiser::Emit(std::int64_t until, std::vector<float>& out) {
  const std::int64_t from = std::max<std::int64_t>(0, pending_from_);
  if (until <= from) return;
  if (pending_.size() < static_cast<std::size_t>(until - pending_from_)) {
    pending_.resize(static_cast<std::size_t>(until - pending_from_), 0.0F);
  }
  const auto first = pending_.begin() + (from - pending_from_);
  const auto last = pending_.begin() + (until - pending_from_);
  out.insert(out.end(), first, last);
  emitted_ += static_cast<std::size_t>(last - first);
  pending_.erase(pending_.begin(), last);
  pending_from_ = until;
}

void StreamSynthesiser::Push(double f0_hz, std::span<const float> envelope,
                             std::span<const float> aperiodicity, std::vector<float>& out) {
  if (envelope.size() != fft_.Bins() || aperiodicity.size() != fft_.Bins()) {
    throw Error(fmt::format("vocoder frame of {} and {} bins: must be {}", envelope.size(),
                            aperiodicity.size(), fft_.Bins()));
  }
  if (!(f0_hz >= 0.0 && f0_hz < rate_hz_ / 4.0)) {
    throw Error(
        fmt::format("F0 of {} Hz: must be 0 (unvoiced) or below {} Hz", f0_hz, rate_hz_ / 4));
  }
  std::swap(last_, next_);
  next_.f0_hz = f0_hz;
  std::copy(aperiodicity.begin(), aperiodicity.end(), next_.aperiodicity.begin());
  SetFilter(envelope, next_);
  AddNoise(count_);
  if (count_ > 0) AddPulses(count_);
  // The next burst of noise begins at this frame, the next pulse less than a sample before it.
  Emit(static_cast<std::int64_t>(static_cast<double>(count_) * hop_) -
           static_cast<std::int64_t>(before_),
       out);
  ++count_;
}

void StreamSynthesiser::Finish(std::size_t samples, std::vector<float>& out) {
  if (emitted_ > samples) {
    throw Error(fmt::format("{} samples were asked for, but the frames gave {} already", samples,
                            emitted_));
  }
  const auto wanted = static_cast<std::int64_t>(samples);
  if (count_ > 0) {
    while (static_cast<std::int64_t>(static_cast<double>(count_ - 1) * hop_) -
               static_cast<std::int64_t>(before_) <
           wanted) {
      last_ = next_;
      AddNoise(count_);
      AddPulses(count_);
      ++count_;
    }
  }
  Emit(wanted, out);
}

}  // namespace sotto
