#include "nn/adain.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "nn/content.h"
#include "nn/convnext_json.h"
#include "nn/eigen_backend.h"

namespace sotto {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kPiece = 2000, kAround = 200, kFade = 4;  // frames of 10 ms

void RequireMels(const AdainNet& net, const Eigen::MatrixXf& mels, std::int64_t frames) {
  if (mels.rows() != net.Options().mels || mels.cols() < 1 || frames < 1) {
    throw Error(fmt::format("{}: features of {} x {} for {} frames, expected {} bands",
                            net.File().where, mels.rows(), mels.cols(), frames,
                            net.Options().mels));
  }
}

}  // namespace

AdainOptions ReadAdainOptions(const TensorFile& file) {
  if (file.Meta("sotto.kind") != "adain") {
    throw Error(fmt::format("{}: a net of kind '{}', expected 'adain'", file.where,
                            file.Meta("sotto.kind")));
  }
  try {
    const auto json = Json::parse(file.Meta("sotto.options"));
    AdainOptions o;
    json.at("mels").get_to(o.mels);
    json.at("bottleneck").get_to(o.bottleneck);
    json.at("embedding").get_to(o.embedding);
    json.at("stem_kernel").get_to(o.stem_kernel);
    json.at("window").get_to(o.spectrum.window);
    json.at("hop").get_to(o.spectrum.hop);
    o.content = ConvNextFromJson(json.at("content"), file.where);
    o.speaker = ConvNextFromJson(json.at("speaker"), file.where);
    o.decoder = ConvNextFromJson(json.at("decoder"), file.where);
    CheckSize(file.where, "mels", o.mels, 1, 1024);
    CheckSize(file.where, "bottleneck", o.bottleneck, 1, 8192);
    CheckSize(file.where, "embedding", o.embedding, 1, 8192);
    CheckSize(file.where, "stem_kernel", o.stem_kernel, 1, 99);
    CheckSize(file.where, "hop", o.spectrum.hop, kSynthHop, kSynthHop);
    CheckSize(file.where, "window", o.spectrum.window, 2 * kSynthHop, 32 * kSynthHop);
    return o;
  } catch (const nlohmann::json::exception& error) {
    throw Error(fmt::format("{}: metadata 'sotto.options': {}", file.where, error.what()));
  }
}

void WriteAdainOptions(const AdainOptions& o, TensorFile& file) {
  file.metadata["sotto.kind"] = "adain";
  file.metadata["sotto.options"] = Json{
      {"mels", o.mels},
      {"bottleneck", o.bottleneck},
      {"embedding", o.embedding},
      {"stem_kernel", o.stem_kernel},
      {"window", o.spectrum.window},
      {"hop", o.spectrum.hop},
      {"content", ToJson(o.content)},
      {"speaker", ToJson(o.speaker)},
      {"decoder", ToJson(o.decoder)}}.dump();
}

AdainNet::AdainNet(TensorFile file) : file_(std::move(file)), options_(ReadAdainOptions(file_)) {
  const Eigen::Index n = 4;
  const Eigen::MatrixXf mels = Eigen::MatrixXf::Zero(options_.mels, n);
  EigenBackend backend(file_);
  Adain<EigenBackend> net(options_, backend);
  net.Speaker(mels);
  Run({net.Content(mels), Eigen::MatrixXf::Zero(2, n), Eigen::MatrixXf::Zero(1, n * kSynthHop),
       Eigen::MatrixXf::Zero(1, n * kSynthHop), Eigen::MatrixXf::Ones(options_.embedding, 1)});
}

WaveformShape AdainNet::Shape() const {
  return {options_.bottleneck, options_.embedding, {kAround, kAround}, kPiece, kFade};
}

Eigen::MatrixXf AdainNet::Encode(const Eigen::MatrixXf& mels, std::int64_t frames) const {
  RequireMels(*this, mels, frames);
  EigenBackend backend(file_);
  return Adain<EigenBackend>(options_, backend).Content(FitColumns(mels, 2 * frames));
}

Eigen::VectorXf AdainNet::Speaker(const Eigen::MatrixXf& mels) const {
  const Eigen::Index even = mels.cols() + mels.cols() % 2;
  RequireMels(*this, mels, even / 2);
  EigenBackend backend(file_);
  return Adain<EigenBackend>(options_, backend).Speaker(FitColumns(mels, even)).col(0).normalized();
}

Eigen::MatrixXf AdainNet::Run(const SynthInput<Eigen::MatrixXf>& input) const {
  EigenBackend backend(file_);
  return Adain<EigenBackend>(options_, backend).Speak(input);
}

}  // namespace sotto
