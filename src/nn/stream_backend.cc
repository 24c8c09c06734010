#include "nn/stream_backend.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace sotto {
namespace {

using Tensor = StreamBackend::Tensor;

void Append(Tensor& held, const Tensor& x) {
  if (held.cols() == 0) {
    held = x;
    return;
  }
  const Eigen::Index before = held.cols();
  held.conservativeResize(Eigen::NoChange, before + x.cols());
  held.rightCols(x.cols()) = x;
}

Tensor TakeFirst(Tensor& held, Eigen::Index count) {
  Tensor first = held.leftCols(count);
  held = held.rightCols(held.cols() - count).eval();
  return first;
}

// The next frames of a layer's input: zeros before the first and, where it ends, after the last.
void AppendPadded(Tensor& held, const Tensor& x, bool first, bool last, Eigen::Index left,
                  Eigen::Index right) {
  if (first) held = Tensor::Zero(x.rows(), left);
  Append(held, x);
  if (last) Append(held, Tensor::Zero(x.rows(), right));
}

}  // namespace

StreamBackend::State& StreamBackend::Next(std::size_t inputs) {
  if (next_ == states_.size()) {
    states_.emplace_back();
    states_.back().held.resize(inputs);
  }
  return states_[next_++];
}

Tensor StreamBackend::Conv1d(const Tensor& x, const std::string& name, const ConvShape& shape) {
  if (shape.padding != Padding::kZero) {
    throw Error(fmt::format("layer '{}': only zero padding can run on a stream", name));
  }
  State& state = Next(1);
  Tensor& held = state.held[0];
  AppendPadded(held, x, !state.begun, last_, shape.Left(), shape.Right());
  state.begun = true;
  const Eigen::Index count = held.cols() - shape.Left() - shape.Right();
  if (count <= 0) return {shape.out, 0};
  ConvShape inside = shape;
  inside.padding = Padding::kNone;
  Tensor y = EigenBackend::Conv1d(held, name, inside);
  TakeFirst(held, count);
  return y;
}

Tensor StreamBackend::DepthwiseConv(const Tensor& x, const std::string& name,
                                    const DepthwiseShape& shape) {
  State& state = Next(1);
  Tensor& held = state.held[0];
  AppendPadded(held, x, !state.begun, last_, shape.Left(), shape.Right());
  state.begun = true;
  const Eigen::Index count = held.cols() - shape.Left() - shape.Right();
  if (count <= 0) return {shape.channels, 0};
  Tensor y = EigenBackend::DepthwiseConv(held, name, shape, shape.Left(), count);
  TakeFirst(held, count);
  return y;
}

// Frame 2t lies between t − 1 and t, frame 2t + 1 between t and t + 1: the last waits.
Tensor StreamBackend::UnfoldPairs(const Tensor& x) {
  State& state = Next(1);
  Tensor& held = state.held[0];  // the last frame that came
  const bool first = !state.begun;
  Append(held, x);
  if (held.cols() == 0) return {x.rows(), 0};
  state.begun = true;
  const Tensor y = EigenBackend::UnfoldPairs(held);
  const Eigen::Index from = first ? 0 : 1, to = y.cols() - (last_ ? 0 : 1);
  held = held.rightCols(1).eval();
  return y.middleCols(from, to - from);
}

Tensor StreamBackend::Stft(const Tensor& x, const StftShape& shape) {
  State& state = Next(1);
  Tensor& held = state.held[0];
  AppendPadded(held, x, !state.begun, last_, shape.Before(), shape.Before());
  state.begun = true;
  Tensor y = EigenBackend::Spectra(held, shape);
  TakeFirst(held, y.cols() * shape.hop);
  return y;
}

Tensor StreamBackend::InverseStft(const Tensor& spectrum, const StftShape& shape) {
  State& state = Next(1);
  // Two rows: the sum of the windowed frames, and that of the squared windows, from the first
  // sample of the first window that has not come out on.
  Tensor& sums = state.held[0];
  const Eigen::Index n = shape.window, hop = shape.hop, frames = spectrum.cols();
  if (sums.cols() == 0) sums = Tensor::Zero(2, n - hop);
  const Eigen::Index overlap = sums.cols();
  Append(sums, Tensor::Zero(2, frames * hop));
  const Tensor windowed = EigenBackend::WindowedFrames(spectrum, shape);
  const Eigen::ArrayXf square = EigenBackend::SquaredWindow(shape);
  for (Eigen::Index t = 0; t < frames; ++t) {
    const Eigen::Index from = overlap - (n - hop) + t * hop;
    sums.block(0, from, 1, n) += windowed.col(t).transpose();
    sums.block(1, from, 1, n) += square.matrix().transpose();
  }
  // All but the overlap with the next window is done; the signal begins `Before` into the first.
  Eigen::Index done = sums.cols() - (last_ ? shape.Before() : n - hop);
  const Eigen::Index skip = state.begun ? 0 : shape.Before();
  if (done < skip) return {1, 0};
  state.begun = true;
  TakeFirst(sums, skip);
  done -= skip;
  const Tensor ready = TakeFirst(sums, done);
  return ready.row(0).cwiseQuotient(ready.row(1));
}

std::vector<Tensor> StreamBackend::Align(std::initializer_list<const Tensor*> parts) {
  State& state = Next(parts.size());
  Eigen::Index count = -1;
  std::size_t i = 0;
  for (const Tensor* part : parts) {
    Append(state.held[i], *part);
    const Eigen::Index have = state.held[i].cols();
    count = count < 0 ? have : std::min(count, have);
    ++i;
  }
  std::vector<Tensor> taken;
  for (Tensor& held : state.held) taken.push_back(TakeFirst(held, count));
  return taken;
}

Tensor StreamBackend::Add(const Tensor& a, const Tensor& b) {
  const std::vector<Tensor> parts = Align({&a, &b});
  return parts[0] + parts[1];
}

Tensor StreamBackend::Subtract(const Tensor& a, const Tensor& b) {
  const std::vector<Tensor> parts = Align({&a, &b});
  return parts[0] - parts[1];
}

Tensor StreamBackend::Multiply(const Tensor& a, const Tensor& b) {
  const std::vector<Tensor> parts = Align({&a, &b});
  return parts[0].cwiseProduct(parts[1]);
}

Tensor StreamBackend::Stack(std::initializer_list<const Tensor*> parts) {
  return EigenBackend::Stack(Align(parts));
}

Tensor StreamBackend::Attend(const Tensor&, const Tensor&, const Tensor&, const AttentionShape&) {
  throw Error("a content encoder with attention does not stream");
}

Tensor StreamBackend::Linear(const Tensor& x, const std::string& name, std::int64_t in,
                             std::int64_t out) {
  State& state = Next(2);
  Tensor &before = state.held[0], &result = state.held[1];
  if (x.cols() != 1) return EigenBackend::Linear(x, name, in, out);
  if (before.rows() == x.rows() && before.cols() == 1 && before == x) return result;
  before = x;
  return result = EigenBackend::Linear(x, name, in, out);
}

}  // namespace sotto
