#include "learn/frozen_nets.h"

#include <fmt/format.h>

#include "base/error.h"
#include "learn/student.h"

namespace sotto {
namespace {

using torch::Tensor;

constexpr std::int64_t kMargin = 3;  // states at either end that hear the cut

EcapaOptions ReadSpeaker(const TensorFile& file, std::int64_t size) {
  const EncoderNetOptions options = ReadEncoderNetOptions(file);
  const auto* ecapa = std::get_if<EcapaOptions>(&options);
  if (ecapa == nullptr || ecapa->mels != kStudentMels.mels || ecapa->embedding != size) {
    throw Error(fmt::format(
        "{}: conversions are judged by an ECAPA net with 80 mel bands and embeddings of {}",
        file.where, size));
  }
  return *ecapa;
}

TorchBackend Frozen(const TensorFile& file, torch::Device device) {
  TorchBackend backend(device);
  backend.Load(file);
  for (auto& [name, value] : backend.ParameterMap()) value.requires_grad_(false);
  return backend;
}

const TensorFile& Fitting(const TensorFile& listener, const Bottleneck& bottleneck) {
  if (bottleneck.weight.size(1) != Listener::kSize) {
    throw Error(fmt::format("{}: a listener with states of {}, the content's teacher has {}",
                            listener.where, Listener::kSize, bottleneck.weight.size(1)));
  }
  return listener;
}

}  // namespace

FrozenSpeakerEncoder::FrozenSpeakerEncoder(const TensorFile& file, std::int64_t size,
                                           torch::Device device)
    : options_(ReadSpeaker(file, size)),
      backend_(Frozen(file, device)),
      mel_(kStudentMels, device) {}

Tensor FrozenSpeakerEncoder::operator()(const Tensor& x) {
  return Ecapa<TorchBackend>(options_, backend_).Forward(mel_(x));
}

FrozenContentEncoder::FrozenContentEncoder(const TensorFile& file, torch::Device device)
    : options_(ReadContentOptions(file)),
      backend_(Frozen(file, device)),
      mel_(kStudentMels, device) {}

Tensor FrozenContentEncoder::operator()(const Tensor& x) {
  return ContentStudent<TorchBackend>(options_, backend_).Forward(mel_(x));
}

Words::Words(const TensorFile& listener, const Bottleneck& bottleneck, torch::Device device)
    : listener_(Fitting(listener, bottleneck), device), bottleneck_(bottleneck) {}

Tensor Words::operator()(const Tensor& x) const {
  return torch::matmul(bottleneck_.weight, listener_(x)) + bottleneck_.bias.unsqueeze(1);
}

Tensor Words::Loss(const Tensor& made, const Tensor& asked) const {
  return DistillationLoss((*this)(made), asked, kMargin);
}

double Words::RelativeError(const Tensor& made, const Tensor& asked) const {
  const Tensor centre = asked.mean(std::vector<std::int64_t>{0, 2}, true);
  return (((*this)(made)-asked).square().mean() / (asked - centre).square().mean()).item<double>();
}

}  // namespace sotto
