#include "learn/frozen_nets.h"

#include <fmt/format.h>

#include "base/error.h"

namespace sotto {
namespace {

using torch::Tensor;

constexpr std::int64_t kMargin = 3;  // states at either end that hear the cut

const TensorFile& Fitting(const TensorFile& listener, const Bottleneck& bottleneck) {
  if (bottleneck.weight.size(1) != Listener::kSize) {
    throw Error(fmt::format("{}: a listener with states of {}, the content's teacher has {}",
                            listener.where, Listener::kSize, bottleneck.weight.size(1)));
  }
  return listener;
}

}  // namespace

EcapaOptions ReadJudge(const TensorFile& file, std::int64_t size) {
  const EncoderNetOptions options = ReadEncoderNetOptions(file);
  const auto* ecapa = std::get_if<EcapaOptions>(&options);
  if (ecapa == nullptr || ecapa->mels != kStudentMels.mels || ecapa->embedding != size) {
    throw Error(fmt::format(
        "{}: conversions are judged by an ECAPA net with 80 mel bands and embeddings of {}",
        file.where, size));
  }
  return *ecapa;
}

Words::Words(const TensorFile& listener, const Bottleneck& bottleneck, torch::Device device)
    : listener_(Fitting(listener, bottleneck), device), bottleneck_(bottleneck) {}

Tensor Words::operator()(const Tensor& x) const {
  return torch::matmul(bottleneck_.weight, listener_(x)) + bottleneck_.bias.unsqueeze(1);
}

Tensor Words::Loss(const Tensor& made, const Tensor& asked) const {
  return DistillationLoss((*this)(made), asked, kMargin);
}

}  // namespace sotto
