// ECAPA-TDNN (Desplanques, Thienpondt & Demuynck 2020), as a template over a backend (conv.h): log
// mel features in, one embedding out. Layers and tensor names follow SpeechBrain's public
// checkpoints, so that those load without a map; padding is by reflection, ReLU stands before the
// normalisation. Frames: at least 5.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "nn/conv.h"

namespace sotto {

struct EcapaOptions {
  std::int64_t mels = 80;
  std::int64_t channels = 512;     // the paper's C
  std::int64_t aggregation = 512;  // width after multi-layer aggregation (the paper: 1536)
  std::int64_t attention = 128;
  std::int64_t squeeze = 128;
  std::int64_t scale = 8;  // Res2Net parts
  std::int64_t embedding = 192;
  bool centre_mels = true;  // subtract each mel band's mean over the utterance first
};

template <class Backend>
class Ecapa {
 public:
  using Tensor = typename Backend::Tensor;

  Ecapa(const EcapaOptions& options, Backend& backend) : o_(options), b_(backend) {}

  // mels × frames to embedding × 1.
  Tensor Forward(const Tensor& mels) {
    return b_.Conv1d(b_.BatchNorm(Pool(Aggregate(mels)), "asp_bn.norm"), "fc.conv",
                     {2 * o_.aggregation, o_.embedding, 1, 1});
  }

 private:
  Tensor Activate(Tensor y, const std::string& name) {
    return b_.BatchNorm(b_.Relu(std::move(y)), name + ".norm.norm");
  }
  Tensor Tdnn(const Tensor& x, const std::string& name, const ConvShape& shape) {
    return Activate(b_.Conv1d(x, name + ".conv.conv", shape), name);
  }
  Tensor Tdnn(const std::vector<const Tensor*>& parts, const std::string& name, std::int64_t in,
              std::int64_t out) {
    return Activate(b_.Pointwise(parts, name + ".conv.conv", {in, out, 1, 1}), name);
  }
  static std::vector<const Tensor*> Pointers(const std::vector<Tensor>& tensors) {
    std::vector<const Tensor*> pointers;
    pointers.reserve(tensors.size());
    for (const Tensor& tensor : tensors) pointers.push_back(&tensor);
    return pointers;
  }

  // What is done goes, and nothing is there twice: a minute of one layer is 6 MB in the program's
  // encoder, of the aggregation 37 MB.
  Tensor Aggregate(const Tensor& mels) {
    const Tensor first =
        Tdnn(o_.centre_mels ? b_.CentreRows(mels) : mels, "blocks.0", {o_.mels, o_.channels, 5, 1});
    std::vector<Tensor> outputs;
    for (int block = 1; block <= 3; ++block) {
      outputs.push_back(SeRes2(outputs.empty() ? first : outputs.back(),
                               "blocks." + std::to_string(block), block + 1));
    }
    return Tdnn(Pointers(outputs), "mfa", 3 * o_.channels, o_.aggregation);
  }

  Tensor SeRes2(const Tensor& x, const std::string& name, std::int64_t dilation) {
    const std::int64_t c = o_.channels;
    Tensor y = Tdnn(Pointers(Res2(x, name, dilation)), name + ".tdnn2", c, c);
    Tensor gate = b_.MeanOverTime(y);
    gate = b_.Relu(b_.Conv1d(gate, name + ".se_block.conv1.conv", {c, o_.squeeze, 1, 1}));
    gate = b_.Sigmoid(b_.Conv1d(gate, name + ".se_block.conv2.conv", {o_.squeeze, c, 1, 1}));
    return b_.Add(b_.Scale(std::move(y), gate), x);
  }

  std::vector<Tensor> Res2(const Tensor& x, const std::string& name, std::int64_t dilation) {
    const std::int64_t c = o_.channels, part = c / o_.scale;
    const Tensor wide = Tdnn(x, name + ".tdnn1", {c, c, 1, 1});
    std::vector<Tensor> parts{b_.Rows(wide, 0, part)};
    for (std::int64_t i = 1; i < o_.scale; ++i) {
      Tensor in = b_.Rows(wide, i * part, part);
      if (i > 1) in = b_.Add(std::move(in), parts.back());
      parts.push_back(Tdnn(in, name + ".res2net_block.blocks." + std::to_string(i - 1),
                           {part, part, 3, dilation}));
    }
    return parts;
  }

  // Attentive statistics with the utterance's mean and deviation as context.
  Tensor Pool(const Tensor& x) {
    const std::int64_t c = o_.aggregation;
    const Tensor context = b_.Statistics(x);
    const Tensor hidden = b_.Tanh(Tdnn({&x, &context}, "asp.tdnn", 3 * c, o_.attention));
    return b_.AttentiveStatistics(x, hidden, "asp.conv.conv", {o_.attention, c, 1, 1});
  }

  EcapaOptions o_;
  Backend& b_;
};

}  // namespace sotto
