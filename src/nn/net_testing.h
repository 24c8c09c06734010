// Nets with random weights, for tests.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "base/random.h"
#include "nn/adain.h"
#include "nn/content.h"
#include "nn/encoder_net.h"
#include "nn/synth.h"

namespace sotto {

inline void AddRandom(TensorFile& file, const std::string& name,
                      const std::vector<std::int64_t>& shape, std::uint64_t seed) {
  SeededRng random(seed);
  NamedTensor& tensor = file.tensors[name];
  tensor.shape = shape;
  std::int64_t count = 1, inputs = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    count *= shape[i];
    if (i > 0) inputs *= shape[i];
  }
  const bool variance = name.ends_with("running_var");
  for (std::int64_t i = 0; i < count; ++i) {
    const double value = random.Gaussian() / std::sqrt(static_cast<double>(inputs));
    tensor.values.push_back(static_cast<float>(variance ? 0.5 + value * value : value));
  }
}

// Records what a net asks for, with shapes of one frame: stands for a backend.
class WeightMaker {
 public:
  struct Tensor {
    std::int64_t rows = 0;
  };
  explicit WeightMaker(TensorFile& file) : file_(file) {}
  Tensor Conv1d(const Tensor&, const std::string& name, const ConvShape& s) {
    AddRandom(file_, name + ".weight", {s.out, s.in, s.kernel}, ++seed_);
    AddRandom(file_, name + ".bias", {s.out}, ++seed_);
    return {s.out};
  }
  Tensor Pointwise(const std::vector<const Tensor*>& parts, const std::string& name,
                   const ConvShape& s) {
    return Conv1d(*parts.front(), name, s);
  }
  Tensor AttentiveStatistics(const Tensor& x, const Tensor& hidden, const std::string& name,
                             const ConvShape& s) {
    Conv1d(hidden, name, s);
    return {2 * x.rows};
  }
  Tensor BatchNorm(const Tensor& x, const std::string& name) {
    for (const char* part : {".weight", ".bias", ".running_mean", ".running_var"}) {
      AddRandom(file_, name + part, {x.rows}, ++seed_);
    }
    return x;
  }
  static Tensor Relu(const Tensor& x, float = 0.0f) { return x; }
  static Tensor Tanh(const Tensor& x) { return x; }
  static Tensor Sigmoid(const Tensor& x) { return x; }
  static Tensor Add(const Tensor& a, const Tensor&) { return a; }
  static Tensor Scale(const Tensor& x, const Tensor&) { return x; }
  static Tensor Rows(const Tensor&, std::int64_t, std::int64_t count) { return {count}; }
  static Tensor Stack(std::initializer_list<const Tensor*> parts) {
    Tensor y;
    for (const Tensor* part : parts) y.rows += part->rows;
    return y;
  }
  static Tensor Stack(const std::vector<Tensor>& parts) {
    Tensor y;
    for (const Tensor& part : parts) y.rows += part.rows;
    return y;
  }
  static Tensor MeanOverTime(const Tensor& x) { return x; }
  static Tensor SoftmaxOverTime(const Tensor& x) { return x; }
  static Tensor Statistics(const Tensor& x, const Tensor&) { return {2 * x.rows}; }
  static Tensor Statistics(const Tensor& x) { return {2 * x.rows}; }
  static Tensor CentreRows(const Tensor& x) { return x; }
  Tensor Linear(const Tensor&, const std::string& name, std::int64_t in, std::int64_t out) {
    AddRandom(file_, name + ".weight", {out, in}, ++seed_);
    AddRandom(file_, name + ".bias", {out}, ++seed_);
    return {out};
  }
  Tensor DepthwiseConv(const Tensor& x, const std::string& name, const DepthwiseShape& s) {
    AddRandom(file_, name + ".weight", {s.channels, s.kernel}, ++seed_);
    AddRandom(file_, name + ".bias", {s.channels}, ++seed_);
    return x;
  }
  Tensor LayerNorm(const Tensor& x, const std::string& name) {
    AddRandom(file_, name + ".weight", {x.rows}, ++seed_);
    AddRandom(file_, name + ".bias", {x.rows}, ++seed_);
    return x;
  }
  static Tensor InstanceNorm(const Tensor& x) { return x; }
  static Tensor Attend(const Tensor&, const Tensor&, const Tensor& value, const AttentionShape&) {
    return value;
  }
  static Tensor Gelu(const Tensor& x) { return x; }
  static Tensor Modulate(const Tensor& x, const Tensor&, const Tensor&) { return x; }
  static Tensor Affine(const Tensor& x, float, float) { return x; }
  static Tensor FoldPairs(const Tensor& x) { return {2 * x.rows}; }
  static Tensor UnfoldPairs(const Tensor& x) { return x; }
  static Tensor Stft(const Tensor&, const StftShape& s) { return {2 * s.Bins()}; }
  static Tensor InverseStft(const Tensor&, const StftShape&) { return {1}; }
  static Tensor LogMagnitude(const Tensor& x) { return {x.rows / 2}; }
  static Tensor Exp(const Tensor& x, float) { return x; }
  static Tensor Cos(const Tensor& x) { return x; }
  static Tensor Sin(const Tensor& x) { return x; }
  static Tensor Multiply(const Tensor& x, const Tensor&) { return x; }
  static Tensor Subtract(const Tensor& x, const Tensor&) { return x; }
  static Tensor Work(const Tensor& x) { return x; }
  static Tensor Full(const Tensor& x) { return x; }

 private:
  TensorFile& file_;
  std::uint64_t seed_ = 0;
};

inline TensorFile RandomNet(const EncoderNetOptions& options, bool with_metadata) {
  TensorFile file;
  WeightMaker maker(file);
  if (const auto* ecapa = std::get_if<EcapaOptions>(&options)) {
    Ecapa<WeightMaker>(*ecapa, maker).Forward({ecapa->mels});
  } else {
    const auto& xvector = std::get<XvectorOptions>(options);
    Xvector<WeightMaker>(xvector, maker).Forward({xvector.mels});
  }
  if (with_metadata) WriteEncoderNetOptions(options, file);
  return file;
}

inline TensorFile RandomContent(const ContentOptions& options) {
  TensorFile file;
  WeightMaker maker(file);
  ContentStudent<WeightMaker>(options, maker).Forward({options.mels});
  maker.Linear({}, "bottleneck", options.teacher, options.bottleneck);
  WriteContentOptions(options, file);
  return file;
}

inline TensorFile RandomSynth(const SynthOptions& options) {
  TensorFile file;
  WeightMaker maker(file);
  Synthesiser<WeightMaker>(options, maker)
      .Forward({{options.content}, {2}, {1}, {1}, {options.embedding}});
  WriteSynthOptions(options, file);
  return file;
}

inline TensorFile RandomAdain(const AdainOptions& options) {
  TensorFile file;
  WeightMaker maker(file);
  Adain<WeightMaker> net(options, maker);
  net.Content({options.mels});
  net.Speaker({options.mels});
  net.Speak({{options.bottleneck}, {2}, {1}, {1}, {options.embedding}});
  WriteAdainOptions(options, file);
  return file;
}

}  // namespace sotto
