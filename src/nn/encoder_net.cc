#include "nn/encoder_net.h"

#include <fmt/format.h>

#include "base/error.h"
#include "nn/eigen_backend.h"
#include "nn/net_json.h"

namespace sotto {
namespace {

void DescribeEcapa(EcapaOptions& o, NetJson& json) {
  json.Value("mels", o.mels);
  json.Value("channels", o.channels);
  json.Value("aggregation", o.aggregation);
  json.Value("attention", o.attention);
  json.Value("squeeze", o.squeeze);
  json.Value("scale", o.scale);
  json.Value("embedding", o.embedding);
  json.Value("centre_mels", o.centre_mels);
}

void DescribeXvector(XvectorOptions& o, NetJson& json) {
  json.Value("mels", o.mels);
  json.Value("channels", o.channels);
  json.Value("pooled", o.pooled);
  json.Value("embedding", o.embedding);
  json.Value("centre_mels", o.centre_mels);
  json.Value("leak", o.leak);
}

std::int64_t Size(const TensorFile& file, const std::string& name, std::size_t axis) {
  const auto found = file.tensors.find(name);
  if (found == file.tensors.end() || found->second.shape.size() <= axis) {
    throw Error(fmt::format("{}: no tensor '{}': neither an ECAPA-TDNN nor an x-vector net",
                            file.where, name));
  }
  return found->second.shape[axis];
}

EncoderNetOptions FromTensors(const TensorFile& file) {
  if (file.tensors.contains("mfa.conv.conv.weight")) {
    EcapaOptions o;
    o.channels = Size(file, "blocks.0.conv.conv.weight", 0);
    o.mels = Size(file, "blocks.0.conv.conv.weight", 1);
    o.aggregation = Size(file, "mfa.conv.conv.weight", 0);
    o.attention = Size(file, "asp.tdnn.conv.conv.weight", 0);
    o.squeeze = Size(file, "blocks.1.se_block.conv1.conv.weight", 0);
    o.scale = o.channels / Size(file, "blocks.1.res2net_block.blocks.0.conv.conv.weight", 0);
    o.embedding = Size(file, "fc.conv.weight", 0);
    return o;
  }
  XvectorOptions o;
  o.channels = Size(file, "blocks.0.conv.conv.weight", 0);
  o.mels = Size(file, "blocks.0.conv.conv.weight", 1);
  o.pooled = Size(file, "blocks.12.conv.conv.weight", 0);
  o.embedding = Size(file, "blocks.16.w.weight", 0);
  o.leak = 0.01f;
  return o;
}

}  // namespace

EncoderNetOptions ReadEncoderNetOptions(const TensorFile& file) {
  if (!file.metadata.contains("sotto.options")) return FromTensors(file);
  const std::string& kind = file.Meta("sotto.kind");
  if (kind == "ecapa") {
    const auto o = ReadNetOptions(file, "ecapa", DescribeEcapa);
    if (o.scale < 2 || o.channels < o.scale || o.channels % o.scale != 0) {
      throw Error(fmt::format("{}: {} channels in {} parts", file.where, o.channels, o.scale));
    }
    return o;
  }
  if (kind == "xvector") return ReadNetOptions(file, "xvector", DescribeXvector);
  throw Error(
      fmt::format("{}: a net of kind '{}' (ecapa and xvector are known)", file.where, kind));
}

void WriteEncoderNetOptions(const EncoderNetOptions& options, TensorFile& file) {
  if (const auto* ecapa = std::get_if<EcapaOptions>(&options)) {
    WriteNetOptions(*ecapa, "ecapa", DescribeEcapa, file);
  } else {
    WriteNetOptions(std::get<XvectorOptions>(options), "xvector", DescribeXvector, file);
  }
}

void CentreEmbeddings(TensorFile& file, std::span<const float> mean) {
  const bool ecapa = std::holds_alternative<EcapaOptions>(ReadEncoderNetOptions(file));
  const std::string name = ecapa ? "fc.conv.bias" : "blocks.16.w.bias";
  file.Get(name, {static_cast<std::int64_t>(mean.size())});
  std::vector<float>& bias = file.tensors.at(name).values;
  for (std::size_t i = 0; i < mean.size(); ++i) bias[i] -= mean[i];
}

TensorFile AverageNets(std::span<const TensorFile> nets) {
  if (nets.empty()) throw Error("an average needs a net");
  TensorFile mean = nets.front();
  for (const TensorFile& net : nets) {
    if (net.tensors.size() != mean.tensors.size()) {
      throw Error("nets of different layers have no average");
    }
  }
  for (auto& [name, tensor] : mean.tensors) {
    std::vector<double> sum(tensor.values.size());
    for (const TensorFile& net : nets) {
      const std::vector<float>& values = net.Get(name, tensor.shape).values;
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += static_cast<double>(values[i]);
    }
    for (std::size_t i = 0; i < sum.size(); ++i) {
      tensor.values[i] = static_cast<float>(sum[i] / static_cast<double>(nets.size()));
    }
  }
  return mean;
}

EncoderNet::EncoderNet(TensorFile file)
    : file_(std::move(file)), options_(ReadEncoderNetOptions(file_)) {
  if (Mels() < 1 || Mels() > 1024 || Dimension() < 1 || Dimension() > 65536) {
    throw Error(
        fmt::format("{}: {} mel bands and an embedding of {}", file_.where, Mels(), Dimension()));
  }
  Embed(Eigen::MatrixXf::Zero(Mels(), 100));
}

std::int64_t EncoderNet::Mels() const {
  return std::visit([](const auto& o) { return o.mels; }, options_);
}

std::int64_t EncoderNet::Dimension() const {
  return std::visit([](const auto& o) { return o.embedding; }, options_);
}

std::vector<float> EncoderNet::Embed(const Eigen::MatrixXf& mels) const {
  if (mels.rows() != Mels() || mels.cols() < 10) {
    throw Error(fmt::format("{}: features of {} x {}, expected {} bands and at least 10 frames",
                            file_.where, mels.rows(), mels.cols(), Mels()));
  }
  EigenBackend backend(file_);
  const Eigen::MatrixXf y =
      std::holds_alternative<EcapaOptions>(options_)
          ? Ecapa<EigenBackend>(std::get<EcapaOptions>(options_), backend).Forward(mels)
          : Xvector<EigenBackend>(std::get<XvectorOptions>(options_), backend).Forward(mels);
  return {y.data(), y.data() + y.size()};
}

}  // namespace sotto
