#include "nn/synth.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "nn/eigen_backend.h"
#include "nn/net_json.h"

namespace sotto {
namespace {

void Describe(SynthOptions& o, NetJson& json) {
  json.Size("content", o.content, 1, 8192);
  json.Size("embedding", o.embedding, 1, 8192);
  json.Size("condition", o.condition, 1, 8192);
  json.Size("window", o.spectrum.window, 2 * kSynthHop, 32 * kSynthHop);
  json.Size("hop", o.spectrum.hop, kSynthHop, kSynthHop);
  json.Body("body", o.body);
}

void Forget(std::vector<float>& values, std::int64_t count) {
  values.erase(values.begin(), values.begin() + count);
}

}  // namespace

SynthOptions ReadSynthOptions(const TensorFile& file) {
  return ReadNetOptions<SynthOptions>(file, "synth", Describe);
}

void WriteSynthOptions(const SynthOptions& options, TensorFile& file) {
  WriteNetOptions(options, "synth", Describe, file);
}

Eigen::MatrixXf VoiceCondition(std::span<const float> embedding) {
  const Eigen::Map<const Eigen::VectorXf> e(embedding.data(),
                                            static_cast<Eigen::Index>(embedding.size()));
  const float length = e.norm();
  if (!(length > 0.0f) || !std::isfinite(length)) {
    throw Error("a voice embedding of zeros or of values that are not finite");
  }
  return e * (std::sqrt(static_cast<float>(embedding.size())) / length);
}

SynthNet::SynthNet(TensorFile file) : file_(std::move(file)), options_(ReadSynthOptions(file_)) {
  const Eigen::Index n = 4;
  Run({Eigen::MatrixXf::Zero(options_.content, n / 2), Eigen::MatrixXf::Zero(2, n),
       Eigen::MatrixXf::Zero(1, n * kSynthHop), Eigen::MatrixXf::Zero(1, n * kSynthHop),
       Eigen::MatrixXf::Ones(options_.embedding, 1)});
}

Eigen::MatrixXf SynthNet::Run(const SynthInput<Eigen::MatrixXf>& input) const {
  EigenBackend backend(file_);
  return Synthesiser<EigenBackend>(options_, backend).Forward(input);
}

SynthStream::SynthStream(const WaveformNet& net, std::span<const float> embedding,
                         std::uint64_t noise_seed, std::int64_t chunk)
    : net_(net),
      shape_(net.Shape()),
      condition_(VoiceCondition(embedding)),
      source_(noise_seed),
      sees_(shape_.sees),
      chunk_(chunk == 0 ? shape_.piece : chunk + chunk % 2) {
  if (condition_.rows() != shape_.embedding) {
    throw Error(fmt::format("{}: an embedding of {}, expected {}", net.File().where,
                            condition_.rows(), shape_.embedding));
  }
  sees_.left += sees_.left % 2;  // content frames are pairs
  sees_.right += sees_.right % 2;
}

void SynthStream::Push(const Eigen::Ref<const Eigen::VectorXf>& content,
                       std::span<const double, 2> f0_hz, std::span<const bool, 2> voiced,
                       std::vector<float>& out) {
  if (content.size() != shape_.content) {
    throw Error(fmt::format("{}: content of {}, expected {}", net_.File().where, content.size(),
                            shape_.content));
  }
  content_.insert(content_.end(), content.data(), content.data() + content.size());
  for (std::size_t i = 0; i < 2; ++i) {
    pitch_.push_back(PitchFeature(f0_hz[i]));
    pitch_.push_back(voiced[i] ? 1.0f : 0.0f);
    source_.Push(f0_hz[i], harmonic_, noise_);
  }
  have_ += 2;
  // One frame more than is seen, since the source comes half a frame late.
  while (have_ >= next_ + chunk_ + sees_.right + 2) {
    Run(next_ + chunk_, next_ + chunk_ + sees_.right, out);
  }
}

void SynthStream::Finish(std::vector<float>& out) {
  source_.Finish(harmonic_, noise_);
  while (next_ < have_) {
    const std::int64_t end = std::min(next_ + chunk_, have_);
    Run(end, std::min(end + sees_.right, have_), out);
  }
}

// Frames next_ … end − 1 from those held up to `to`.
void SynthStream::Run(std::int64_t end, std::int64_t to, std::vector<float>& out) {
  const Eigen::Index frames = to - held_from_, samples = frames * kSynthHop;
  using Map = Eigen::Map<const Eigen::MatrixXf>;
  const SynthInput<Eigen::MatrixXf> input{
      Map(content_.data(), shape_.content, frames / 2), Map(pitch_.data(), 2, frames),
      Map(harmonic_.data(), 1, samples), Map(noise_.data(), 1, samples), condition_};
  Eigen::MatrixXf y = net_.Run(input);
  float* const begin = y.data() + (next_ - held_from_) * kSynthHop;
  const auto faded = std::min(tail_.size(), static_cast<std::size_t>((to - next_) * kSynthHop));
  for (std::size_t i = 0; i < faded; ++i) {
    const float share = (static_cast<float>(i) + 0.5f) / static_cast<float>(tail_.size());
    begin[i] = share * begin[i] + (1.0f - share) * tail_[i];
  }
  const float* const last = begin + (end - next_) * kSynthHop;
  out.insert(out.end(), static_cast<const float*>(begin), last);
  tail_.assign(last, last + std::min(shape_.fade, to - end) * kSynthHop);
  next_ = end;
  const std::int64_t keep = std::max(held_from_, next_ - sees_.left), gone = keep - held_from_;
  Forget(content_, gone / 2 * shape_.content);
  Forget(pitch_, gone * 2);
  Forget(harmonic_, gone * kSynthHop);
  Forget(noise_, gone * kSynthHop);
  held_from_ = keep;
}

}  // namespace sotto
