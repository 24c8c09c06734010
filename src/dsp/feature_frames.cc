// What is done to features after they were computed: derivatives, normalisation, speech detection.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "dsp/fbank.h"

namespace sotto {
namespace {

// Kaldi's floor of a variance, so that a constant coefficient does not blow up.
constexpr double kMinVariance = 1e-10;

void Normalise(std::span<const float> in, std::span<float> out, std::span<const double> sum,
               std::span<const double> squares, double n, bool variance) {
  for (std::size_t i = 0; i < in.size(); ++i) {
    const double mean = sum[i] / n;
    double value = in[i] - mean;
    if (variance) value /= std::sqrt(std::max(squares[i] / n - mean * mean, kMinVariance));
    out[i] = static_cast<float>(value);
  }
}

}  // namespace

Features AddDeltas(const Features& features, int order, int window) {
  if (order < 1 || order > 4 || window < 1 || window > 100) {
    throw Error(fmt::format("deltas: order {} (1 to 4) over ±{} frames (1 to 100)", order, window));
  }
  // The k-th derivative's weights are the regression's convolved k times with themselves.
  std::vector<std::vector<double>> scales = {{1.0}};
  double norm = 0.0;
  for (int j = -window; j <= window; ++j) norm += static_cast<double>(j) * j;
  for (int k = 1; k <= order; ++k) {
    const std::vector<double>& before = scales.back();
    std::vector<double> scale(before.size() + 2 * static_cast<std::size_t>(window), 0.0);
    for (int j = -window; j <= window; ++j) {
      for (std::size_t i = 0; i < before.size(); ++i) {
        scale[i + static_cast<std::size_t>(j + window)] += j / norm * before[i];
      }
    }
    scales.push_back(std::move(scale));
  }
  const std::size_t d = features.dimension;
  Features out{d * static_cast<std::size_t>(order + 1), features.frames, {}};
  out.values.assign(out.dimension * out.frames, 0.0F);
  const auto last = static_cast<std::ptrdiff_t>(features.frames) - 1;
  for (std::size_t t = 0; t < features.frames; ++t) {
    for (std::size_t k = 0; k < scales.size(); ++k) {
      const auto to = out.Frame(t).subspan(k * d, d);
      const auto half = static_cast<std::ptrdiff_t>(scales[k].size() / 2);
      for (std::ptrdiff_t j = -half; j <= half; ++j) {
        const auto weight = static_cast<float>(scales[k][static_cast<std::size_t>(j + half)]);
        if (weight == 0.0F) continue;
        const auto from = features.Frame(static_cast<std::size_t>(
            std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(t) + j, 0, last)));
        for (std::size_t i = 0; i < d; ++i) to[i] += weight * from[i];
      }
    }
  }
  return out;
}

void NormaliseUtterance(Features& features, bool variance) {
  std::vector<double> sum(features.dimension), squares(features.dimension);
  for (std::size_t t = 0; t < features.frames; ++t) {
    const auto frame = features.Frame(t);
    for (std::size_t i = 0; i < frame.size(); ++i) {
      sum[i] += frame[i];
      squares[i] += static_cast<double>(frame[i]) * frame[i];
    }
  }
  for (std::size_t t = 0; t < features.frames; ++t) {
    Normalise(features.Frame(t), features.Frame(t), sum, squares,
              static_cast<double>(features.frames), variance);
  }
}

void NormaliseSliding(Features& features, int window, bool variance) {
  if (window < 1) throw Error(fmt::format("CMVN: a window of {} frames", window));
  const std::size_t n = features.frames, d = features.dimension;
  const auto width = std::min(n, static_cast<std::size_t>(window));
  const Features in = features;
  std::vector<double> sum(d), squares(d);
  const auto add = [&](std::size_t t, double sign) {
    const auto frame = in.Frame(t);
    for (std::size_t i = 0; i < d; ++i) {
      sum[i] += sign * frame[i];
      squares[i] += sign * frame[i] * frame[i];
    }
  };
  std::size_t begin = 0;
  for (std::size_t t = 0; t < n; ++t) {
    if (t == 0) {
      for (std::size_t i = 0; i < width; ++i) add(i, 1.0);
    }
    const std::size_t half = static_cast<std::size_t>(window) / 2;
    const std::size_t wanted = std::min(t > half ? t - half : 0, n - width);
    for (; begin < wanted; ++begin) {
      add(begin, -1.0);
      add(begin + width, 1.0);
    }
    Normalise(in.Frame(t), features.Frame(t), sum, squares, static_cast<double>(width), variance);
  }
}

std::vector<bool> EnergyVad(const Features& mfcc, const VadOptions& options) {
  if (options.context < 0 || !(options.proportion > 0.0 && options.proportion <= 1.0)) {
    throw Error(fmt::format("VAD: context {} (0 or more), proportion {} (above 0, at most 1)",
                            options.context, options.proportion));
  }
  const std::size_t n = mfcc.frames;
  double threshold = options.threshold;
  if (options.mean_scale != 0.0 && n > 0) {
    double sum = 0.0;
    for (std::size_t t = 0; t < n; ++t) sum += mfcc.Frame(t)[0];
    threshold += options.mean_scale * sum / static_cast<double>(n);
  }
  std::vector<bool> speech(n);
  const auto context = static_cast<std::size_t>(options.context);
  for (std::size_t t = 0; t < n; ++t) {
    const std::size_t begin = t > context ? t - context : 0, end = std::min(n, t + context + 1);
    std::size_t above = 0;
    for (std::size_t i = begin; i < end; ++i) above += mfcc.Frame(i)[0] > threshold ? 1 : 0;
    speech[t] = static_cast<double>(above) >= options.proportion * static_cast<double>(end - begin);
  }
  return speech;
}

Features SelectFrames(const Features& features, const std::vector<bool>& keep) {
  if (keep.size() != features.frames) {
    throw Error(fmt::format("features: {} marks for {} frames", keep.size(), features.frames));
  }
  Features out{features.dimension, 0, {}};
  for (std::size_t t = 0; t < features.frames; ++t) {
    if (!keep[t]) continue;
    const auto frame = features.Frame(t);
    out.values.insert(out.values.end(), frame.begin(), frame.end());
    ++out.frames;
  }
  return out;
}

}  // namespace sotto
