#include "nn/adain.h"

#include <fmt/format.h>

#include "base/error.h"
#include "nn/content.h"
#include "nn/eigen_backend.h"
#include "nn/net_json.h"

namespace sotto {
namespace {

constexpr std::int64_t kPiece = 2000, kAround = 200, kFade = 4;  // frames of 10 ms

void Describe(AdainOptions& o, NetJson& json) {
  json.Size("mels", o.mels, 1, 1024);
  json.Size("bottleneck", o.bottleneck, 1, 8192);
  json.Size("embedding", o.embedding, 1, 8192);
  json.Size("stem_kernel", o.stem_kernel, 1, 99);
  json.Size("window", o.spectrum.window, 2 * kSynthHop, 32 * kSynthHop);
  json.Size("hop", o.spectrum.hop, kSynthHop, kSynthHop);
  json.Body("content", o.content);
  json.Body("speaker", o.speaker);
  json.Body("decoder", o.decoder);
}

void RequireMels(const AdainNet& net, const Eigen::MatrixXf& mels, std::int64_t frames) {
  if (mels.rows() != net.Options().mels || mels.cols() < 1 || frames < 1) {
    throw Error(fmt::format("{}: features of {} x {} for {} frames, expected {} bands",
                            net.File().where, mels.rows(), mels.cols(), frames,
                            net.Options().mels));
  }
}

}  // namespace

AdainOptions ReadAdainOptions(const TensorFile& file) {
  return ReadNetOptions<AdainOptions>(file, "adain", Describe);
}

void WriteAdainOptions(const AdainOptions& options, TensorFile& file) {
  WriteNetOptions(options, "adain", Describe, file);
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
