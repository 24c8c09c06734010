// The backend for nets that run as their input comes: a few frames in, those that are ready out,
// each computed once. A net is the same template as elsewhere (conv.h); what its layers need of
// earlier frames is kept here, layer by layer, in the order in which the net calls them.
//
// Every tensor is the next piece of a stream that began at frame 0, perhaps an empty one. A layer
// that looks ahead gives its frames late; where a later operation takes two streams, of which one
// is ahead (the sum around a block), the frames that wait are kept. After the last piece
// (Begin(true)) the ends are what they are for a recording in one piece, and so is the whole.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "nn/eigen_backend.h"

namespace sotto {

class StreamBackend {
 public:
  using Tensor = Eigen::MatrixXf;

  // Keeps a reference: `weights` must outlive the backend.
  explicit StreamBackend(const TensorFile& weights) : eigen_(weights) {}

  // Before each pass through the net; `last`: nothing comes after this piece.
  void Begin(bool last) {
    next_ = 0;
    last_ = last;
  }

  // Zero padding alone.
  Tensor Conv1d(const Tensor& x, const std::string& name, const ConvShape& shape);
  Tensor DepthwiseConv(const Tensor& x, const std::string& name, const DepthwiseShape& shape);
  Tensor UnfoldPairs(const Tensor& x);
  Tensor Stft(const Tensor& x, const StftShape& shape);
  Tensor InverseStft(const Tensor& spectrum, const StftShape& shape);
  // Two streams: as many frames as both have.
  Tensor Add(const Tensor& a, const Tensor& b);
  Tensor Subtract(const Tensor& a, const Tensor& b);
  Tensor Multiply(const Tensor& a, const Tensor& b);
  Tensor Stack(std::initializer_list<const Tensor*> parts);
  // A layer of what does not change (a voice) is computed once.
  Tensor Linear(const Tensor& x, const std::string& name, std::int64_t in, std::int64_t out);

  Tensor LayerNorm(Tensor x, const std::string& name) const {
    return eigen_.LayerNorm(std::move(x), name);
  }
  // Throws Error: attention waits for seconds.
  static Tensor Attend(const Tensor& query, const Tensor& key, const Tensor& value,
                       const AttentionShape& shape);
  static Tensor Gelu(Tensor x) { return EigenBackend::Gelu(std::move(x)); }
  static Tensor Modulate(Tensor x, const Tensor& scale, const Tensor& shift) {
    return EigenBackend::Modulate(std::move(x), scale, shift);
  }
  static Tensor Affine(const Tensor& x, float scale, float offset) {
    return EigenBackend::Affine(x, scale, offset);
  }
  static Tensor Rows(const Tensor& x, std::int64_t begin, std::int64_t count) {
    return EigenBackend::Rows(x, begin, count);
  }
  static Tensor FoldPairs(const Tensor& x) { return EigenBackend::FoldPairs(x); }
  static Tensor LogMagnitude(const Tensor& x) { return EigenBackend::LogMagnitude(x); }
  static Tensor Exp(const Tensor& x, float most) { return EigenBackend::Exp(x, most); }
  static Tensor Cos(const Tensor& x) { return EigenBackend::Cos(x); }
  static Tensor Sin(const Tensor& x) { return EigenBackend::Sin(x); }
  static Tensor Work(Tensor x) { return x; }
  static Tensor Full(Tensor x) { return x; }

 private:
  // What one operation keeps from piece to piece.
  struct State {
    bool begun = false;
    std::vector<Tensor> held;  // of each input
  };
  State& Next(std::size_t inputs);
  // Appends the pieces to what is held, and takes from each as many frames as all have.
  std::vector<Tensor> Align(std::initializer_list<const Tensor*> parts);

  EigenBackend eigen_;
  std::deque<State> states_;  // in the order of calls; grows at the first pass
  std::size_t next_ = 0;
  bool last_ = false;
};

}  // namespace sotto
