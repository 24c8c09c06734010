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

const OptionTable<HeardChange>& HeardChange::Table() {
  using H = HeardChange;
  static const OptionTable<H> table = {
      {"warp", &H::warp, "Stretch the mel axis that the student hears by up to this", 0, 0.5},
      {"augmented", &H::augmented,
       "Share of crops that the student hears with noise, room and channel", 0, 1},
      {"gain_db", &H::gain_db, "Change the level that it hears by up to this"},
      {"mask_frames", &H::mask_frames, "Widest of two stretches masked in time"},
      {"mask_bands", &H::mask_bands, "Widest of two masked stretches of mel bands", 0,
       kStudentMels.mels},
  };
  return table;
}

void HeardChange::Validate(std::int64_t frames) const {
  RequireRanges(Table(), *this);
  if (mask_frames > frames) throw Error("masks are no longer than a crop");
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

Tensor DistillationLoss(const Tensor& states, const Tensor& asked, std::int64_t margin) {
  const std::int64_t n = states.size(2) - 2 * margin;
  const Tensor a = states.narrow(2, margin, n), b = asked.narrow(2, margin, n);
  return torch::smooth_l1_loss(a, b) + (1.0 - torch::cosine_similarity(a, b, 1)).mean();
}

double ErrorOverVariance(const Tensor& heard, const Tensor& asked) {
  const Tensor centre = asked.mean(std::vector<std::int64_t>{0, 2}, /*keepdim=*/true);
  return ((heard - asked).square().mean() / (asked - centre).square().mean()).item<double>();
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
  TensorFile file = begun_;
  smooth_.backend.Save(file);
  return file;
}

}  // namespace sotto
