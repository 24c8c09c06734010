#include "audio/resampler.h"

#include <fmt/format.h>
#include <soxr.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "audio/sinc_resampler.h"
#include "base/error.h"

namespace sotto {

struct Resampler::Impl {
  soxr_t soxr = nullptr;
  double ratio = 1.0;
  std::optional<SincResampler> short_filter;  // in place of libsoxr
  ~Impl() { soxr_delete(soxr); }

  // in == nullptr tells soxr that the input has ended.
  void Run(const float* in, std::size_t count, std::vector<float>& out) const {
    std::vector<float> block(static_cast<std::size_t>(static_cast<double>(count) * ratio) + 4096);
    while (true) {
      std::size_t used = 0, made = 0;
      const soxr_error_t error =
          soxr_process(soxr, in, count, &used, block.data(), block.size(), &made);
      if (error != nullptr) throw Error(fmt::format("resampling failed: {}", soxr_strerror(error)));
      out.insert(out.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(made));
      if (in != nullptr) {
        in += used;
        count -= used;
        if (count == 0) return;
      } else if (made == 0) {
        return;
      }
    }
  }
};

Resampler::Resampler(double from_hz, double to_hz, ResamplerFilter filter)
    : impl_(std::make_unique<Impl>()) {
  if (filter == ResamplerFilter::kShort) {
    impl_->short_filter.emplace(from_hz, to_hz);
    return;
  }
  soxr_error_t error = nullptr;
  const soxr_io_spec_t io = soxr_io_spec(SOXR_FLOAT32_I, SOXR_FLOAT32_I);
  const soxr_quality_spec_t quality = soxr_quality_spec(SOXR_HQ, 0);
  const soxr_runtime_spec_t runtime = soxr_runtime_spec(1);
  impl_->soxr = soxr_create(from_hz, to_hz, 1, &error, &io, &quality, &runtime);
  impl_->ratio = to_hz / from_hz;
  if (error != nullptr) {
    throw Error(
        fmt::format("cannot resample from {} to {} Hz: {}", from_hz, to_hz, soxr_strerror(error)));
  }
}

Resampler::~Resampler() = default;

void Resampler::Push(std::span<const float> in, std::vector<float>& out) {
  if (impl_->short_filter) {
    impl_->short_filter->Push(in, out);
  } else if (!in.empty()) {
    impl_->Run(in.data(), in.size(), out);
  }
}

void Resampler::Finish(std::vector<float>& out) {
  if (impl_->short_filter) {
    impl_->short_filter->Finish(out);
  } else {
    impl_->Run(nullptr, 0, out);
  }
}

std::optional<std::size_t> Resampler::Reach() const {
  if (!impl_->short_filter) return std::nullopt;
  return impl_->short_filter->Reach();
}

std::vector<float> Resample(std::span<const float> x, double from_hz, double to_hz) {
  ResampleStream stream(from_hz, to_hz);
  std::vector<float> out;
  stream.Push(x, out);
  stream.Finish(out);
  return out;
}

ResampleStream::ResampleStream(double from_hz, double to_hz) : ratio_(to_hz / from_hz) {
  if (from_hz != to_hz) resampler_ = std::make_unique<Resampler>(from_hz, to_hz);
}

void ResampleStream::Push(std::span<const float> in, std::vector<float>& out) {
  const std::size_t before = out.size();
  if (resampler_ == nullptr) {
    out.insert(out.end(), in.begin(), in.end());
  } else {
    resampler_->Push(in, out);
  }
  taken_ += in.size();
  made_ += out.size() - before;
}

void ResampleStream::Finish(std::vector<float>& out) {
  if (resampler_ == nullptr) return;
  const std::size_t before = out.size();
  resampler_->Finish(out);
  // libsoxr rounds in its own way, by a sample or two.
  const auto total = static_cast<std::size_t>(std::llround(static_cast<double>(taken_) * ratio_));
  out.resize(before + total - std::min(total, made_));
  made_ = total;
}

}  // namespace sotto
