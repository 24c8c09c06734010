#include "nn/content.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "nn/eigen_backend.h"
#include "nn/net_json.h"

namespace sotto {
namespace {

void Describe(ContentOptions& o, NetJson& json) {
  json.Size("mels", o.mels, 1, 1024);
  json.Size("bottleneck", o.bottleneck, 1, 8192);
  json.Size("teacher", o.teacher, 1, 8192);
  json.Size("stem_kernel", o.stem_kernel, 1, 99);
  json.Size("stem_ahead", o.stem_ahead, 0, o.stem_kernel - 1);
  json.Body("body", o.body);
  if (json.Reads() ? !json.Has("attention") : o.attend_every == 0) return;
  NetJson attention = json.Part("attention");
  attention.Size("every", o.attend_every, 1, o.body.blocks);
  attention.Size("heads", o.attention.heads, 1, 64);
  attention.Size("key", o.attention.key, 2, 1024);
  attention.Size("value", o.attention.value, 1, 1024);
  attention.Size("reach", o.attention.reach, 1, 3000);
}

}  // namespace

ContentOptions ReadContentOptions(const TensorFile& file) {
  auto o = ReadNetOptions<ContentOptions>(file, "content", Describe);
  if (o.attention.key % 2 != 0) throw Error(fmt::format("{}: keys are even", file.where));
  return o;
}

void WriteContentOptions(const ContentOptions& options, TensorFile& file) {
  WriteNetOptions(options, "content", Describe, file);
}

std::int64_t ContentFrames(std::int64_t samples) {
  return std::max<std::int64_t>(1, (samples + kContentHop - 1) / kContentHop);
}

Eigen::MatrixXf FitColumns(const Eigen::MatrixXf& x, Eigen::Index count) {
  if (x.cols() == count) return x;
  Eigen::MatrixXf y(x.rows(), count);
  const Eigen::Index kept = std::min(count, x.cols());
  y.leftCols(kept) = x.leftCols(kept);
  for (Eigen::Index t = kept; t < count; ++t) y.col(t) = x.col(x.cols() - 1);
  return y;
}

Eigen::MatrixXf InterpolateTeacher(const Eigen::MatrixXf& states, std::int64_t frames) {
  if (states.cols() < 1) throw Error("the teacher gave no states");
  Eigen::MatrixXf y(states.rows(), frames);
  const auto last = static_cast<double>(states.cols() - 1);
  for (std::int64_t j = 0; j < frames; ++j) {
    const double place =
        std::clamp(static_cast<double>(kContentHop * j + kContentCentre - kTeacherCentre) /
                       static_cast<double>(kTeacherHop),
                   0.0, last);
    const auto i =
        std::min(static_cast<Eigen::Index>(place), std::max<Eigen::Index>(states.cols() - 2, 0));
    const auto part = static_cast<float>(place - static_cast<double>(i));
    y.col(j) = (1.0f - part) * states.col(i) +
               part * states.col(std::min<Eigen::Index>(i + 1, states.cols() - 1));
  }
  return y;
}

ContentNet::ContentNet(TensorFile file)
    : file_(std::move(file)), options_(ReadContentOptions(file_)) {
  Encode(Eigen::MatrixXf::Zero(options_.mels, 4), 2);
  FromTeacher(Eigen::MatrixXf::Zero(options_.teacher, 1), 1);
}

Eigen::MatrixXf ContentNet::Encode(const Eigen::MatrixXf& mels, std::int64_t frames) const {
  if (mels.rows() != options_.mels || mels.cols() < 1 || frames < 1) {
    throw Error(fmt::format("{}: features of {} x {} for {} frames, expected {} bands", file_.where,
                            mels.rows(), mels.cols(), frames, options_.mels));
  }
  EigenBackend backend(file_);
  return ContentStudent<EigenBackend>(options_, backend).Forward(FitColumns(mels, 2 * frames));
}

Eigen::MatrixXf ContentNet::FromTeacher(const Eigen::MatrixXf& states, std::int64_t frames) const {
  EigenBackend backend(file_);
  return InterpolateTeacher(
      backend.Linear(states, "bottleneck", options_.teacher, options_.bottleneck), frames);
}

}  // namespace sotto
