#include "learn/student.h"

#include "base/error.h"
#include "learn/base_net.h"

namespace sotto {
namespace {

using torch::Tensor;

// Content frames (20 ms) of speech to either side of a crop, and of these without a loss at the
// outer ends: the teacher heard the whole utterance, and what it says of a frame from 1.4 s around
// it is another thing by 8 % of the variance, from 0.8 s by 19 %.
constexpr std::int64_t kAround = 70, kMargin = 30;
// Of fresh speech the teacher heard the same piece.
constexpr std::int64_t kFreshMargin = 4;

TorchBackend& Begun(Student& student, const TensorFile& content, torch::Device device) {
  torch::NoGradGuard no_grad;  // layers come into being
  student(torch::zeros({1, kStudentMels.mels, 8}, torch::TensorOptions(device)));
  const ConvNextOptions body = ReadContentOptions(content).body;
  BeginFrom(content, body, body, student.backend);
  return student.backend;
}

}  // namespace

void HeardChange::Validate(std::int64_t frames) const {
  const auto need = [](bool ok, const char* what) {
    if (!ok) throw Error(what);
  };
  need(warp >= 0.0 && warp <= 0.5, "the warp lies from 0 to 0.5");
  need(augmented >= 0.0 && augmented <= 1.0, "the augmented share lies from 0 to 1");
  need(mask_frames >= 0 && mask_frames <= frames, "masks are no longer than a crop");
  need(mask_bands >= 0 && mask_bands <= kStudentMels.mels, "masks are no wider than the mel bands");
}

Tensor ChangedMels(const TorchMel& mel, const Tensor& samples, const NoiseBank& noises,
                   const HeardChange& change) {
  torch::NoGradGuard no_grad;
  const Tensor noisy = Augment(samples, noises, change.augment);
  const auto rows = noisy.size(0);
  const Tensor chosen =
      (torch::rand({rows, 1}, noisy.options()) < change.augmented).to(torch::kFloat32);
  const Tensor gain = torch::pow(
      10.0, (torch::rand({rows, 1}, noisy.options()) * 2.0 - 1.0) * (change.gain_db / 20.0));
  const Tensor warped = WarpMels(mel((chosen * noisy + (1.0 - chosen) * samples) * gain),
                                 change.warp, kStudentMels.low_hz, kStudentMels.high_hz);
  return MaskFeatures(warped, change.mask_frames, change.mask_bands);
}

Student::Student(const ContentOptions& options, torch::Device device, bool bf16)
    : backend(device), options_(options) {
  if (bf16) backend.SetWork(torch::kBFloat16);
}

Tensor Student::operator()(const Tensor& mels) {
  return ContentStudent<TorchBackend>(options_, backend).Forward(mels);
}

Tensor DistillationLoss(const Tensor& states, const Tensor& asked, std::int64_t margin) {
  const std::int64_t n = states.size(2) - 2 * margin;
  const Tensor a = states.narrow(2, margin, n), b = asked.narrow(2, margin, n);
  return torch::smooth_l1_loss(a, b) + (1.0 - torch::cosine_similarity(a, b, 1)).mean();
}

LearningStudent::LearningStudent(const TensorFile& content, const SpeechData& data, Tensor teacher,
                                 NoiseBank noises, const HeardChange& change, double dropout,
                                 bool bf16)
    : begun_(content),
      data_(data),
      teacher_(std::move(teacher)),
      noises_(std::move(noises)),
      change_(change),
      mel_(kStudentMels, data.Device()),
      student_(ReadContentOptions(content), data.Device(), bf16),
      smooth_(ReadContentOptions(content), data.Device(), false),
      net(Begun(student_, content, data.Device())),
      average(Begun(smooth_, content, data.Device())) {
  student_.backend.SetDropout(dropout);
}

// Before the beginning of an utterance its end comes, as behind its end its beginning does.
Crops LearningStudent::Wider(const Crops& crops) const {
  return {crops.utterance, crops.start - kAround};
}

LearningStudent::Heard LearningStudent::Hear(const Crops& crops, std::int64_t frames) {
  const Crops wider = Wider(crops);
  const std::int64_t all = frames + 2 * kAround;
  const Tensor states =
      student_(ChangedMels(mel_, data_.Samples(wider, all * kContentHop), noises_, change_));
  return {states.narrow(2, kAround, frames),
          DistillationLoss(states, data_.Content(teacher_, wider, all), kMargin)};
}

Tensor LearningStudent::Follow(const Tensor& samples, const Tensor& asked) {
  return DistillationLoss(student_(ChangedMels(mel_, samples, noises_, change_)), asked,
                          kFreshMargin);
}

Tensor LearningStudent::HearUnchanged(const Crops& crops, std::int64_t frames) {
  torch::NoGradGuard no_grad;
  const Tensor samples = data_.Samples(Wider(crops), (frames + 2 * kAround) * kContentHop);
  return smooth_(mel_(samples)).narrow(2, kAround, frames);
}

TensorFile LearningStudent::File() {
  average.Spread(false);
  TensorFile file = begun_;
  smooth_.backend.Save(file);
  return file;
}

}  // namespace sotto
