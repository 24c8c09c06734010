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

class StreamBackend : private EigenBackend {
 public:
  using EigenBackend::Tensor;
  // Frame by frame: the same for a stream.
  using EigenBackend::LayerNorm, EigenBackend::Gelu, EigenBackend::Modulate, EigenBackend::Affine,
      EigenBackend::Rows, EigenBackend::FoldPairs, EigenBackend::LogMagnitude, EigenBackend::Exp,
      EigenBackend::Cos, EigenBackend::Sin, EigenBackend::Work, EigenBackend::Full;

  // Keeps a reference: `weights` must outlive the backend.
  explicit StreamBackend(const TensorFile& weights) : EigenBackend(weights) {}

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

  // Throws Error: attention waits for seconds.
  static Tensor Attend(const Tensor& query, const Tensor& key, const Tensor& value,
                       const AttentionShape& shape);

 private:
  // What one operation keeps from piece to piece.
  struct State {
    bool begun = false;
    std::vector<Tensor> held;  // of each input
  };
  State& Next(std::size_t inputs);
  // Appends the pieces to what is held, and takes from each as many frames as all have.
  std::vector<Tensor> Align(std::initializer_list<const Tensor*> parts);

  std::deque<State> states_;  // in the order of calls; grows at the first pass
  std::size_t next_ = 0;
  bool last_ = false;
};

}  // namespace sotto
