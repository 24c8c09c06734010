#include "learn/judges.h"

#include <fmt/format.h>

#include "base/error.h"
#include "learn/student.h"

namespace sotto {
namespace {

using torch::Tensor;

constexpr std::int64_t kMargin = 3;  // states at either end that hear the cut

EcapaOptions ReadSpeaker(const TensorFile& file) {
  const EncoderNetOptions options = ReadEncoderNetOptions(file);
  const auto* ecapa = std::get_if<EcapaOptions>(&options);
  if (ecapa == nullptr || ecapa->mels != kStudentMels.mels) {
    throw Error(
        fmt::format("{}: conversions are judged by an ECAPA net with 80 mel bands", file.where));
  }
  return *ecapa;
}

const TensorFile& Fitting(const TensorFile& listener, const Bottleneck& bottleneck) {
  if (bottleneck.weight.size(1) != Listener::kSize) {
    throw Error(fmt::format("{}: a listener with states of {}, the content's teacher has {}",
                            listener.where, Listener::kSize, bottleneck.weight.size(1)));
  }
  return listener;
}

}  // namespace

Judges::Judges(const TensorFile& content, const TensorFile& encoder, torch::Device device)
    : content_(ReadContentOptions(content)),
      speaker_(ReadSpeaker(encoder)),
      content_backend_(device),
      speaker_backend_(device),
      mel_(kStudentMels, device) {
  content_backend_.Load(content);
  speaker_backend_.Load(encoder);
  for (TorchBackend* backend : {&content_backend_, &speaker_backend_}) {
    for (auto& [name, value] : backend->ParameterMap()) value.requires_grad_(false);
  }
}

Tensor Judges::Speaker(const Tensor& x) {
  return Ecapa<TorchBackend>(speaker_, speaker_backend_).Forward(mel_(x));
}

Tensor Judges::Content(const Tensor& x) {
  return ContentStudent<TorchBackend>(content_, content_backend_).Forward(mel_(x));
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
