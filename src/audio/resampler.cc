#include "audio/resampler.h"

#include <fmt/format.h>
#include <soxr.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace sotto {

struct Resampler::Impl {
  soxr_t soxr = nullptr;
  double ratio = 1.0;
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
  soxr_error_t error = nullptr;
  const soxr_io_spec_t io = soxr_io_spec(SOXR_FLOAT32_I, SOXR_FLOAT32_I);
  soxr_quality_spec_t quality = soxr_quality_spec(SOXR_HQ, 0);
  soxr_runtime_spec_t runtime = soxr_runtime_spec(1);
  if (filter == ResamplerFilter::kShort) {
    quality.passband_end = 0.85;
    quality.stopband_begin = 1.1;
    runtime.log2_min_dft_size = 8;  // it works in blocks of half of that
  }
  impl_->soxr = soxr_create(from_hz, to_hz, 1, &error, &io, &quality, &runtime);
  impl_->ratio = to_hz / from_hz;
  if (error != nullptr) {
    throw Error(
        fmt::format("cannot resample from {} to {} Hz: {}", from_hz, to_hz, soxr_strerror(error)));
  }
}

Resampler::~Resampler() = default;

void Resampler::Push(std::span<const float> in, std::vector<float>& out) {
  if (!in.empty()) impl_->Run(in.data(), in.size(), out);
}

void Resampler::Finish(std::vector<float>& out) { impl_->Run(nullptr, 0, out); }

std::vector<float> Resample(std::span<const float> x, double from_hz, double to_hz) {
  if (from_hz == to_hz) return {x.begin(), x.end()};
  Resampler resampler(from_hz, to_hz);
  std::vector<float> out;
  resampler.Push(x, out);
  resampler.Finish(out);
  out.resize(
      static_cast<std::size_t>(std::llround(static_cast<double>(x.size()) * to_hz / from_hz)));
  return out;
}

}  // namespace sotto
